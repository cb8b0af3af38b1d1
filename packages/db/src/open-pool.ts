// Opens a connection pool that reads its settings again for each new connection, because secrets may be rotated.

import type { Logger } from '@millrace/runtime';
import pg from 'pg';
import { toClientConfig } from './connection-config.ts';
import type { DatabaseAddress } from './database-config.ts';
import { limitDisconnectTime } from './pg-internals/end-connection.ts';

export interface PoolOptions {
  url: DatabaseAddress;
  logger: Logger;
  poolSize?: number;
  /** The time after which the server cancels a statement, in milliseconds. 0 disables the limit. */
  statementTimeoutMs?: number;
  /**
   * This process waits this many milliseconds for a statement's response. After that, the statement fails and its
   * connection is closed. Only this limit detects a server that disappeared without closing the connection. By default,
   * it is a few seconds longer than `statementTimeoutMs`. 0 disables the limit.
   */
  queryTimeoutMs?: number;
  /**
   * The server rolls back a transaction if it receives nothing from the client for this many milliseconds. This process
   * may be stopped or unreachable while other processes wait for its locks. By default, the server's own setting
   * applies.
   */
  idleInTransactionTimeoutMs?: number;
  /** How many milliseconds a statement waits for a lock before it fails. Defaults to the server's own setting. */
  lockTimeoutMs?: number;
  connectTimeoutMs?: number;
  applicationName?: string;
  settings?: Record<string, string>;
}

/**
 * With this keepalive delay, an idle connection to a lost server is detected after about ten seconds. By default, the
 * operating system would need two hours.
 */
const keepAliveAfterMs = 10_000;

export type ReadClientConfig = () => pg.ClientConfig;

/**
 * Creates a function that reads the settings that can change between connections: URL components that are stored in
 * files, and the TLS files. If the settings are invalid when they are read again, for example because files are being
 * replaced, the previous settings apply.
 * @throws ConfigError if the settings are invalid at the start
 */
export function createConfigReader(options: PoolOptions): ReadClientConfig {
  const { url, logger } = options;
  const read = () => toClientConfig(typeof url === 'string' ? url : url());
  const shared = {
    connectionTimeoutMillis: options.connectTimeoutMs ?? 3000,
    application_name: options.applicationName ?? 'millrace',
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
  };
  let last = read();
  return () => {
    try {
      last = read();
    } catch (error) {
      logger.warn('could not reload the database settings; keeping the previous ones', { error });
    }
    return { ...last, ...shared };
  };
}

export function openPool(config: ReadClientConfig, options: PoolOptions): pg.Pool {
  const { logger, statementTimeoutMs = 30_000, idleInTransactionTimeoutMs, lockTimeoutMs, settings } = options;
  const pool = new pg.Pool({
    ...config(),
    Client: clientOf(config),
    max: options.poolSize ?? 10,
    onConnect: (client: pg.ClientBase) =>
      prepareConnection(client, { idleInTransactionTimeoutMs, lockTimeoutMs }, settings),
    statement_timeout: statementTimeoutMs,
    // This limit applies only if the server's own limit has no effect, for example because the network drops the
    // server's response.
    query_timeout:
      options.queryTimeoutMs ??
      (statementTimeoutMs > 0 ? statementTimeoutMs + Math.min(statementTimeoutMs, 5000) : undefined),
  });
  limitDisconnectTime(pool);
  pool.on('error', (error) => {
    // An idle connection was closed, for example because the server restarted. The pool replaces it on the next use.
    logger.debug('lost an idle database connection', { error });
  });
  return pool;
}

/**
 * Returns a client class that uses the current settings. The pool would pass its initial settings to every client. The
 * class is a proxy, because a subclass of pg's client would make storing an event take a tenth longer in Node.js.
 */
function clientOf(config: ReadClientConfig): typeof pg.Client {
  return new Proxy(pg.Client, {
    construct: (Client, [given]: [pg.ClientConfig]) => new Client({ ...given, ...config() }),
  });
}

const patienceMs = 3000;

/**
 * Limits after which the server ends the session of a lost client. If a limit is undefined, the server's own setting
 * applies.
 */
interface LostClientLimits {
  idleInTransactionTimeoutMs?: number | undefined;
  lockTimeoutMs?: number | undefined;
}

/**
 * Makes the server check every few seconds whether a new connection's client still exists, even during a statement.
 * Without this check, the server would notice only after two hours that a machine lost power or network, and would hold
 * the locks of its last transaction until then. A process that is stopped (SIGSTOP, a debugger, a paused machine) keeps
 * its connection. The server detects such a process only because it sends nothing.
 */
async function prepareConnection(
  client: pg.ClientBase,
  limits: LostClientLimits,
  others: Record<string, string> = {},
): Promise<void> {
  const settings: Record<string, string> = { ...keepAlive, ...others };
  if (limits.idleInTransactionTimeoutMs !== undefined) {
    settings.idle_in_transaction_session_timeout = String(limits.idleInTransactionTimeoutMs);
  }
  if (limits.lockTimeoutMs !== undefined) settings.lock_timeout = String(limits.lockTimeoutMs);
  try {
    const config: pg.QueryConfig & { query_timeout: number } = {
      text: 'SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS setting (name, value)',
      values: [Object.keys(settings), Object.values(settings)],
      query_timeout: patienceMs,
    };
    await client.query(config);
  } catch (error) {
    // If a server or pooler rejects one of the settings, apply none of them.
    if ((error as { severity?: unknown }).severity === undefined) throw error;
  }
}

/**
 * Lets the server detect a disconnected client after at most eleven seconds without data. Has no effect on local
 * sockets.
 */
const keepAlive = {
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
  client_connection_check_interval: '5s',
};
