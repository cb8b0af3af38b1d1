// Finds and creates persons in the ledger, and moves distinct IDs between them.

import { hash } from 'node:crypto';
import { type PersonState, type ProjectLedger, recordMergedPerson } from '../model/ledger.ts';

export function findPersonInLedger(distinctId: string, ledger: ProjectLedger): PersonState | null {
  const mapping = ledger.distinctIds.get(distinctId);
  return mapping === undefined ? null : (ledger.persons.get(mapping.personUuid) ?? null);
}

export function findOrCreatePerson(
  distinctId: string,
  createdAtMs: number,
  ledger: ProjectLedger,
): { person: PersonState; isCreated: boolean } {
  const known = findPersonInLedger(distinctId, ledger);
  if (known !== null) return { person: known, isCreated: false };
  return createPerson(distinctId, createdAtMs, ledger);
}

export function choosePersonUuid(distinctId: string, ledger: ProjectLedger): string {
  const deleted = ledger.deletedIds.get(distinctId);
  return deleted === undefined
    ? derivePersonUuid(ledger.projectId, distinctId)
    : personUuidAfterDeletion(deleted.deletionId, ledger.projectId, distinctId);
}

/**
 * Returns the first mapping version of an ID. After a deletion, it continues from the previous version, so that readers
 * can tell which mapping is newer.
 */
function firstVersion(distinctId: string, ledger: ProjectLedger): number {
  const deleted = ledger.deletedIds.get(distinctId);
  return deleted === undefined ? 0 : deleted.version + 1;
}

/**
 * Creates a person without properties for an ID that has no person. If the person that was once created from the ID
 * still exists without it (after manual changes), adds the ID to that person again.
 */
export function createPerson(
  distinctId: string,
  createdAtMs: number,
  ledger: ProjectLedger,
): { person: PersonState; isCreated: boolean } {
  const uuid = choosePersonUuid(distinctId, ledger);
  const unmapped = ledger.persons.get(uuid);
  if (unmapped !== undefined) {
    attachDistinctId(distinctId, unmapped, ledger);
    return { person: unmapped, isCreated: false };
  }
  const person: PersonState = {
    uuid,
    mainDistinctId: distinctId,
    properties: {},
    isIdentified: false,
    version: 0,
    createdAtMs,
    isNew: true,
    isDirty: true,
  };
  ledger.persons.set(person.uuid, person);
  ledger.distinctIds.set(distinctId, {
    personUuid: uuid,
    version: firstVersion(distinctId, ledger),
    isNew: true,
  });
  return { person, isCreated: true };
}

/**
 * Adds an ID that has no person to a person. The mapping version is 0 for the ID from which the person's UUID was
 * derived, and otherwise 1. Version 1 tells readers that earlier anonymous events of the ID have a different person
 * UUID (docs/ingestion-rules.md#anonymous-events).
 */
export function attachDistinctId(distinctId: string, person: PersonState, ledger: ProjectLedger): void {
  const isOrigin = person.uuid === choosePersonUuid(distinctId, ledger);
  const version = firstVersion(distinctId, ledger) + (isOrigin ? 0 : 1);
  ledger.distinctIds.set(distinctId, { personUuid: person.uuid, version, isNew: true });
}

/**
 * Removes a person and moves all its IDs to the surviving person. The store uses the recorded survivor and number of
 * moves to move IDs that are not in the ledger.
 */
export function moveDistinctIds(from: PersonState, to: PersonState, ledger: ProjectLedger): void {
  for (const mapping of ledger.distinctIds.values()) {
    if (mapping.personUuid !== from.uuid) continue;
    mapping.personUuid = to.uuid;
    mapping.version += 1;
  }
  for (const [uuid, survivor] of ledger.mergedPersons) {
    if (survivor === from.uuid) recordMergedPerson(ledger, uuid, to.uuid);
  }
  if (!from.isNew) recordMergedPerson(ledger, from.uuid, to.uuid);
  ledger.persons.delete(from.uuid);
}

/** The namespace of person UUIDs, which is the same in every installation, so that exports can be joined. */
const namespace = Buffer.from('932979b465c3442484670b66ec27bc22', 'hex');

/**
 * Returns the UUID of a person that is created from a distinct ID: the UUIDv5 of `<projectId>:<distinctId>`
 * (docs/ingestion-rules.md#person-properties). It is always the same, so that an event without a person can contain the
 * UUID that its ID would get.
 */
export function derivePersonUuid(projectId: number, distinctId: string): string {
  return uuidOf(namespace, projectId, distinctId);
}

/**
 * Returns the UUID of a person that is created from a distinct ID whose previous person was deleted. It differs from
 * the previous person's UUID.
 */
function personUuidAfterDeletion(deletionId: string, projectId: number, distinctId: string): string {
  return uuidOf(Buffer.from(deletionId.replaceAll('-', ''), 'hex'), projectId, distinctId);
}

function uuidOf(space: Buffer, projectId: number, distinctId: string): string {
  // Compute the hash with a single call, because a hash object takes five times as long and creates garbage.
  const digest = hash('sha1', Buffer.concat([space, Buffer.from(`${projectId}:${distinctId}`, 'utf8')]), 'hex');
  // RFC 9562: version 5 in the 13th digit, variant 10xx in the 17th digit.
  const variant = ((Number.parseInt(digest.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}
