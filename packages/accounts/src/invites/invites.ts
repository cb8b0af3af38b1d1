/** Open invites: which there are, how long they can be accepted, and how they are withdrawn. */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Sql, Transaction } from '@millrace/db';
import { type Actor, recordActivity } from '../activity/record-activity.ts';
import { isUuid, notFound } from '../input.ts';
import { deleteInvite, type Invite, selectInvites } from './invite-store.ts';

/** Invites of an organization that nobody has accepted, expired ones included, the newest first. */
export async function listInvites(sql: Sql, filter: { organizationId: string }): Promise<Invite[]> {
  return selectInvites(sql, filter.organizationId);
}

/**
 * Withdraws an invite: it can no longer be accepted.
 * @param organizationId the one it must belong to; any unless told.
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
  /** When the key ends that made the invite; null for never. */
  key_expires_at: Date | null;
}

export function isInviteExpired(invite: Validity, now: Date): boolean {
  return inviteExpiresAt(invite) < now;
}

/** An invite can be accepted for three days (docs/api/invites.md), and no longer than its maker's key works. */
export function inviteExpiresAt({ created_at: createdAt, key_expires_at: keyExpiresAt }: Validity): Date {
  const end = createdAt.getTime() + validityMs;
  return new Date(keyExpiresAt ? Math.min(end, keyExpiresAt.getTime()) : end);
}

/** How somebody got the secret of an invite: by the mail, which proves the address, or from whoever made the invite. */
export type InviteSecretKind = 'mailed' | 'shown';

/**
 * Two secrets of an invite, 256 random bits; members can see its id, so the id proves nothing. The one that is shown is the
 * digest of the one that is mailed: whoever is shown it does not know the other, and one digest is stored for both.
 */
export function newInviteSecrets(): { mailed: string; shown: string; hash: string } {
  const mailed = randomBytes(32).toString('base64url');
  const shown = digest(mailed).toString('base64url');
  return { mailed, shown, hash: digest(shown).toString('hex') };
}

/** Which of its secrets somebody has; null for none. */
export function inviteSecretKind(invite: { token_hash: string }, secret: string): InviteSecretKind | null {
  const stored = Buffer.from(invite.token_hash, 'hex');
  const given = digest(secret);
  if (timingSafeEqual(given, stored)) return 'shown';
  return timingSafeEqual(digest(given.toString('base64url')), stored) ? 'mailed' : null;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
