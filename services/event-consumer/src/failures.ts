// Classifies errors that end a batch, to decide whether the batch is retried, split, or stored as dead letters.

import { isTransientError, isUniqueViolation } from '@millrace/db/sql';
import { isAppError } from '@millrace/runtime';
import type { DeadLetterReason } from './dead-letters.ts';

/**
 * Classes of errors that end a batch:
 *
 * - `moved`: the stored data changed in the meantime, usually because of another batch. The batch is decided again
 *   immediately. This persists only if the stored data is inconsistent.
 * - `transient`: a server does not respond or requests a retry. The same batch will succeed later.
 * - `blocked`: a lock timed out. Like `transient`, but other partitions are processed first.
 * - `slow`: the server canceled one of the batch's statements because it took too long. A smaller batch may succeed.
 * - `too_large`: the batch must be split.
 * - `systemic`: the cause is not a record. It can be the schema, permissions, the disk or the configuration. Like
 *   `transient`, but an operator must act.
 * - `poison`: one of the records can never be processed.
 */
export type FailureClass =
  | { kind: 'moved' }
  | { kind: 'transient' }
  | { kind: 'blocked' }
  | { kind: 'slow' }
  | { kind: 'too_large'; partCount: number }
  | { kind: 'systemic' }
  | { kind: 'poison'; reason: DeadLetterReason };

export function classifyFailure(error: unknown): FailureClass {
  if (error instanceof LedgerConflict || error instanceof PartitionMissing) return { kind: 'moved' };
  if (error instanceof BatchTooLarge) return { kind: 'too_large', partCount: error.partCount };
  const code = error instanceof Error ? String((error as { code?: unknown }).code) : '';
  if (code === lockNotAvailable) return { kind: 'blocked' };
  if (code === queryCanceled) return { kind: 'slow' };
  if (isTransientError(error) || isAppError(error, 'unavailable') || isAppError(error, 'timeout')) {
    return { kind: 'transient' };
  }
  if (recordStates.test(code)) return { kind: 'poison', reason: 'refused_by_database' };
  if (sqlState.test(code) || systemError.test(code)) return { kind: 'systemic' };
  return { kind: 'poison', reason: 'processing_error' };
}

const lockNotAvailable = '55P03';
const queryCanceled = '57014';
/**
 * Matches the SQLSTATE classes that a record's data can cause: data exception, constraint violation, program limit
 * exceeded, and the internal errors that PostgreSQL raises for values beyond its limits. All other errors (undefined
 * table, missing permission, broken index, ...) would affect every record, and must not make dead letters of a whole
 * topic.
 */
const recordStates = /^(22|23|54)[0-9A-Z]{3}$|^XX000$/;
const sqlState = /^[0-9A-Z]{5}$/;
/** Matches operating system error codes, for example EMFILE, but not those of Node.js, which start with `ERR_`. */
const systemError = /^E[A-Z0-9]+$/;

/**
 * Thrown if a batch of several records needs more memory than the consumer allows in addition to its records. The batch
 * is then split.
 */
export class BatchTooLarge extends Error {
  override readonly name = 'BatchTooLarge';
  /** The number of parts into which to split the batch so that each part probably fits. */
  readonly partCount: number;

  constructor(what: string, partCount: number) {
    super(`A batch needs too much memory: ${what}.`);
    this.partCount = partCount;
  }
}

/**
 * The maximum size of the persons or groups that one statement can load, in bytes of JSON. As objects, they take
 * several times as much memory, and several batches are in flight at the same time.
 */
export const maxLoadedBytes = 8 * 1024 * 1024;

/**
 * Checks that a statement has loaded all properties.
 * @param runningBytes the running sums over the rows of a statement that leaves out properties beyond the limit
 * @throws BatchTooLarge if properties were left out
 */
export function checkLoadedSize(what: string, runningBytes: readonly number[]): void {
  const bytes = Math.max(0, ...runningBytes);
  if (bytes > maxLoadedBytes) throw new BatchTooLarge(what, Math.ceil(bytes / maxLoadedBytes) + 1);
}

/**
 * Thrown if another batch changed data that this batch had read before it held the locks, for example by creating the
 * same person or moving an ID. The transaction is rolled back, and the batch is decided again with the new data.
 */
export class LedgerConflict extends Error {
  constructor(what: string, cause?: unknown) {
    super(`${what} changed while the batch was being processed`, { cause });
    this.name = 'LedgerConflict';
  }
}

/**
 * Waits for the insert of rows that are new according to the ledger.
 * @throws LedgerConflict if one of the rows already exists
 */
export async function insertOrThrowConflict(what: string, insert: Promise<unknown>): Promise<void> {
  try {
    await insert;
  } catch (error) {
    throw isUniqueViolation(error) ? new LedgerConflict(what, error) : error;
  }
}

/**
 * Thrown if a month's partition no longer exists although it is in the cache. When the batch is retried, it creates the
 * partition again.
 */
export class PartitionMissing extends Error {
  constructor(cause: unknown) {
    super('a partition of the event table was deleted', { cause });
    this.name = 'PartitionMissing';
  }
}

/**
 * Describes an error for the application log, without its message. Messages from PostgreSQL and JSON.parse contain
 * input data, and property values, keys and email addresses must never be logged.
 */
export function describeFailure(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { errorName: typeof error };
  const { code, table, column, constraint, routine } = error as unknown as Record<string, unknown>;
  const facts = Object.entries({ code, table, column, constraint, routine }).filter(
    ([, fact]) => typeof fact === 'string',
  );
  const frames = (error.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '));
  return { errorName: error.name, ...Object.fromEntries(facts), at: frames.slice(0, 8).map((line) => line.trim()) };
}
