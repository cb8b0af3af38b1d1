/** The management API did not do what was asked. The message is what a person reads. */
export class ApiRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ApiRefusal';
  }
}
