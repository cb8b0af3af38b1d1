import type { Logger } from '@millrace/runtime';
import pg from 'pg';
import { withArrayLiterals } from './array-literals.ts';
import { connectionConfig } from './connection-config.ts';
import { copyIn } from './copy-in.ts';
import { type Listener, type ListenOptions, listen } from './listen.ts';
import { noticeLostClients } from './notice-lost-clients.ts';
import { type Statements, sendPipelined } from './pg-internals/send-pipelined.ts';
import { createPlanAge, createStatementNames, isOutdatedPreparation } from './prepared-statements.ts';
import { watchReachability } from './reachability.ts';
import { isConnectionError } from './transient-error.ts';

/** Runs one SQL statement with numbered parameters; used by `*-store.ts` files on the hot path. */
export interface Sql {
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
}

/** A transaction in progress. Stores take it, never open one. */
export interface Transaction extends Sql {
  readonly isTransaction: true;
  /** Runs `COPY … FROM STDIN (FORMAT binary)` with chunks of `copyRows`; many are asked for as the server takes them. */
  copy(statement: string, chunks: Iterable<Buffer>): Promise<void>;
  /**
   * Sends the queries that `send` asks for without waiting between them. They run in their order; `copy` is not
   * allowed.
   *
   * @throws the error of the first that failed, when all of them have ended.
   */
  pipeline<Results extends unknown[]>(send: Statements<Results>): Promise<Results>;
  /** The same, with the COMMIT behind them. Nothing can be sent after that. */
  commitWith(send: Statements<unknown[]>): Promise<void>;
}

export interface SqlDatabase {
  /** One statement outside a transaction, on the same pool. */
  sql: Sql;
  /**
   * Runs `work` in one READ COMMITTED transaction: commits when it resolves, rolls back when it throws.
   * A connection that broke is thrown away. Errors reach the caller as they are (see `isTransientError`).
   *
   * @param first queries sent together with BEGIN. They may read and lock, not write: were BEGIN itself refused, they would
   * still run before this rejects, each by itself.
   */
  transaction<T, First extends unknown[] = []>(
    work: (tx: Transaction, first: First) => Promise<T>,
    first?: (tx: Sql) => ReturnType<Statements<First>>,
  ): Promise<T>;
  /** Listens to notifications on one more connection, outside the pool. Stop it before the database. */
  listen(options: ListenOptions): Listener;
  /** False from the first failed ping after a connection was lost until the server answers again; never asks by itself. */
  isHealthy(): boolean;
  /** Idempotent. */
  stop(): Promise<void>;
}

export interface DatabaseOptions {
  url: string;
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
  /**
   * For processes whose transactions repeat a fixed set of statements that look rows up in indexes: each is prepared once
   * per connection and planned once, for looking up, whatever is known about the tables. Off unless told. A pooler
   * between must know prepared statements (PgBouncer: `max_prepared_statements`).
   */
  preparesLookups?: boolean;
  /**
   * For processes that ask many small questions of a fixed set: statements of `sql` with values are prepared once per
   * connection, and the server decides by itself when a plan is worth keeping. Off unless told; a pooler as above.
   */
  preparesQueries?: boolean;
}

/**
 * A plan that was made while a table was empty must not be kept: it would read the whole table until the server next
 * collects statistics. These settings prevent most of that. They do not decide which of two indexes of a small table is
 * used, so no plan is kept for long either.
 */
const beginLookups = `BEGIN;
  SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off;
  SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`;

/** An idle connection whose server is gone is noticed after about ten seconds; by itself the system waits two hours. */
const keepAliveAfterMs = 10_000;

/** The pool of a process that does without the typed client: reading that in takes a dozen megabytes. */
export function createSqlDatabase(options: DatabaseOptions): SqlDatabase {
  return openSqlDatabase(options).database;
}

