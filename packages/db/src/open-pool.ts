import type { Logger } from '@millrace/runtime';
import pg from 'pg';
import { connectionConfig } from './connection-config.ts';
import type { DatabaseAddress } from './database-config.ts';
import { limitGoodByes } from './pg-internals/end-connection.ts';

export interface PoolOptions {
  url: DatabaseAddress;
  logger: Logger;
  /** Connections of this process at most. */
  poolSize?: number;
  /** A statement that takes longer is cancelled by the server. 0 = never. */
  statementTimeoutMs?: number;
  /**
   * A statement whose answer has not come after this long fails here, whatever the server does: the only way to notice
   * a server that is gone without a word. Its connection is thrown away. Unless told, some seconds more than
   * `statementTimeoutMs`; 0 = never.
   */
  queryTimeoutMs?: number;
  /**
   * The server rolls back a transaction in which this process is silent for so long: the process was stopped or cannot
   * be reached, and others wait for its locks. The server's own setting unless given.
   */
  idleInTransactionTimeoutMs?: number;
  /** A statement that waits longer for a lock fails. The server's own setting unless given. */
  lockTimeoutMs?: number;
  /** How long to wait for a connection. */
  connectTimeoutMs?: number;
  applicationName?: string;
  /** More settings of each connection. */
  settings?: Record<string, string>;
}

/** An idle connection whose server is gone is noticed after about ten seconds; by itself the system waits two hours. */
const keepAliveAfterMs = 10_000;

/** What every connection of the process shares, as it is when one is made. */
export type CurrentConfig = () => pg.ClientConfig;

/**
 * Reads what may change for each connection: parts of the address that are in files, and the files of TLS. While they cannot be
 * used, because they are just being exchanged, connections are made with what was read before.
 *
 * @throws ConfigError when they cannot be used from the start.
 */
export function poolConfig(options: PoolOptions): CurrentConfig {
  const { url, logger } = options;
  const read = () => connectionConfig(typeof url === 'string' ? url : url());
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

export function openPool(config: CurrentConfig, options: PoolOptions): pg.Pool {
  const { logger, statementTimeoutMs = 30_000, idleInTransactionTimeoutMs, lockTimeoutMs, settings } = options;
  const pool = new pg.Pool({
    ...config(),
    Client: clientOf(config),
    max: options.poolSize ?? 10,
    onConnect: (client: pg.ClientBase) =>
      prepareConnection(client, { idleInTransactionTimeoutMs, lockTimeoutMs }, settings),
    statement_timeout: statementTimeoutMs,
    // The server's own limit comes first, unless the network swallows its answer.
    query_timeout:
      options.queryTimeoutMs ??
      (statementTimeoutMs > 0 ? statementTimeoutMs + Math.min(statementTimeoutMs, 5000) : undefined),
  });
  limitGoodByes(pool);
  pool.on('error', (error) => {
    // An idle connection broke (server restart); the pool replaces it on the next use.
    logger.debug('lost an idle database connection', { error });
  });
  return pool;
}

/**
 * The pool hands every client what it was given itself at the start. No class of its own that extends pg's: with objects of such a
 * one, storing an event takes a tenth more of Node's time.
 */
function clientOf(config: CurrentConfig): typeof pg.Client {
  return new Proxy(pg.Client, {
    construct: (Client, [given]: [pg.ClientConfig]) => new Client({ ...given, ...config() }),
  });
}

const patienceMs = 3000;

/** A setting that is left out stays as the server has it. */
interface LostClientLimits {
  /** A client that is silent for so long in the middle of a transaction loses it, with its session. */
  idleInTransactionTimeoutMs?: number | undefined;
  /** How long a statement waits for a lock that others hold. */
  lockTimeoutMs?: number | undefined;
}

/**
 * Makes the server check every few seconds whether the other end of a new connection is still there, also during a
 * statement. A machine that lost its power or its network says nothing: without this the server would notice after two
 * hours, and hold the locks of the last transaction until then. A process that was stopped (SIGSTOP, a debugger, a
 * paused machine) still has its connection; only its silence tells.
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
    // When a server or pooler does not know one of the settings, it is left out.
    if ((error as { severity?: unknown }).severity === undefined) throw error;
  }
}

/** Eleven seconds of silence at most. For a socket of the same machine there is nothing to set. */
const keepAlive = {
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
  client_connection_check_interval: '5s',
};
