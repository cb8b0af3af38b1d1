export {
  createDatabase,
  type Database,
  type DatabaseOptions,
  type Sql,
  type Transaction,
  waitForDatabase,
} from './database.ts';
export type { Prisma, PrismaClient } from './generated/client.ts';
export { migrate, schemaDrift } from './migrate.ts';
export { isTransientError } from './transient-error.ts';
