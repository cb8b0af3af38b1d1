import type { Prisma } from './generated/client.ts';
import type { Sql } from './sql-database.ts';

/** The typed client or one of its transactions for stores that speak SQL. */
export function sqlOf(client: Prisma.TransactionClient): Sql {
  return { query: (text, values = []) => client.$queryRawUnsafe(text, ...values) };
}
