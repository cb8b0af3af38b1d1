import { isTransientError, isUniqueViolation } from '@millrace/db/sql';
import { isAppError } from '@millrace/runtime';
import type { DeadLetterReason } from './dead-letters.ts';

/**
 * What an error says about the batch it ended:
 * - `moved`: another batch was faster; decide again at once. It stays so only when the stored data contradicts itself.
 * - `transient`: a server does not answer now, or asks for a repetition; the same batch will do later.
 * - `blocked`: somebody held a lock for longer than one is waited for. As transient, but other partitions come first.
 * - `slow`: the server is there, and ended a statement of this batch because it took too long. A smaller batch may do.
 * - `too_large`: the batch has to be split.
 * - `systemic`: no record is to blame (schema, rights, disk, configuration). As transient, but somebody must act.
 * - `poison`: one of the records cannot be processed, ever.
 */
export type FailureClass =
  | { kind: 'moved' }
  | { kind: 'transient' }
  | { kind: 'blocked' }
  | { kind: 'slow' }
  | { kind: 'too_large'; parts: number }
  | { kind: 'systemic' }
  | { kind: 'poison'; reason: DeadLetterReason };

export function classifyFailure(error: unknown): FailureClass {
  if (error instanceof LedgerConflict || error instanceof PartitionMissing) return { kind: 'moved' };
  if (error instanceof BatchTooLarge) return { kind: 'too_large', parts: error.parts };
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

/** SQLSTATEs of the limits `lock_timeout` and `statement_timeout`. */
const lockNotAvailable = '55P03';
const queryCanceled = '57014';
/**
 * SQLSTATE classes a value can cause: data exception, constraint violation, program limit exceeded, and the internal
 * errors PostgreSQL raises for values beyond its limits. All others (undefined table, no right, broken index, ...) would
 * befall every record, and must not turn a whole topic into dead letters.
 */
const recordStates = /^(22|23|54)[0-9A-Z]{3}$|^XX000$/;
const sqlState = /^[0-9A-Z]{5}$/;
/** Codes of the operating system, e.g. EMFILE; Node's own mistakes of use begin with `ERR_`. */
const systemError = /^E[A-Z0-9]+$/;

/**
 * A batch of several records needs more memory at once, beside its records, than the consumer allows. Nothing is wrong
 * with it: it is split.
 */
export class BatchTooLarge extends Error {
  override readonly name = 'BatchTooLarge';
  /** About so many pieces are small enough. */
  readonly parts: number;

  constructor(what: string, parts: number) {
    super(`A batch needs too much memory: ${what}.`);
    this.parts = parts;
  }
}

/**
 * The most that one statement may load of persons or groups, in bytes of JSON. As objects they take several times as
 * much, and several batches are under way at once.
 */
export const maxLoadedBytes = 8 * 1024 * 1024;

/**
 * @param runningBytes sums over the rows of a statement that leaves out the properties beyond the limit.
 * @throws BatchTooLarge when any were left out.
 */
export function checkLoaded(what: string, runningBytes: readonly number[]): void {
  const bytes = Math.max(0, ...runningBytes);
  if (bytes > maxLoadedBytes) throw new BatchTooLarge(what, Math.ceil(bytes / maxLoadedBytes) + 1);
}

/**
 * Another batch changed what this one had read before it held the locks, e.g. created the same person or moved a
 * mapping. Nothing is wrong: the transaction is rolled back and the batch decided again on what is true now.
 */
export class LedgerConflict extends Error {
  constructor(what: string, cause?: unknown) {
    super(`${what} changed while the batch was being processed`, { cause });
    this.name = 'LedgerConflict';
  }
}

/**
 * Waits for an insert of rows the ledger says do not exist.
 *
 * @throws LedgerConflict when one of them does by now.
 */
export async function insertNew(what: string, insert: Promise<unknown>): Promise<void> {
  try {
    await insert;
  } catch (error) {
    throw isUniqueViolation(error) ? new LedgerConflict(what, error) : error;
  }
}

/**
 * A month had a partition, as far as this process knew, and has none any more. It is made again when the batch is
 * repeated.
 */
export class PartitionMissing extends Error {
  constructor(cause: unknown) {
    super('a partition of the event table was deleted', { cause });
    this.name = 'PartitionMissing';
  }
}

/**
 * An error for the log, without its message: messages of PostgreSQL and of JSON.parse quote the values they dislike, and
 * property values, keys and e-mail addresses are never logged.
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
