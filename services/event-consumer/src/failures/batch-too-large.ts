/**
 * A batch of several records needs more memory at once, beside its records, than the consumer allows. Nothing is wrong
 * with it: it is done in parts.
 */
export class BatchTooLarge extends Error {
  override readonly name = 'BatchTooLarge';
  /** About so many parts are small enough. */
  readonly parts: number;

  constructor(what: string, parts: number) {
    super(`A batch needs too much at once: ${what}.`);
    this.parts = parts;
  }
}
