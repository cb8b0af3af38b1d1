import { connectForeign } from '@millrace/db';
import { createTestDatabase } from '@millrace/testing';

export interface Warehouse {
  /** Settings of a destination that writes to it. */
  config: { host: string; port: number; user: string; password: string; database: string };
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

/** An empty database for exports to write to. */
export async function startWarehouse(): Promise<Warehouse> {
  const database = await createTestDatabase({ isMigrated: false });
  const { hostname, port, username, password, pathname } = new URL(database.url);
  const config = {
    host: hostname,
    port: Number(port),
    user: username,
    password: decodeURIComponent(password),
    database: pathname.slice(1),
  };
  const connection = await connectForeign({
    ...config,
    address: hostname,
    acceptsAnyCertificate: true,
    connectTimeoutMs: 5000,
    statementTimeoutMs: 5000,
  });
  return {
    config,
    query: (text, values) => connection.query(text, values),
    async stop() {
      await connection.stop();
      await database.drop();
    },
  };
}
