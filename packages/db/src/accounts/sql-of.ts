import type { Sql } from '../sql-database.ts';
import type { AccountClient } from './account-client.ts';

/** The typed client or one of its transactions for stores that speak SQL. */
export function sqlOf(client: AccountClient): Sql {
  return { query: (text, values = []) => client.$queryRawUnsafe(text, ...values) };
}
