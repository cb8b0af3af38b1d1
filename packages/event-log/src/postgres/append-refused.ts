/** The guard of a log has refused an append (`PostgresLogOptions.guard`). Says nothing about the database's health. */
export class AppendRefused extends Error {
  override readonly name = 'AppendRefused';
}
