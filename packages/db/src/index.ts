export type { Columns } from './columns.ts';
export { databaseTls } from './connection-config.ts';
export { deleteExpiredSalts } from './cookieless-salts.ts';
export { type CopyRow, copyRows } from './copy-format.ts';
export { createDatabase, type Database } from './database.ts';
export {
  databaseAddress,
  databaseConfigFields,
  type WithDatabaseAddress,
  withDatabaseAddress,
} from './database-config.ts';
export {
  type DecidedDeadLetter,
  decideDeadLetters,
  readDeadLetterDecisions,
} from './dead-letters/dead-letter-decisions.ts';
export { connectForeign, type ForeignConnection, type ForeignConnectionOptions } from './foreign-connection.ts';
export type { Prisma, PrismaClient } from './generated/client.ts';
export { migrate } from './migrations/migrate.ts';
export { type DeletionProgress, deletePersons } from './persons/delete-persons.ts';
export { ownersOf } from './persons/delete-persons-store.ts';
export { findPerson, findPersonToDelete, type ShownPerson, showPerson } from './persons/find-person-store.ts';
export { maxSplits, type SplitOff, splitPerson } from './persons/split-person.ts';
export { createReader, type Reader, ReadLimitExceeded, type ReadLimits } from './reader.ts';
export { sealingKeyIds } from './sealing-key-ids.ts';
export { createSqlDatabase, type DatabaseOptions, type SqlDatabase } from './sql-database.ts';
export { type SqlBarriers, sqlBarriersText } from './sql-role.ts';
export { unprepared } from './statements.ts';
export type { Sql, Transaction } from './transaction.ts';
export { isTransientError } from './transient-error.ts';
