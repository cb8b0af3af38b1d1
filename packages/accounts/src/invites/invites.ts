/** Open invites: which there are, how long they can be accepted, and how they are withdrawn. */

import { createHash, randomBytes } from 'node:crypto';
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

/** An invite can be accepted for three days (docs/api-rules.md#invites), and no longer than its maker's key works. */
export function inviteExpiresAt({ created_at: createdAt, key_expires_at: keyExpiresAt }: Validity): Date {
  const end = createdAt.getTime() + validityMs;
  return new Date(keyExpiresAt ? Math.min(end, keyExpiresAt.getTime()) : end);
}

/** The secret that is mailed: 256 random bits. Members can see an invite's id, so the id proves nothing. */
export function newInviteToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What is stored of the secret. */
export function hashInviteToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}
