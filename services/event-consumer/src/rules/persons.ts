import { hash } from 'node:crypto';
import { noteMergedPerson, type PersonState, type ProjectLedger } from '../model/ledger.ts';

/** The person a distinct id belongs to, or null when it belongs to nobody. */
export function personOf(distinctId: string, ledger: ProjectLedger): PersonState | null {
  const mapping = ledger.distinctIds.get(distinctId);
  return mapping === undefined ? null : (ledger.persons.get(mapping.personUuid) ?? null);
}

/** The person of a distinct id, made if the id belongs to nobody yet. */
export function findOrCreatePerson(
  distinctId: string,
  createdAtMs: number,
  ledger: ProjectLedger,
): { person: PersonState; isCreated: boolean } {
  const known = personOf(distinctId, ledger);
  if (known !== null) return { person: known, isCreated: false };
  return createPerson(distinctId, createdAtMs, ledger);
}

/** The uuid of the person an id would create. */
export function newPersonUuid(distinctId: string, ledger: ProjectLedger): string {
  const deleted = ledger.deletedIds.get(distinctId);
  return deleted === undefined
    ? personUuid(ledger.projectId, distinctId)
    : personUuidAfterDeletion(deleted.deletionId, ledger.projectId, distinctId);
}

/** Versions of an id that was deleted go on counting, so that no reader takes the older mapping for the newer one. */
function firstVersion(distinctId: string, ledger: ProjectLedger): number {
  const deleted = ledger.deletedIds.get(distinctId);
  return deleted === undefined ? 0 : deleted.version + 1;
}

/**
 * A new person with this one id, which belongs to nobody, and no properties. If the person that the id once created
 * still exists without the id (rows were changed by hand), the id is given back to it.
 */
export function createPerson(
  distinctId: string,
  createdAtMs: number,
  ledger: ProjectLedger,
): { person: PersonState; isCreated: boolean } {
  const uuid = newPersonUuid(distinctId, ledger);
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
 * Adds an id that belongs to nobody to a person. The version is 0 for the id the person's uuid was made from, else 1:
 * events the id sent before without a person carry another uuid, and readers of the mapping can tell
 * (docs/ingestion-rules.md#anonymous-events).
 */
export function attachDistinctId(distinctId: string, person: PersonState, ledger: ProjectLedger): void {
  const isOrigin = person.uuid === newPersonUuid(distinctId, ledger);
  const version = firstVersion(distinctId, ledger) + (isOrigin ? 0 : 1);
  ledger.distinctIds.set(distinctId, { personUuid: person.uuid, version, isNew: true });
}

/**
 * Removes a person and gives all its ids to the survivor. Ids of it that are not in the ledger are moved by the store,
 * which finds the survivor and the number of moves here.
 */
export function moveDistinctIds(from: PersonState, to: PersonState, ledger: ProjectLedger): void {
  for (const mapping of ledger.distinctIds.values()) {
    if (mapping.personUuid !== from.uuid) continue;
    mapping.personUuid = to.uuid;
    mapping.version += 1;
  }
  for (const [uuid, survivor] of ledger.mergedPersons) {
    if (survivor === from.uuid) noteMergedPerson(ledger, uuid, to.uuid);
  }
  if (!from.isNew) noteMergedPerson(ledger, from.uuid, to.uuid);
  ledger.persons.delete(from.uuid);
}

/** Namespace of person uuids; shared by every installation, so that exports of two can be joined. */
const namespace = Buffer.from('932979b465c3442484670b66ec27bc22', 'hex');

/**
 * The uuid of the person a distinct id creates: UUIDv5 of `<projectId>:<distinctId>`
 * (docs/ingestion-rules.md#person-properties). Deterministic, so an event without a person names the one its distinct
 * id would get.
 */
export function personUuid(projectId: number, distinctId: string): string {
  return uuidOf(namespace, projectId, distinctId);
}

/** The uuid of the person a distinct id creates that came back after its person was deleted: not the deleted one's. */
function personUuidAfterDeletion(deletionId: string, projectId: number, distinctId: string): string {
  return uuidOf(Buffer.from(deletionId.replaceAll('-', ''), 'hex'), projectId, distinctId);
}

function uuidOf(space: Buffer, projectId: number, distinctId: string): string {
  // In one go, as an object for each hash costs five times as much and has to be collected.
  const digest = hash('sha1', Buffer.concat([space, Buffer.from(`${projectId}:${distinctId}`, 'utf8')]), 'hex');
  // RFC 9562: version 5 in the 13th digit, variant 10xx in the 17th.
  const variant = ((Number.parseInt(digest.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}
