import type { Sql } from '@millrace/db';
import { countIdentityPages, deleteOldIdentities, findCommonEnd, listOwnEnds } from './retention-store.ts';

/** 8 MiB, some 150,000 identities, in one statement. */
const pagesAtOnce = 1000;

/**
 * Identities outlive their events by this long. Events this old are dropped by the consumer when they come again; should
 * somebody make a limit longer, what the log still holds of before must find its identities for a while.
 */
const graceDays = 30;

/**
 * Goes through the identities of events from end to end, some pages at a time, and deletes those whose events are not kept any
 * more. Where it is, it keeps in memory: who starts anew begins from the start, and two workers do each other no harm.
 */
export function createIdentityExpiry(sql: Sql, installationDays: number, pages = pagesAtOnce) {
  let fromPage = 0;
  /** @returns whether there is more of this round. */
  return async (): Promise<boolean> => {
    if (fromPage === 0 && !(await isAnythingLimited(sql, installationDays))) return false;
    await deleteOldIdentities(sql, { installationDays, graceDays }, { fromPage, pages });
    fromPage += pages;
    if (fromPage < (await countIdentityPages(sql))) return true;
    fromPage = 0;
    return false;
  };
}

async function isAnythingLimited(sql: Sql, installationDays: number): Promise<boolean> {
  if ((await findCommonEnd(sql, installationDays)) !== null) return true;
  return (await listOwnEnds(sql, installationDays)).length > 0;
}
