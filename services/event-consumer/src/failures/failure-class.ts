import { isTransientError } from '@millrace/db/sql';
import { isAppError } from '@millrace/errors';
import type { DeadLetterReason } from '../model/dead-letter.ts';
import { BatchTooLarge } from './batch-too-large.ts';
import { LedgerConflict } from './ledger-conflict.ts';
import { PartitionMissing } from './partition-missing.ts';

/**
 * What an error says about the batch it ended:
 * - `moved`: another batch was faster; decide again at once. It stays so only when the stored data contradicts itself.
 * - `transient`: a server does not answer now, or asks for a repetition; the same batch will do later.
 * - `blocked`: somebody held a lock for longer than one is waited for. As transient, but other partitions come first.
 * - `slow`: the server is there, and ended a statement of this batch because it took too long. A smaller batch may do.
 * - `too_large`: the batch is to be done in parts.
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
