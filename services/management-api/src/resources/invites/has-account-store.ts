import type { Sql } from '@millrace/db';

/** Whether there is an account with this address (in lower case). */
export async function hasAccount(sql: Sql, email: string): Promise<boolean> {
  return (await sql.query('SELECT 1 FROM "user" WHERE email = $1', [email])).length > 0;
}
