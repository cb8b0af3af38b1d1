// Opens a process's database connections: SQL for stores, and the Prisma client for management data.

import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/client.ts';
import { type DatabaseOptions, openSqlDatabase, type SqlDatabase } from './sql-database.ts';

export interface Database extends SqlDatabase {
  prisma: PrismaClient;
}

/** Creates the process's only connection pool, which the Prisma client and the SQL stores share. */
export function createDatabase(options: DatabaseOptions): Database {
  const { database, pool } = openSqlDatabase(options);
  // Create the Prisma client on first use. This saves 28 MB of memory in a process that does not use it.
  let prisma: PrismaClient | undefined;
  let stopping: Promise<void> | undefined;
  async function stop(): Promise<void> {
    await prisma?.$disconnect();
    await database.stop();
  }

  return {
    ...database,
    get prisma() {
      prisma ??= new PrismaClient({
        adapter: new PrismaPg(pool),
        // Prisma's errors are logged, and in the other formats they would include the query arguments.
        errorFormat: 'minimal',
      });
      return prisma;
    },
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}
