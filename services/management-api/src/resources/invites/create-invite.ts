import { randomUUID } from 'node:crypto';
import {
  deleteInvite,
  findPendingInvite,
  hashInviteToken,
  insertInvite,
  isInviteExpired,
  type LockedOrganization,
  newInviteToken,
} from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { Static } from 'typebox';
import { isMember } from '../members/member-store.ts';
import { grantableLevels } from './grantable-levels-store.ts';
import type { newInvite } from './invite-schema.ts';
import { type InvitingKey, requireFullReach } from './inviting-key.ts';
import { checkGrants, combineGrants, type ProjectGrant, parseProjectGrants } from './project-grants.ts';

export type NewInvite = Static<typeof newInvite>;

export interface Inviter {
  userId: number;
  /** The inviter's own level. */
  level: number;
  key: InvitingKey;
  /** Held by the transaction, so that two requests cannot invite the same person at once. */
  organization: LockedOrganization;
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
  const { organization } = inviter;
  const asked = {
    level: invite.level ?? membershipLevels.member,
    grants: parseProjectGrants(invite.private_project_access),
  };
  await requirePowers(tx, inviter, asked);
  const targetEmail = withLowerCaseDomain(invite.target_email);
  const emailKey = targetEmail.toLowerCase();
  if (await isMember(tx, organization.id, emailKey)) {
    throw new AppError('invalid', 'A user with this email address already belongs to the organization.', {
      code: 'invalid_input',
    });
  }
  const granted = await replacePending(tx, organization.id, { emailKey, asked, invite, now });
  // What somebody else has promised counts on only if this inviter could promise it too.
  if (granted !== asked) await requirePowers(tx, inviter, granted);
  const token = newInviteToken();
  // Random, not time-ordered: an id must not be guessed from another one.
  const id = randomUUID();
  await insertInvite(tx, {
    id,
    organizationId: organization.id,
    targetEmail,
    emailKey,
    firstName: invite.first_name ?? '',
    ...granted,
    createdById: inviter.userId,
    message: invite.message ?? null,
    sendEmail: invite.send_email ?? true,
    combinePendingInvites: invite.combine_pending_invites ?? false,
    tokenHash: hashInviteToken(token),
    key: inviter.key,
  });
  return { id, token };
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
  if (!invite.combine_pending_invites || isInviteExpired(pending, now)) return asked;
  const grants = combineGrants(asked.grants ?? [], pending.private_project_access ?? []);
  return { level: Math.max(asked.level, pending.level), grants: grants.length > 0 ? grants : null };
}

function withLowerCaseDomain(address: string): string {
  const at = address.lastIndexOf('@');
  return address.slice(0, at) + address.slice(at).toLowerCase();
}
