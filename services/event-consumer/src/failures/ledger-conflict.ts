import { isUniqueViolation } from '@millrace/db/sql';

/**
 * Another batch changed what this one had read before it held the locks, e.g. created the same person or moved a
 * mapping. Nothing is wrong: the transaction is rolled back and the batch decided again on what is true now.
 */
export class LedgerConflict extends Error {
  constructor(what: string, cause?: unknown) {
    super(`${what} changed while the batch was being decided`, { cause });
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