/** The same with the pool itself, for what is to share it. */
export function openSqlDatabase(options: DatabaseOptions): { database: SqlDatabase; pool: pg.Pool } {
  const { logger, statementTimeoutMs = 30_000, preparesLookups = false, preparesQueries = false } = options;
  const { idleInTransactionTimeoutMs, lockTimeoutMs } = options;
  const nameOf = createStatementNames();
  const config: pg.ClientConfig = {
    ...connectionConfig(options.url),
    connectionTimeoutMillis: options.connectTimeoutMs ?? 3000,
    application_name: options.applicationName ?? 'millrace',
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
  };
  const pool = new pg.Pool({
    ...config,
    max: options.poolSize ?? 10,
    onConnect: (client: pg.ClientBase) => noticeLostClients(client, { idleInTransactionTimeoutMs, lockTimeoutMs }),
    statement_timeout: statementTimeoutMs,
    // The server's own limit comes first, unless the network swallows its answer.
    query_timeout:
      options.queryTimeoutMs ??
      (statementTimeoutMs > 0 ? statementTimeoutMs + Math.min(statementTimeoutMs, 5000) : undefined),
  });
  pool.on('error', (error) => {
    // An idle connection broke (server restart); the pool replaces it on the next use.
    logger.debug('an idle database connection was lost', { error });
  });
  const reachability = watchReachability(pool, {
    config: { ...config, query_timeout: config.connectionTimeoutMillis },
    logger,
    pingIntervalMs: 500,
  });

  const sql: Sql = {
    query: (text, given) =>
      noting(async () => {
        const values = given && withArrayLiterals(given);
        const name = preparesQueries && values !== undefined ? nameOf(text) : undefined;
        if (name === undefined) return (await pool.query(text, values)).rows;
        try {
          return (await pool.query({ name, text, values })).rows;
        } catch (error) {
          // A migration added a column to what was prepared with all columns: refused before anything ran.
          if (!isOutdatedPreparation(error)) throw error;
          return (await pool.query(text, values)).rows;
        }
      }),
  };

  const notify = (channel: string, payload: string) => sql.query('SELECT pg_notify($1, $2)', [channel, payload]);

  async function noting<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      reachability.noteError(error);
      throw error;
    }
  }

  const planAge = createPlanAge();
  const beginOn = (client: pg.PoolClient) => {
    if (!preparesLookups) return 'BEGIN';
    return planAge.isOld(client) ? `${beginLookups}; DISCARD PLANS` : beginLookups;
  };

  const transaction: SqlDatabase['transaction'] = async (work, first) => {
    const client = await pool.connect();
    // Without a listener an error between two statements would end the process.
    const onError = () => {};
    client.on('error', onError);
    const tx: Transaction = {
      isTransaction: true,
      query: (text, given) => {
        const values = given && withArrayLiterals(given);
        const name = preparesLookups && values !== undefined ? nameOf(text) : undefined;
        return noting(async () => (await client.query({ name, text, values })).rows);
      },
      copy: (statement, chunks) => noting(() => copyIn(client, statement, chunks)),
      pipeline: (send) => sendPipelined(client, send),
      async commitWith(send) {
        // After a failure among them the server takes it for a rollback.
        await sendPipelined(client, () => [...send(), noting(() => client.query('COMMIT'))]);
        isCommitted = true;
      },
    };
    let isCommitted = false;
    let broken: Error | undefined;
    try {
      const result = await work(tx, await begin(client, tx, first));
      if (!isCommitted) await client.query('COMMIT');
      return result;
    } catch (error) {
      // On a lost connection PostgreSQL rolls back by itself, and asking for it could wait for the full query timeout.
      broken = isConnectionError(error)
        ? new Error('The connection was lost.', { cause: error })
        : await client.query('ROLLBACK').then(
            () => undefined,
            (rollbackError: Error) => rollbackError,
          );
      throw error;
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  };

  async function begin<First extends unknown[]>(
    client: pg.PoolClient,
    tx: Transaction,
    first: ((tx: Sql) => ReturnType<Statements<First>>) | undefined,
  ): Promise<First> {
    const statement = beginOn(client);
    const [, ...results] = await sendPipelined(client, () => [
      noting(() => client.query(statement)),
      ...(first === undefined ? [] : first(tx)),
    ]);
    return results as First;
  }

  let stopping: Promise<void> | undefined;
  async function stop(): Promise<void> {
    await pool.end();
    await reachability.stop();
  }

  const database: SqlDatabase = {
    sql,
    transaction,
    listen: (options) => listen(options, { config, notify }),
    isHealthy: reachability.isReachable,
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
  return { database, pool };
}
