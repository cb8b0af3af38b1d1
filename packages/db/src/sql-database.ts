// A connection pool with transactions and health tracking, for programs that use only handwritten SQL.

import type pg from 'pg';
import { createTransactions } from './create-transactions.ts';
import { type Listener, type ListenOptions, listen } from './listen.ts';
import { createConfigReader, openPool, type PoolOptions, type ReadClientConfig } from './open-pool.ts';
import { watchReachability } from './reachability.ts';
import { createStatementNames, isOutdatedPlanError, toArrayLiterals } from './statements.ts';
import type { FindStatementName, RunStatement, RunTransaction, Sql } from './transaction.ts';

export interface SqlDatabase {
  /** Runs single statements outside of transactions, on the shared pool. */
  sql: Sql;
  /**
   * Runs `work` in one READ COMMITTED transaction. Commits if `work` resolves, and rolls back if it throws. Discards a
   * connection that breaks. Throws errors unchanged (see `isTransientError`).
   */
  transaction: RunTransaction;
  /** Listens for notifications on a separate connection outside the pool. Stop the listener before the database. */
  listen(options: ListenOptions): Listener;
  /**
   * Returns whether the server can be reached, without running a query. After a lost connection, returns false from the
   * first failed ping until the server responds.
   */
  isHealthy(): boolean;
  stop(): Promise<void>;
}

export interface DatabaseOptions extends PoolOptions {
  /**
   * Whether transactions prepare their statements. Enable it for a process whose transactions repeat a fixed set of
   * index lookups. Each statement is prepared once per connection, and always planned as an index lookup, whatever the
   * table statistics are. Off by default. A pooler must support prepared statements (PgBouncer:
   * `max_prepared_statements`).
   */
  preparesLookups?: boolean;
  /**
   * Whether `sql` prepares statements that have parameters. Enable it for a process that runs many small queries from a
   * fixed set. Each statement is prepared once per connection, and the server decides when to reuse its plan. Off by
   * default. A pooler must support prepared statements.
   */
  preparesQueries?: boolean;
}

/** Creates the pool for a process that does not use the Prisma client, which takes more than 10 MB when loaded. */
export function createSqlDatabase(options: DatabaseOptions): SqlDatabase {
  return openSqlDatabase(options).database;
}

/** Like `createSqlDatabase`, but also returns the pool, for components that share it. */
export function openSqlDatabase(options: DatabaseOptions): { database: SqlDatabase; pool: pg.Pool } {
  const { logger, preparesLookups = false, preparesQueries = false } = options;
  const config = createConfigReader(options);
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

/** Returns settings that limit the duration of a ping to the connect timeout. */
function withinConnectTimeout(config: ReadClientConfig): ReadClientConfig {
  return () => {
    const current = config();
    return { ...current, query_timeout: current.connectionTimeoutMillis };
  };
}

function createSql(pool: pg.Pool, { noting, nameOf }: { noting: RunStatement; nameOf: FindStatementName }): Sql {
  return {
    query: (text, given) =>
      noting(async () => {
        const values = given && toArrayLiterals(given);
        const name = values !== undefined ? nameOf(text) : undefined;
        if (name === undefined) return (await pool.query(text, values)).rows;
        try {
          return (await pool.query({ name, text, values })).rows;
        } catch (error) {
          // The statement reads all columns of a table, and a migration added a column. PostgreSQL rejects the outdated
          // plan before it runs the statement, so the statement can be prepared again.
          if (!isOutdatedPlanError(error)) throw error;
          return (await pool.query(text, values)).rows;
        }
      }),
  };
}

const neverNamed = () => undefined;

/** Creates a function that runs statements and reports their errors, which may show that the server is down. */
function notingErrors(note: (error: unknown) => void): RunStatement {
  return async (work) => {
    try {
      return await work();
    } catch (error) {
      note(error);
      throw error;
    }
  };
}
