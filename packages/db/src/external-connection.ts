// Connects to a PostgreSQL database that belongs to a user and is therefore not trusted.

import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { endConnection } from './pg-internals/end-connection.ts';
import { filterServerMessages } from './pg-internals/guard-messages.ts';

export interface ExternalConnectionOptions {
  /** The host name that the server's certificate must match. */
  host: string;
  /** The IP address to connect to, which the caller has resolved and checked. */
  address: string;
  port: number;
  database: string;
  user: string;
  password: string;
  /** Whether to accept any certificate. If false, a trusted authority must have signed the certificate. */
  acceptsAnyCertificate: boolean;
  connectTimeoutMs: number;
  statementTimeoutMs: number;
}

/** A connection to a user's PostgreSQL database. Millrace only writes to it. */
export interface ExternalConnection {
  /**
   * Runs one statement. Malformed data from the server affects only this statement and this connection.
   * @throws the server's error, an error with the code `EANSWERTOOLONG`, or `EBADMESSAGE` if the server violates the
   * protocol
   */
  run(text: string, values?: unknown[]): Promise<void>;
  /** Closes the connection, which rolls back a transaction in progress. Never throws. */
  stop(): Promise<void>;
}

/**
 * The maximum total size of the server's responses to one statement. It is enough for a trigger that raises a notice
 * per row.
 */
const maxResponseBytes = 2 * 1024 * 1024;

/** Connects to the database, with TLS if the server offers it. @throws the driver's error */
export async function connectExternalDatabase(options: ExternalConnectionOptions): Promise<ExternalConnection> {
  const { host, acceptsAnyCertificate } = options;
  // TLS does not allow an IP address as server name, and Node.js 26 throws for an IP address. The certificate is still
  // checked against `host`.
  const server = isIP(host) === 0 ? { servername: host } : { host };
  try {
    return await connect(options, { rejectUnauthorized: !acceptsAnyCertificate, ...server });
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes('does not support SSL')) throw error;
    return connect(options, false);
  }
}

async function connect(
  options: ExternalConnectionOptions,
  ssl: ConnectionOptions | false,
): Promise<ExternalConnection> {
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
  // Without a listener, a connection error between two statements would crash the process.
  client.on('error', () => {});
  const { begin } = filterServerMessages(client, maxResponseBytes);
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
