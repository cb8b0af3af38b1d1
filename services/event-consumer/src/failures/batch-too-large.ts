/**
 * What a batch of several records needs at once, beside its records, is more than the consumer keeps in memory. Nothing
 * of it is wrong: done in parts, it fits.
 */
export class BatchTooLarge extends Error {
  override readonly name = 'BatchTooLarge';
  /** About so many would do. */
  readonly parts: number;

  constructor(what: string, parts: number) {
    super(`A batch needs too much at once: ${what}.`);
    this.parts = parts;
  }
}
