import type { Dialect } from './dialect.ts';
import type { Budget } from './port.ts';
import type { Fragment } from './sql.ts';

/** What runs questions: its words, and rows as they come. */
export interface Engine {
  dialect: Dialect;
  /** @throws OverBudget, and the signal's reason when it is aborted; the question has ended in the engine then. */
  read(question: Fragment, run: Budget, each: (row: unknown[]) => void): Promise<void>;
}

/** All rows of a question. */
export async function readRows<T>(
  engine: Engine,
  { text, run, read }: { text: Fragment; run: Budget; read: (row: unknown[]) => T },
): Promise<T[]> {
  const rows: T[] = [];
  await engine.read(text, run, (row) => void rows.push(read(row)));
  return rows;
}

/** A value of a row that is a text. */
export const textOrNull = (value: unknown) => (value === null || value === undefined ? null : String(value));
