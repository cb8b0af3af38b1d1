import { createOneTimeLink } from '@millrace/accounts';
import { createSqlDatabase } from '@millrace/db/sql';
import { createLogger } from '@millrace/runtime';

/**
 * Creates a sign-in link as `millrace console-link` does, and returns the link's secret.
 * @param databaseUrl the URL of a migrated database
 */
export async function createConsoleLink(databaseUrl: string, userId: number): Promise<string> {
  const database = createSqlDatabase({ url: databaseUrl, logger: createLogger('testing', 'warn'), poolSize: 1 });
  try {
    return await database.transaction(async (tx) => (await createOneTimeLink(tx, { kind: 'sign_in', userId })).secret);
  } finally {
    await database.stop();
  }
}
