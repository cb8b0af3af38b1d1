import type { Database, Transaction } from '@millrace/db';
import {
  deleteSome,
  deleteWarningsAbout,
  findPortionEnd,
  finishCleanup,
  forgetIds,
  type IdToForget,
  ingestedTables,
  lockCleanup,
  lockDeletion,
  noteDoneUntil,
  noteHorizons,
  noteProgress,
  type PersonDeletionRow,
  readIdsToForget,
  removeFromEvents,
  requestProjectRemoval,
  requestRemoval,
} from './store.ts';

/** Events, and ids, in one transaction: short enough to hold nobody up, long enough to get through. */
const portion = { events: 2000, ids: 100 };

/**
 * Removes a portion of what is left of one deleted person: its events or what they hold of it, warnings that name it, and
 * last the ids themselves. Whatever dies in between, the next portion begins where the last one ended. Touches no row the
 * consumer locks: persons and their ids were deleted with the request.
 *
 * @param isCopied their events are in another store too, and leave it after
 * @returns whether there may be more.
 */
export async function deletePersonData(
  database: Database,
  { isCopied = false, limit = portion }: { isCopied?: boolean; limit?: typeof portion } = {},
): Promise<boolean> {
  return database.transaction(async (tx) => {
    await noteHorizons(tx);
    const deletion = await lockDeletion(tx);
    if (deletion === undefined) return false;
    const ids = await readIdsToForget(tx, deletion, limit.ids);
    const { done, events } = await removeSome(tx, deletion, ids, limit.events);
    if (done.length > 0) {
      await deleteWarningsAbout(tx, deletion, done);
      if (isCopied) await requestRemoval(tx, deletion, done);
      await forgetIds(tx, deletion, done);
    }
    const isLast = done.length === ids.length && ids.length < limit.ids;
    await noteProgress(tx, deletion.id, {
      status: isLast ? 'completed' : 'running',
      delete_events: deletion.delete_events,
      events: Number(deletion.events) + events,
    });
    return true;
  });
}

/** Goes through the ids until the portion is full. @returns those of which no event is left, and how many events it took. */
async function removeSome(
  tx: Transaction,
  deletion: PersonDeletionRow,
  ids: IdToForget[],
  limit: number,
): Promise<{ done: string[]; events: number }> {
  const done: string[] = [];
  let events = 0;
  for (const one of ids) {
    if (events >= limit) break;
    const until = await findPortionEnd(tx, deletion, one, limit);
    events += await removeFromEvents(tx, deletion, { ...one, until });
    if (until === null) {
      done.push(one.distinct_id);
    } else {
      await noteDoneUntil(tx, deletion, { distinct_id: one.distinct_id, until });
      break;
    }
  }
  return { done, events };
}

/** Rows in one transaction: short enough to hold nobody up, long enough to get through. */
const rowsAtOnce = 2000;

/**
 * Deletes a portion of the ingested data of one deleted environment; the last portion takes the request away. Whatever
 * dies in between, the next portion begins where the last one ended.
 *
 * @returns whether there may be more.
 */
export async function cleanUp(
  database: Database,
  { isCopied = false, limit = rowsAtOnce }: { isCopied?: boolean; limit?: number } = {},
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const environmentId = await lockCleanup(tx);
    if (environmentId === undefined) return false;
    for (const table of ingestedTables) {
      if ((await deleteSome(tx, table, { environmentId, limit })) > 0) return true;
    }
    if (isCopied) await requestProjectRemoval(tx, environmentId);
    await finishCleanup(tx, environmentId);
    return true;
  });
}
