import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/client.ts';
import { type DatabaseOptions, openSqlDatabase, type SqlDatabase } from './sql-database.ts';

export interface Database extends SqlDatabase {
  /** Typed client for the management side. */
  prisma: PrismaClient;
}

/** The one pool of a process: the typed client and the set-based stores share it. */
export function createDatabase(options: DatabaseOptions): Database {
  const { database, pool } = openSqlDatabase(options);
  // Made on first use: a process without it saves 28 MB.
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
        // A longer error text repeats the arguments of the query, and errors are logged.
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
