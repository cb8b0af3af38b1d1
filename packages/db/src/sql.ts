/** What services on the way of events use: all of it without the typed client, which they would only carry along. */
export { deleteExpiredSalts, keepSalt } from './cookieless-salts.ts';
export { type CopyRow, copyRows, releaseChunks } from './copy-format.ts';
export { type ProjectChanges, unsubscribedMaxAgeMs, watchProjectChanges } from './project-changes.ts';
export {
  createSqlDatabase,
  type DatabaseOptions,
  type Sql,
  type SqlDatabase,
  type Transaction,
} from './sql-database.ts';
export { takeChunks } from './take-chunks.ts';
export { isTransientError } from './transient-error.ts';
export { isUniqueViolation } from './unique-violation.ts';
