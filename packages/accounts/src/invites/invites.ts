/** Lists and revokes pending invites, and checks their expiry and secrets. */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Sql, Transaction } from '@millrace/db';
import { type Actor, recordActivity } from '../activity/record-activity.ts';
import { isUuid, notFound } from '../input.ts';
import { deleteInvite, type Invite, selectInvites } from './invite-store.ts';

/** Lists an organization's pending invites, newest first, including expired ones. */
export async function listInvites(sql: Sql, filter: { organizationId: string }): Promise<Invite[]> {
  return selectInvites(sql, filter.organizationId);
}

/**
 * Revokes an invite, so that it can no longer be accepted.
 * @param organizationId the organization that the invite must belong to. By default, any organization.
 * @throws AppError `not_found`.
 */
export async function revokeInvite(
  tx: Transaction,
  { inviteId, organizationId = null, actor }: { inviteId: string; organizationId?: string | null; actor: Actor },
): Promise<Invite> {
  const revoked = isUuid(inviteId) ? await deleteInvite(tx, inviteId, organizationId) : undefined;
  if (!revoked) throw notFound('Invite');
  await recordActivity(tx, {
    organizationId: revoked.organization_id,
    scope: 'OrganizationInvite',
    itemId: revoked.id,
    activity: 'deleted',
    actor,
    name: revoked.target_email,
  });
  return revoked;
}

const validityMs = 3 * 24 * 60 * 60 * 1000;

interface Validity {
  created_at: Date;
  /** Expiry time of the key that created the invite, or null if the key does not expire. */
  key_expires_at: Date | null;
}

export function isInviteExpired(invite: Validity, now: Date): boolean {
  return getInviteExpiry(invite) < now;
}

/** Returns when an invite expires: after three days (docs/api/invites.md), or earlier if its creator's key expires. */
export function getInviteExpiry({ created_at: createdAt, key_expires_at: keyExpiresAt }: Validity): Date {
  const end = createdAt.getTime() + validityMs;
  return new Date(keyExpiresAt ? Math.min(end, keyExpiresAt.getTime()) : end);
}

/**
 * How a person got the secret of an invite: `mailed` by email, which verifies the address, or `shown` by the creator of
 * the invite.
 */
export type InviteSecretKind = 'mailed' | 'shown';

/**
 * Creates two secrets for an invite. The invite's ID cannot be used as a secret, because members can see it. The mailed
 * secret has 256 random bits. The shown secret is the digest of the mailed secret and does not reveal it. A single
 * stored digest is enough to check both secrets.
 */
export function newInviteSecrets(): { mailed: string; shown: string; hash: string } {
  const mailed = randomBytes(32).toString('base64url');
  const publicDigest = digest(mailed).toString('base64url');
  return { mailed, shown: publicDigest, hash: digest(publicDigest).toString('hex') };
}

/** Returns which of an invite's two secrets matches the given secret, or null if neither matches. */
export function findInviteSecretKind(invite: { token_hash: string }, secret: string): InviteSecretKind | null {
  const stored = Buffer.from(invite.token_hash, 'hex');
  const givenDigest = digest(secret);
  if (timingSafeEqual(givenDigest, stored)) return 'shown';
  return timingSafeEqual(digest(givenDigest.toString('base64url')), stored) ? 'mailed' : null;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
