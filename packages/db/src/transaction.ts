import type pg from 'pg';
import type { Statements } from './pg-internals/send-pipelined.ts';

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

/** See `SqlDatabase.transaction`. */
export type RunTransaction = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;

/** Runs a statement and has its errors noted, which may say that the server is away. */
export type Noting = <T>(work: () => Promise<T>) => Promise<T>;

/** The name under which a text is prepared; undefined when it is sent as it is. */
export type NameOf = (text: string) => string | undefined;
