// Opens the database of a process, with SQL for stores and a typed client for management data.

import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/client.ts';
import { type DatabaseOptions, openSqlDatabase, type SqlDatabase } from './sql-database.ts';

export interface Database extends SqlDatabase {
  prisma: PrismaClient;
}

/** Creates the only pool of a process, shared by the typed client and the SQL stores. */
export function createDatabase(options: DatabaseOptions): Database {
  const { database, pool } = openSqlDatabase(options);
  // Create the client on first use. A process that does not use the client saves 28 MB.
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
        // Errors are logged. In other formats, they would include the query's arguments.
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
