// Splits a person by moving some of its distinct IDs to new persons.

import { randomUUID } from 'node:crypto';
import { AppError } from '@millrace/runtime';
import type { Sql } from '../transaction.ts';
import {
  findOwnDistinctIds,
  insertSplitPersons,
  lockPerson,
  moveSplitIds,
  readDistinctIds,
  type SplitDistinctId,
  updateSplitPerson,
} from './split-person-store.ts';

export type { SplitDistinctId } from './split-person-store.ts';

export const maxSplits = 1000;

/**
 * The distinct IDs to move: either the listed ones, or all except the main one. If the main distinct ID is undefined,
 * the person keeps its current one.
 */
export type SplitSelection = { distinctIdsToSplit: string[] } | { mainDistinctId: string | undefined };

/**
 * Reverts merges: each selected distinct ID gets a new person without properties. The original person keeps its UUID,
 * its properties and its other distinct IDs. The new persons have random UUIDs, because the UUID derived from a
 * distinct ID may belong to the original person or to a deleted person.
 *
 * Locks the person, the new persons and their distinct IDs in the same order as the consumer
 * (services/event-consumer/src/ledger/store.ts). Waits for a merge in progress. A consumer batch that read the person
 * before the split starts over, because the person's version increases.
 *
 * @param tx the transaction of the change
 * @returns the moved distinct IDs, or an empty array if the person has only the main ID
 * @throws AppError `not_found` if the person no longer exists, or `invalid` if a distinct ID belongs to a different
 * person
 */
export async function splitPerson(
  tx: Sql,
  { projectId, uuid }: { projectId: number; uuid: string },
  selection: SplitSelection,
): Promise<SplitDistinctId[]> {
  const person = await lockPerson(tx, projectId, uuid);
  if (person === undefined) throw new AppError('not_found', 'Not found.');
  const at = { tx, projectId, uuid, mainNow: person.main_distinct_id };
  const { moved, mainDistinctId } =
    'distinctIdsToSplit' in selection ? await namedIds(at, selection) : await allButMain(at, selection);
  if (moved.length === 0) return [];
  const splits = moved.map((distinct_id) => ({ distinct_id, uuid: randomUUID() }));
  await insertSplitPersons(tx, projectId, { splits, createdAt: person.created_at });
  await moveSplitIds(tx, projectId, { splits, from: uuid });
  await updateSplitPerson(tx, projectId, { uuid, mainDistinctId });
  return splits;
}

interface LockedPerson {
  tx: Sql;
  projectId: number;
  uuid: string;
  mainNow: string;
}

interface Split {
  moved: string[];
  mainDistinctId: string;
}

async function namedIds(
  { tx, projectId, uuid, mainNow }: LockedPerson,
  { distinctIdsToSplit }: { distinctIdsToSplit: string[] },
): Promise<Split> {
  const attr = 'distinct_ids_to_split';
  const moved = [...new Set(distinctIdsToSplit)];
  const own = await findOwnDistinctIds(tx, projectId, { uuid, distinctIds: moved });
  const foreign = moved.filter((id) => !own.has(id));
  if (foreign.length > 0) {
    const shown = foreign.slice(0, 10).map((id) => JSON.stringify(id));
    throw new AppError('invalid', `These distinct IDs do not belong to the person: ${shown.join(', ')}.`, { attr });
  }
  const some = await readDistinctIds(tx, projectId, { uuid, limit: moved.length + 1 });
  const other = some.find((id) => !own.has(id));
  if (other === undefined) {
    throw new AppError('invalid', 'The person must keep at least one of its distinct IDs.', { attr });
  }
  return { moved, mainDistinctId: own.has(mainNow) ? other : mainNow };
}

async function allButMain(
  { tx, projectId, uuid, mainNow }: LockedPerson,
  { mainDistinctId = mainNow }: { mainDistinctId: string | undefined },
): Promise<Split> {
  const own = await findOwnDistinctIds(tx, projectId, { uuid, distinctIds: [mainDistinctId] });
  if (!own.has(mainDistinctId)) {
    throw new AppError('invalid', 'This distinct ID does not belong to the person.', { attr: 'main_distinct_id' });
  }
  const ids = await readDistinctIds(tx, projectId, { uuid, limit: maxSplits + 2 });
  const moved = ids.filter((id) => id !== mainDistinctId);
  if (moved.length > maxSplits) {
    const detail = `The person has more than ${maxSplits + 1} distinct IDs. List up to ${maxSplits} of them in \`distinct_ids_to_split\`, then repeat the request.`;
    throw new AppError('invalid', detail, { attr: 'distinct_ids_to_split' });
  }
  return { moved, mainDistinctId };
}
