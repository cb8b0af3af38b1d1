import type { Sql } from '@millrace/db';
import { deleteAncientEvents, deleteOldEvents, findCommonEnd, listOwnEnds } from './retention-store.ts';

/** Rows in one statement: short enough to hold nobody up. */
const portion = 2000;

/** From here on there is a partition for each month, which is dropped as a whole (`dropMonths`). */
const firstMonth = new Date('2015-01-01T00:00:00Z');

/**
 * Deletes a portion of the events that are not kept any more and do not go with their month: those an environment keeps
 * for a shorter time than the others, to the day, and those from before 2015.
 *
 * @param installationDays how long events are kept at most; 0: for ever.
 * @returns whether there may be more.
 */
export async function expireEvents(sql: Sql, installationDays: number, limit = portion): Promise<boolean> {
  const commonEnd = await findCommonEnd(sql, installationDays);
  if (commonEnd !== null && commonEnd >= firstMonth && (await deleteAncientEvents(sql, limit)) > 0) return true;
  for (const end of await listOwnEnds(sql, installationDays)) {
    if ((await deleteOldEvents(sql, end, limit)) > 0) return true;
  }
  return false;
}
