import { type LoadedLedger, storedPersonKey } from './load-ledger.ts';

/**
 * Removes deleted persons from a loaded ledger: those that were deleted after they were read, or that an earlier batch
 * under way had read before. Their ids belong to nobody then. What another batch has changed about such a person was
 * not committed: the deletion holds the person's lock.
 */
export function forgetDeleted({ ledger, stored }: LoadedLedger): void {
  for (const project of ledger.projects.values()) {
    for (const [distinctId, { personUuid }] of project.deletedIds) {
      if (project.distinctIds.get(distinctId)?.personUuid !== personUuid) continue;
      project.distinctIds.delete(distinctId);
      project.persons.delete(personUuid);
      stored.delete(storedPersonKey(project.projectId, personUuid));
    }
  }
}
