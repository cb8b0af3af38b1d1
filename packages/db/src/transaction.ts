// The interfaces through which stores run SQL, inside or outside a transaction.

import type pg from 'pg';
import type { Statements } from './pg-internals/send-pipelined.ts';

/** Runs single SQL statements with numbered parameters. Used by `*-store.ts` files. */
export interface Sql {
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
}

/** A transaction in progress. Stores receive transactions and never begin one. */
export interface Transaction extends Sql {
  readonly isTransaction: true;
  /**
   * Runs `COPY … FROM STDIN (FORMAT binary)` with chunks of `copyRows`. If the copy is large, its chunks are created
   * only as fast as the server accepts them.
   */
  copy(statement: string, chunks: Iterable<Buffer>): Promise<void>;
  /**
   * Pipelines the queries that `send` issues: sends them without waiting for each other's results. They run in order. `copy` is not allowed.
   * @throws the error of the first query that failed, after all queries have ended
   */
  pipeline<Results extends unknown[]>(send: Statements<Results>): Promise<Results>;
  /** Like `pipeline`, but also sends COMMIT at the end. The transaction cannot run statements afterwards. */
  commitWith(send: Statements<unknown[]>): Promise<void>;
}

export type RunTransaction = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;

/** Runs a statement and reports its errors, which may show that the server is down. */
export type RunStatement = <T>(work: () => Promise<T>) => Promise<T>;

/** Returns a name for the prepared statement, or undefined to send the statement unprepared. */
export type FindStatementName = (text: string) => string | undefined;
