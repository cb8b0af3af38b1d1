import { type LoadedLedger, storedPersonKey } from './load-ledger.ts';

/**
 * Takes deleted persons out of a loaded ledger: one that was deleted after it was read, or that another batch under way
 * read before, is not there any more. Its ids belong to nobody then. What another batch has changed about it was not
 * committed: the deletion holds the person's lock.
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
