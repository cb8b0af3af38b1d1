import { randomUUID } from 'node:crypto';
import { membershipLevels } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { isMember } from '../members/member-store.ts';
import { grantableLevels } from './grantable-levels-store.ts';
import { deleteInvite, findPendingInvite, insertInvite } from './invite-store.ts';
import { hashInviteToken, isInviteExpired, newInviteToken } from './invite-validity.ts';
import { type InvitingKey, requireFullReach } from './inviting-key.ts';
import { checkGrants, combineGrants, type ProjectGrant, parseProjectGrants } from './project-grants.ts';

/** The user who invites, and what limits them. */
export interface Inviter {
  organizationId: string;
  userId: number;
  /** The inviter's own in the organization. It is locked, so that two requests cannot invite the same person at once. */
  level: number;
  key: InvitingKey;
}

export interface NewInvite {
  targetEmail: string;
  firstName?: string | undefined;
  /** 1 by default. */
  level?: number | undefined;
  message?: string | null | undefined;
  /** Access to private projects, checked by `parseProjectGrants`. */
  privateProjectAccess?: unknown;
  /** True by default. */
  sendEmail?: boolean | undefined;
  /** Whether what a pending invite of the same person grants counts on; false by default. */
  combinePendingInvites?: boolean | undefined;
}

/** What an invite gives. */
interface Granted {
  level: number;
  grants: ProjectGrant[] | null;
}

/** An invite that was made, with the secret that goes into its mail and is kept nowhere. */
export interface CreatedInvite {
  id: string;
  token: string;
  targetEmail: string;
  emailKey: string;
}

/**
 * Makes one invite (docs/api-rules.md#invites); an earlier one of the same person is replaced.
 *
 * @throws AppError `invalid` naming the field, `forbidden` for more than the inviter and the key used can do themselves.
 */
export async function createInvite(
  tx: Transaction,
  inviter: Inviter,
  { invite, now }: { invite: NewInvite; now: Date },
): Promise<CreatedInvite> {
  const { organizationId } = inviter;
  const asked = {
    level: invite.level ?? membershipLevels.member,
    grants: parseProjectGrants(invite.privateProjectAccess),
  };
  await requirePowers(tx, inviter, asked);
  const targetEmail = withLowerCaseDomain(invite.targetEmail);
  const emailKey = targetEmail.toLowerCase();
  if (await isMember(tx, organizationId, emailKey)) {
    throw new AppError('invalid', 'A user with this email address already belongs to the organization.', {
      code: 'invalid_input',
    });
  }
  const granted = await replacePending(tx, organizationId, { emailKey, asked, invite, now });
  // What somebody else has promised counts on only if this inviter could promise it too.
  if (granted !== asked) await requirePowers(tx, inviter, granted);
  const token = newInviteToken();
  // Random, not time-ordered: an id must not be guessed from another one.
  const id = randomUUID();
  await insertInvite(tx, {
    id,
    organizationId,
    targetEmail,
    emailKey,
    firstName: invite.firstName ?? '',
    ...granted,
    createdById: inviter.userId,
    message: invite.message ?? null,
    sendEmail: invite.sendEmail ?? true,
    combinePendingInvites: invite.combinePendingInvites ?? false,
    tokenHash: hashInviteToken(token),
    key: inviter.key,
  });
  return { id, token, targetEmail, emailKey };
}

async function requirePowers(tx: Transaction, inviter: Inviter, { level, grants }: Granted): Promise<void> {
  if (grants) checkGrants(grants, await grantableLevels(tx, inviter));
  if (level > inviter.level) {
    throw new AppError('forbidden', 'You cannot invite a user with a higher permission level than your own.');
  }
  requireFullReach(inviter.key, Math.max(level, ...(grants ?? []).map((grant) => grant.level)));
}

/** Removes the invite the person has already; what it granted counts on, if that is wished and it is still valid. */
async function replacePending(
  tx: Transaction,
  organizationId: string,
  { emailKey, asked, invite, now }: { emailKey: string; asked: Granted; invite: NewInvite; now: Date },
): Promise<Granted> {
  const pending = await findPendingInvite(tx, organizationId, emailKey);
  if (!pending) return asked;
  await deleteInvite(tx, pending.id, organizationId);
  if (!invite.combinePendingInvites || isInviteExpired(pending, now)) return asked;
  const grants = combineGrants(asked.grants ?? [], pending.private_project_access ?? []);
  return { level: Math.max(asked.level, pending.level), grants: grants.length > 0 ? grants : null };
}

function withLowerCaseDomain(address: string): string {
  const at = address.lastIndexOf('@');
  return address.slice(0, at) + address.slice(at).toLowerCase();
}
