import type { DistinctIdState, Ledger, ProjectLedger } from '../model/ledger.ts';
import { type LoadedLedger, storedPersonKey } from './load-ledger.ts';
import type { TouchedByBatch } from './touched-by-batch.ts';

/**
 * Changes a loaded ledger into what it will be when an earlier batch of this process is committed. That batch has
 * decided (`earlier`) and is still being written: its persons and mappings replace older ones. It may be committed by
 * now, and what was read may even be newer than what it decided; the versions tell.
 *
 * Only what the ids of this batch lead to is taken over. All of it counts as stored, so this batch must not be written
 * before the other one is committed.
 */
export function buildOn(earlier: Ledger, loaded: LoadedLedger, touched: TouchedByBatch): void {
  for (const { projectId, distinctId } of touched.distinctIds.values()) {
    const theirs = earlier.projects.get(projectId);
    const ours = loaded.ledger.projects.get(projectId);
    if (theirs === undefined || ours === undefined) continue;
    const mapping = mappingAfter(theirs, distinctId, ours.distinctIds.get(distinctId));
    if (mapping === undefined) continue;
    ours.distinctIds.set(distinctId, mapping);
    takePerson(mapping.personUuid, theirs, ours, loaded);
  }
  for (const [projectId, { mergedPersons }] of earlier.projects) {
    for (const uuid of mergedPersons.keys()) {
      loaded.ledger.projects.get(projectId)?.persons.delete(uuid);
      loaded.stored.delete(storedPersonKey(projectId, uuid));
    }
  }
}

function mappingAfter(
  theirs: ProjectLedger,
  distinctId: string,
  read: DistinctIdState | undefined,
): DistinctIdState | undefined {
  const decided = theirs.distinctIds.get(distinctId);
  if (decided !== undefined && (read === undefined || decided.version > read.version)) {
    return { ...decided, isNew: false };
  }
  // An id that batch never named moves with its person (ledger-store.ts, moveMappings).
  const survivor = read === undefined ? undefined : theirs.mergedPersons.get(read.personUuid);
  if (read === undefined || survivor === undefined) return read;
  const moves = theirs.mergedPersonMoves.get(read.personUuid) ?? 1;
  return { personUuid: survivor, version: read.version + moves, isNew: false };
}

function takePerson(uuid: string, theirs: ProjectLedger, ours: ProjectLedger, loaded: LoadedLedger): void {
  const decided = theirs.persons.get(uuid);
  const read = ours.persons.get(uuid);
  if (decided === undefined || (read !== undefined && decided.version <= read.version)) return;
  const { projectId } = ours;
  // The other batch has not written it yet.
  ours.persons.set(uuid, { ...decided, areShared: true, isNew: false, isDirty: false });
  loaded.stored.set(storedPersonKey(projectId, uuid), { projectId, uuid, version: decided.version });
}
