import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { endConnection } from './pg-internals/end-connection.ts';
import { guardMessages } from './pg-internals/guard-messages.ts';

export interface ForeignConnectionOptions {
  /** Name of the server, to which its certificate must belong. */
  host: string;
  /** Where to connect; looked up and checked by the caller. */
  address: string;
  port: number;
  database: string;
  user: string;
  password: string;
  /** Takes any certificate; else it must be signed by somebody known. */
  acceptsAnyCertificate: boolean;
  connectTimeoutMs: number;
  statementTimeoutMs: number;
}

/** A connection to a PostgreSQL database that is not ours, and to which we only write. */
export interface ForeignConnection {
  /**
   * @throws the error of the server, or one with code `EANSWERTOOLONG`, or `EBADMESSAGE` when it does not speak the protocol.
   * Whatever the server sends fails this statement, and the connection, and nothing else.
   */
  run(text: string, values?: unknown[]): Promise<void>;
  /** Never throws. A transaction in progress is rolled back. */
  stop(): Promise<void>;
}

/** A trigger may raise a notice for each row. */
const maxAnswerBytes = 2 * 1024 * 1024;

/** Connects with TLS where the server offers it. @throws the driver's error. */
export async function connectForeign(options: ForeignConnectionOptions): Promise<ForeignConnection> {
  const { host, acceptsAnyCertificate } = options;
  // TLS forbids an IP address as server name, and Node.js 26 throws for one. The certificate is then checked against `host`.
  const server = isIP(host) === 0 ? { servername: host } : { host };
  try {
    return await connect(options, { rejectUnauthorized: !acceptsAnyCertificate, ...server });
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes('does not support SSL')) throw error;
    return connect(options, false);
  }
}

async function connect(options: ForeignConnectionOptions, ssl: ConnectionOptions | false): Promise<ForeignConnection> {
  const client = new pg.Client({
    host: options.address,
    port: options.port,
    database: options.database,
    user: options.user,
    password: options.password,
    ssl,
    connectionTimeoutMillis: options.connectTimeoutMs,
    statement_timeout: options.statementTimeoutMs,
    query_timeout: options.statementTimeoutMs + 5000,
    application_name: 'millrace export',
  });
  // Without a listener an error between two statements would end the process.
  client.on('error', () => {});
  const { begin } = guardMessages(client, maxAnswerBytes);
  try {
    await client.connect();
  } catch (error) {
    await endConnection(client);
    throw error;
  }
  return {
    async run(text, values) {
      begin();
      await client.query(text, values);
    },
    stop: () => endConnection(client),
  };
}
