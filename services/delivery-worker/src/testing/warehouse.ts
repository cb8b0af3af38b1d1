import { createDatabase } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import { createTestDatabase, patienceMs } from '@millrace/testing';

export interface Warehouse {
  config: { host: string; port: number; user: string; password: string; database: string };
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

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
  const logger = createLogger('warehouse', 'error');
  const connection = createDatabase({ url: database.url, logger, poolSize: 1, connectTimeoutMs: patienceMs });
  return {
    config,
    query: (text, values) => connection.sql.query(text, values),
    async stop() {
      await connection.stop();
      await database.drop();
    },
  };
}
