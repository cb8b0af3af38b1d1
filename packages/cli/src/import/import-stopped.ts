/** An import that ended before the end of its file, and can be continued. */
export class ImportStopped extends Error {
  readonly exitCode: number;

  /** @param exitCode 1, or 130 when a person stopped it. */
  constructor(message: string, exitCode = 1) {
    super(message);
    this.name = 'ImportStopped';
    this.exitCode = exitCode;
  }
}
