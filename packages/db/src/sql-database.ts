import type pg from 'pg';
import { createTransactions } from './create-transactions.ts';
import { type Listener, type ListenOptions, listen } from './listen.ts';
import { type CurrentConfig, openPool, type PoolOptions, poolConfig } from './open-pool.ts';
import { watchReachability } from './reachability.ts';
import { createStatementNames, isOutdatedPreparation, withArrayLiterals } from './statements.ts';
import type { NameOf, Noting, RunTransaction, Sql } from './transaction.ts';

export interface SqlDatabase {
  /** One statement outside a transaction, on the same pool. */
  sql: Sql;
  /**
   * Runs `work` in one READ COMMITTED transaction: commits when it resolves, rolls back when it throws.
   * A connection that broke is thrown away. Errors reach the caller as they are (see `isTransientError`).
   */
  transaction: RunTransaction;
  /** Listens to notifications on one more connection, outside the pool. Stop it before the database. */
  listen(options: ListenOptions): Listener;
  /** False from the first failed ping after a connection was lost until the server answers again; never asks by itself. */
  isHealthy(): boolean;
  /** Idempotent. */
  stop(): Promise<void>;
}

export interface DatabaseOptions extends PoolOptions {
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

/** The pool of a process that does without the typed client: reading that in takes a dozen megabytes. */
export function createSqlDatabase(options: DatabaseOptions): SqlDatabase {
  return openSqlDatabase(options).database;
}

/** The same with the pool itself, for what is to share it. */
export function openSqlDatabase(options: DatabaseOptions): { database: SqlDatabase; pool: pg.Pool } {
  const { logger, preparesLookups = false, preparesQueries = false } = options;
  const config = poolConfig(options);
  const pool = openPool(config, options);
  const reachability = watchReachability(pool, {
    config: withinConnectTimeout(config),
    logger,
    pingIntervalMs: 500,
  });

  const noting = notingErrors(reachability.noteError);
  const nameOf = createStatementNames();
  const sql = createSql(pool, { noting, nameOf: preparesQueries ? nameOf : neverNamed });
  const notify = (channel: string, payload: string) => sql.query('SELECT pg_notify($1, $2)', [channel, payload]);

  let stopping: Promise<void> | undefined;
  async function stop(): Promise<void> {
    await pool.end();
    await reachability.stop();
  }

  const database: SqlDatabase = {
    sql,
    transaction: createTransactions(pool, { noting, nameOf, preparesLookups }),
    listen: (options) => listen(options, { config, notify }),
    isHealthy: reachability.isReachable,
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
  return { database, pool };
}

/** A ping has as long as connecting. */
function withinConnectTimeout(config: CurrentConfig): CurrentConfig {
  return () => {
    const current = config();
    return { ...current, query_timeout: current.connectionTimeoutMillis };
  };
}

function createSql(pool: pg.Pool, { noting, nameOf }: { noting: Noting; nameOf: NameOf }): Sql {
  return {
    query: (text, given) =>
      noting(async () => {
        const values = given && withArrayLiterals(given);
        const name = values !== undefined ? nameOf(text) : undefined;
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
}

const neverNamed = () => undefined;

/** Has the errors of queries noted, which may say that the server is away. */
function notingErrors(note: (error: unknown) => void): Noting {
  return async (work) => {
    try {
      return await work();
    } catch (error) {
      note(error);
      throw error;
    }
  };
}
