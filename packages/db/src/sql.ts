/**
 * The database API for services that process events. It does not include the Prisma client, because these services do
 * not need it.
 */
export { deleteExpiredSalts, findOrInsertSalt } from './cookieless-salts.ts';
export { type CopyRow, copyRows, releaseChunks, takeChunks } from './copy-format.ts';
export { databaseConfigFields, type WithDatabaseAddress, withDatabaseAddress } from './database-config.ts';
export {
  type DeadLetterDecision,
  type DeadLetterPosition,
  type DecidedDeadLetter,
  toDeadLetterName,
} from './dead-letters/dead-letter-decisions.ts';
export { type ProjectChanges, unsubscribedMaxAgeMs, watchProjectChanges } from './project-changes.ts';
export { createSqlDatabase, type DatabaseOptions, type SqlDatabase } from './sql-database.ts';
export type { Sql, Transaction } from './transaction.ts';
export { isTransientError, isUniqueViolation } from './transient-error.ts';
