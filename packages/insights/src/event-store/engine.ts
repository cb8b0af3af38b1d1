// The interface of the databases that run event queries: PostgreSQL and ClickHouse.

import type { Dialect } from './dialect.ts';
import type { Budget } from './port.ts';
import type { Fragment } from './sql.ts';

export interface Engine {
  dialect: Dialect;
  /**
   * Runs a query. If the promise rejects, the engine has stopped the query.
   * @throws OverBudget, or the signal's abort reason
   */
  read(query: Fragment, run: Budget, each: (row: unknown[]) => void): Promise<void>;
}

export async function readRows<T>(
  engine: Engine,
  { text, run, read }: { text: Fragment; run: Budget; read: (row: unknown[]) => T },
): Promise<T[]> {
  const rows: T[] = [];
  await engine.read(text, run, (row) => void rows.push(read(row)));
  return rows;
}

export const textOrNull = (value: unknown) => (value === null || value === undefined ? null : String(value));
