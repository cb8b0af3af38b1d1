import { type Database, deletePersons, ownersOf } from '@millrace/db';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';

/** Merges that come in between move an id once more; nobody merges the same people over and over. */
const maxRounds = 5;

export interface DeletionContext {
  caller: Caller;
  target: AddressedProject;
  deletesEvents: boolean;
}

/**
 * Deletes persons by their uuids, and those whom distinct ids belong to: also the one an id was merged into while this
 * waited, in a transaction of its own, so that locks keep their order. @returns how many persons.
 */
export async function deletePersonsNow(
  { sql, transaction }: Pick<Database, 'sql' | 'transaction'>,
  { uuids, distinctIds }: { uuids: string[]; distinctIds: string[] },
  { caller, target, deletesEvents }: DeletionContext,
): Promise<number> {
  const projectId = target.environmentId;
  const deleteOnce = async (wanted: string[]) => {
    const deleted = await transaction((tx) =>
      deletePersons(tx, {
        projectId,
        organizationId: target.organizationId,
        uuids: wanted,
        deletesEvents,
        actor: { userId: caller.userId },
      }),
    );
    return deleted.length;
  };
  let count = uuids.length > 0 ? await deleteOnce([...new Set(uuids)]) : 0;
  if (distinctIds.length === 0) return count;
  for (let round = 1; round <= maxRounds; round += 1) {
    const owners = await ownersOf(sql, projectId, distinctIds);
    if (owners.length === 0) break;
    count += await deleteOnce(owners);
  }
  return count;
}
