import { AppError } from '@millrace/errors';
import type { Logger } from '@millrace/runtime';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from './generated/client.ts';
import { isTransientError } from './transient-error.ts';

/** Runs one SQL statement with numbered parameters; used by `*-store.ts` files on the hot path. */
export interface Sql {
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
}

/** A transaction in progress. Stores take it, never open one. */
export interface Transaction extends Sql {
  readonly isTransaction: true;
}

export interface Database {
  /** Typed client for the management side. */
  prisma: PrismaClient;
  /** One statement outside a transaction, on the same pool. */
  sql: Sql;
  /**
   * Runs `work` in one READ COMMITTED transaction: commits when it resolves, rolls back when it throws.
   * A connection that broke is thrown away. Errors reach the caller as they are (see `isTransientError`).
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  isHealthy(): boolean;
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
   * a server that is gone without a word. Its connection is thrown away. 0 = never.
   */
  queryTimeoutMs?: number;
  /** How long to wait for a connection. */
  connectTimeoutMs?: number;
  applicationName?: string;
}

/** The one pool of a process: the typed client and the set-based stores share it. */
export function createDatabase(options: DatabaseOptions): Database {
  const { logger } = options;
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 3000,
    statement_timeout: options.statementTimeoutMs ?? 30_000,
    query_timeout: options.queryTimeoutMs ?? 0,
    application_name: options.applicationName ?? 'millrace',
    keepAlive: true,
  });
  let isReachable = true;
  pool.on('error', (error) => {
    // An idle connection broke (server restart); the pool replaces it on the next use.
    logger.debug('an idle database connection was lost', { error });
  });

  const sql: Sql = {
    async query(text, values) {
      return noteReachability(async () => (await pool.query(text, values)).rows);
    },
  };

  async function noteReachability<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      isReachable = true;
      return result;
    } catch (error) {
      if (isTransientError(error)) isReachable = false;
      throw error;
    }
  }

  async function transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const client = await noteReachability(() => pool.connect());
    // Without a listener an error between two statements would end the process.
    const onError = () => {};
    client.on('error', onError);
    const tx: Transaction = {
      isTransaction: true,
      query: async (text, values) => (await client.query(text, values)).rows,
    };
    let broken: Error | undefined;
    try {
      await client.query('BEGIN');
      const result = await work(tx);
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch((rollbackError: Error) => {
        broken = rollbackError;
      });
      throw error;
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  }

  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  return {
    prisma,
    sql,
    transaction,
    isHealthy: () => isReachable,
    async stop() {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

/** Waits until the database answers, e.g. while it is still starting. @throws AppError `unavailable` after `timeoutMs`. */
export async function waitForDatabase(database: Database, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      await database.sql.query('SELECT 1');
      return;
    } catch (cause) {
      if (!isTransientError(cause) || Date.now() > deadline) {
        throw new AppError('unavailable', 'The database does not answer.', { cause });
      }
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}
