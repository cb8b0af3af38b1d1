import { randomUUID } from 'node:crypto';
import { AppError } from '@millrace/runtime';
import type { Sql } from '../transaction.ts';
import {
  findOwnIds,
  insertSplitPersons,
  lockPerson,
  moveSplitIds,
  readDistinctIds,
  type SplitOff,
  updateSplitPerson,
} from './split-person-store.ts';

export type { SplitOff } from './split-person-store.ts';

/** How many distinct ids one split moves at most. */
export const maxSplits = 1000;

/** Which distinct ids leave the person: those named, or all but the main one, which is the person's own unless given. */
export type SplitSelection = { distinctIdsToSplit: string[] } | { mainDistinctId: string | undefined };

/**
 * Undoes merges: gives each of the selected distinct ids a new person without properties. The person keeps its uuid, its
 * properties and its other distinct ids.
 *
 * The new persons have random uuids, because the uuid that a distinct id would create may be the person's own, or that of a person
 * who was deleted. Takes the locks of the person, of the new persons and of their mappings, in the order of the consumer
 * (services/event-consumer/src/ledger/store.ts). A merge in progress is waited for, and what a batch decided about the person
 * before the split is decided again, because the version of the person rises.
 *
 * @param tx the transaction of the change.
 * @returns the moved distinct ids; empty when only the main one is left.
 * @throws AppError `not_found` when the person does not exist any more, `invalid` for distinct ids of others.
 */
export async function splitPerson(
  tx: Sql,
  { projectId, uuid }: { projectId: number; uuid: string },
  selection: SplitSelection,
): Promise<SplitOff[]> {
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
  /** Of the person afterwards. */
  mainDistinctId: string;
}

async function namedIds(
  { tx, projectId, uuid, mainNow }: LockedPerson,
  { distinctIdsToSplit }: { distinctIdsToSplit: string[] },
): Promise<Split> {
  const attr = 'distinct_ids_to_split';
  const moved = [...new Set(distinctIdsToSplit)];
  const own = await findOwnIds(tx, projectId, { uuid, distinctIds: moved });
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
  const own = await findOwnIds(tx, projectId, { uuid, distinctIds: [mainDistinctId] });
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
