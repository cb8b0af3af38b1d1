/**
 * Another batch changed what this one had read before it held the locks, e.g. created the same person or moved a
 * mapping. Nothing is wrong: the transaction is rolled back and the batch decided again on what is true now.
 */
export class LedgerMoved extends Error {
  constructor(what: string) {
    super(`${what} changed while the batch was being decided`);
    this.name = 'LedgerMoved';
  }
}
