import { hash } from 'node:crypto';

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
export function personUuidAfterDeletion(deletionId: string, projectId: number, distinctId: string): string {
  return uuidOf(Buffer.from(deletionId.replaceAll('-', ''), 'hex'), projectId, distinctId);
}

function uuidOf(space: Buffer, projectId: number, distinctId: string): string {
  // In one go, as an object for each hash costs five times as much and has to be collected.
  const digest = hash('sha1', Buffer.concat([space, Buffer.from(`${projectId}:${distinctId}`, 'utf8')]), 'hex');
  // RFC 9562: version 5 in the 13th digit, variant 10xx in the 17th.
  const variant = ((Number.parseInt(digest.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}
