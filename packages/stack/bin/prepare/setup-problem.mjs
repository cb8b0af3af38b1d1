/** Something the person at the terminal can put right. Shown as its message alone. */
export class SetupProblem extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = 'SetupProblem';
  }
}
