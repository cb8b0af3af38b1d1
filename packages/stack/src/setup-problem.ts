/**
 * Something the person at the terminal can put right: a program that is missing, a directory that belongs to somebody
 * else. Shown as its message alone, without a stack (bin/prepare/run-command.mjs).
 */
export class SetupProblem extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SetupProblem';
  }
}
