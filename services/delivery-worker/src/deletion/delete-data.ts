// Deletes the data of deleted persons and environments in batches.

import type { Database, Transaction } from '@millrace/db';
import {
  deleteSomeRows,
  deleteWarningsAbout,
  findPortionEnd,
  finishCleanup,
  hashDeletedIds,
  type IdToDelete,
  ingestedTables,
  lockCleanup,
  lockDeletion,
  type PersonDeletionRow,
  readIdsToDelete,
  recordOpenTransactions,
  removePersonFromEvents,
  requestProjectRemoval,
  requestRemoval,
  saveDeletionProgress,
  saveDoneUntil,
} from './store.ts';

/** Maximum rows per transaction: small enough not to delay other transactions, and large enough to make progress. */
const portion = { events: 2000, ids: 100 };

/**
 * Deletes one batch of a deleted person's remaining data: first events and personal data, then warnings that name the
 * person, and finally the IDs. After an interruption, the next call continues where the last one ended. It uses no rows
 * that the consumer locks, because the request has already deleted the person and the person's IDs.
 * @param isCopied true if events are also copied to another store, from which they must be removed too
 * @returns whether more data may remain
 */
export async function deletePersonData(
  database: Database,
  { isCopied = false, limit = portion }: { isCopied?: boolean; limit?: typeof portion } = {},
): Promise<boolean> {
  return database.transaction(async (tx) => {
    await recordOpenTransactions(tx);
    const deletion = await lockDeletion(tx);
    if (deletion === undefined) return false;
    const ids = await readIdsToDelete(tx, deletion, limit.ids);
    const { done, events } = await removeSome(tx, deletion, ids, limit.events);
    if (done.length > 0) {
      await deleteWarningsAbout(tx, deletion, done);
      if (isCopied) await requestRemoval(tx, deletion, done);
      await hashDeletedIds(tx, deletion, done);
    }
    const isLast = done.length === ids.length && ids.length < limit.ids;
    await saveDeletionProgress(tx, deletion.id, {
      status: isLast ? 'completed' : 'running',
      delete_events: deletion.delete_events,
      events: Number(deletion.events) + events,
    });
    return true;
  });
}

/**
 * Removes the data of one ID after another until it has processed `limit` events.
 * @returns the IDs without remaining events, and the number of processed events
 */
async function removeSome(
  tx: Transaction,
  deletion: PersonDeletionRow,
  ids: IdToDelete[],
  limit: number,
): Promise<{ done: string[]; events: number }> {
  const done: string[] = [];
  let events = 0;
  for (const one of ids) {
    if (events >= limit) break;
    const until = await findPortionEnd(tx, deletion, one, limit);
    events += await removePersonFromEvents(tx, deletion, { ...one, until });
    if (until === null) {
      done.push(one.distinct_id);
    } else {
      await saveDoneUntil(tx, deletion, { distinct_id: one.distinct_id, until });
      break;
    }
  }
  return { done, events };
}

/** Maximum rows per transaction: small enough not to delay other transactions, and large enough to make progress. */
const rowsAtOnce = 2000;

/**
 * Deletes one batch of a deleted environment's ingested data. The last batch also deletes the request. After an
 * interruption, the next call continues where the last one ended.
 * @returns whether more data may remain
 */
export async function deleteEnvironmentData(
  database: Database,
  { isCopied = false, limit = rowsAtOnce }: { isCopied?: boolean; limit?: number } = {},
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const environmentId = await lockCleanup(tx);
    if (environmentId === undefined) return false;
    for (const table of ingestedTables) {
      if ((await deleteSomeRows(tx, table, { environmentId, limit })) > 0) return true;
    }
    if (isCopied) await requestProjectRemoval(tx, environmentId);
    await finishCleanup(tx, environmentId);
    return true;
  });
}
