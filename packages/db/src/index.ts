export type { Columns } from './columns.ts';
export { readDatabaseTls } from './connection-config.ts';
export { deleteExpiredSalts } from './cookieless-salts.ts';
export { type CopyRow, copyRows } from './copy-format.ts';
export { createDatabase, type Database } from './database.ts';
export {
  buildDatabaseAddress,
  databaseConfigFields,
  type WithDatabaseAddress,
  withDatabaseAddress,
} from './database-config.ts';
export {
  type DecidedDeadLetter,
  readDeadLetterDecisions,
  storeDeadLetterDecisions,
} from './dead-letters/dead-letter-decisions.ts';
export {
  connectExternalDatabase,
  type ExternalConnection,
  type ExternalConnectionOptions,
} from './external-connection.ts';
export type { Prisma, PrismaClient } from './generated/client.ts';
export { migrate } from './migrations/migrate.ts';
export { type DeletionProgress, deletePersons } from './persons/delete-persons.ts';
export { findPersonUuids } from './persons/delete-persons-store.ts';
export { findPerson, findPersonToDelete, type PersonDetails, readPersonDetails } from './persons/find-person-store.ts';
export { maxSplits, type SplitDistinctId, splitPerson } from './persons/split-person.ts';
export { createReadPool, ReadLimitExceeded, type ReadLimits, type ReadPool } from './read-pool.ts';
export { readSealingKeyIds } from './sealing-key-ids.ts';
export { createSqlDatabase, type DatabaseOptions, type SqlDatabase } from './sql-database.ts';
export { type UserSqlSafeguards, userSqlSafeguardsQuery } from './sql-role.ts';
export { unpreparedPrefix } from './statements.ts';
export type { Sql, Transaction } from './transaction.ts';
export { isTransientError } from './transient-error.ts';
