import type { Database } from '@millrace/db';
import { deleteSome, finishCleanup, ingestedTables, lockCleanup } from './cleanup-store.ts';

/** Rows in one transaction: short enough to hold nobody up, long enough to get through. */
const portion = 2000;

/**
 * Deletes a portion of the ingested data of one deleted environment; the last portion takes the request away. Whatever
 * dies in between, the next portion begins where the last one ended.
 *
 * @returns whether there may be more.
 */
export async function cleanUp(database: Database, limit = portion): Promise<boolean> {
  return database.transaction(async (tx) => {
    const environmentId = await lockCleanup(tx);
    if (environmentId === undefined) return false;
    for (const table of ingestedTables) {
      if ((await deleteSome(tx, table, { environmentId, limit })) > 0) return true;
    }
    await finishCleanup(tx, environmentId);
    return true;
  });
}
