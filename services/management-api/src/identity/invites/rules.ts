// Checks whether invites can be sent and accepted.

import {
  type AcceptedInvite,
  acceptInvite,
  createInvites,
  findInviteSecretKind,
  getOrganization,
  getUser,
  type Inviter,
  type InviteSecretKind,
  type NewInvite,
  restrictUnverifiedAccount,
} from '@millrace/accounts';
import type { Database, Transaction } from '@millrace/db';
import { parseInput } from '@millrace/http';
import { AppError, isAppError } from '@millrace/runtime';
import { type Caller, hasLimitedReach, type Membership } from '../../access/caller.ts';
import type { InviteMailing } from './mailing.ts';
import { type InviteBody, newInvite, toInvite } from './schema.ts';
import { findInvites } from './store.ts';

interface InviteMembersInput {
  caller: Caller;
  membership: Membership;
  invites: InviteBody[];
  /** Whether the request body is a list. If so, errors identify the list element. */
  isBulk: boolean;
}

/**
 * Creates all invites or none, and then sends their emails (docs/api/invites.md).
 * @returns the invites after the attempts to send emails, in the order of the request. If an email address is invited
 *   twice, only its last invite is included. For a session, the response contains the secret of each invite. With this
 *   secret, a user can create an account with a password, which can do more than an account created by an invite from a
 *   key (docs/decisions/026-accounts.md).
 */
export async function inviteMembers(
  { transaction, inviteMailing }: Pick<Database, 'transaction'> & { inviteMailing: InviteMailing },
  { caller, membership, invites, isBulk }: InviteMembersInput,
) {
  const now = new Date();
  const { userId } = caller;
  const { organizationId } = membership;
  const inviter = { organizationId, userId, key: invitingKeyOf(caller) };
  const { organization, createdInvites } = await transaction(async (tx) => {
    const { organization, created } = await createInvites(tx, inviter, {
      invites: invites.map(toNewInvite),
      now,
      explain: (index, error) => (isBulk ? ofElement(index, error, 'target_email') : error),
    });
    const secrets = new Map(created.map(({ id, secrets }) => [id, secrets]));
    const rows = await findInvites(tx, userId, [...secrets.keys()]);
    return {
      organization,
      createdInvites: rows.map((row) => ({ row, ...(secrets.get(row.id) ?? { mailed: '', shown: '' }) })),
    };
  });
  const mailable = createdInvites.map(({ row, mailed: token }) => ({ row, token }));
  const attempted = await inviteMailing.send(mailable, organization);
  return createdInvites.map(({ row, shown }) => ({
    ...toInvite({ ...row, mail_error: attempted.get(row.id) ?? null }, now),
    emailing_attempt_made: attempted.has(row.id),
    ...(caller.credential.kind === 'session' && { token: shown }),
  }));
}

function toNewInvite(body: InviteBody): NewInvite {
  return {
    targetEmail: body.target_email,
    firstName: body.first_name,
    level: body.level,
    message: body.message,
    privateProjectAccess: body.private_project_access,
    sendEmail: body.send_email,
    combinePendingInvites: body.combine_pending_invites,
  };
}

function invitingKeyOf(caller: Caller): Inviter['key'] {
  // A session's expiry does not limit invites, or any other record that a session creates.
  const { credential } = caller;
  const expiresAt = credential.kind === 'key' ? credential.expiresAt : null;
  return { scopes: caller.scopes, isLimited: hasLimitedReach(caller), expiresAt };
}

const maxInvites = 20;

/**
 * Parses the body of a bulk request: one invite, or a list of up to 20 invites.
 * @throws AppError `invalid`. In a list, the field is named `<index>__<field>`.
 */
export function parseInvites(body: unknown): InviteBody[] {
  if (!Array.isArray(body)) {
    if (typeof body === 'object' && body !== null) return [parseInput(newInvite, body, { trimStrings: true })];
    throw new AppError('invalid', 'This endpoint needs an array of data for bulk invite creation.', {
      code: 'invalid_input',
    });
  }
  if (body.length > maxInvites) {
    throw new AppError('invalid', `A maximum of ${maxInvites} invites can be sent in a single request.`, {
      code: 'max_length',
    });
  }
  return body.map((item, index) => {
    try {
      return parseInput(newInvite, item, { trimStrings: true });
    } catch (error) {
      throw ofElement(index, error);
    }
  });
}

/**
 * Adds the index of a list element to the field name of a validation error. Returns other errors unchanged. If the
 * error does not name a field, uses `otherwise` as the field name.
 */
function ofElement(index: number, error: unknown, otherwise?: string): unknown {
  if (!isAppError(error, 'invalid')) return error;
  return new AppError('invalid', error.message, {
    code: error.code,
    attr: [index, error.attr ?? otherwise].filter((part) => part !== undefined).join('__'),
    cause: error,
  });
}

/**
 * Makes the caller a member of the organization. An account with an unverified address also needs a secret of the
 * invite.
 * @throws AppError `invalid` with code `expired` or `user_already_member`, or naming `token`, or `not_found` for
 *   another user's invite
 */
export async function acceptInviteAsUser(
  { transaction }: Pick<Database, 'transaction'>,
  id: string,
  { caller, token }: { caller: Caller; token: string },
) {
  if (hasLimitedReach(caller)) {
    throw new AppError('forbidden', 'API keys with scoped organizations or projects cannot accept invites.');
  }
  return transaction(async (tx) => {
    const user = await getUser(tx, { id: caller.userId });
    let secretKind: InviteSecretKind | null = null;
    const joined = await acceptInvite(tx, id, {
      now: new Date(),
      requireInvited: (invite) => {
        if (user.email.toLowerCase() !== invite.email_key) throw new AppError('not_found', 'Not found.');
        secretKind = findInviteSecretKind(invite, token);
        if (!user.is_email_verified && secretKind === null) throw needsToken();
      },
      chooseUser: async () => {
        const isProved = secretKind === 'mailed';
        if (!user.is_email_verified)
          await restrictUnverifiedAccount(tx, user.id, { used: caller.credential, isProved });
        return user;
      },
    });
    return toJoinedUser(tx, joined);
  });
}

function needsToken(): AppError {
  const detail =
    'The email address of your account is not confirmed. To accept the invite, open the invite link, or send its secret as ' +
    '`token`.';
  return new AppError('invalid', detail, { code: 'required', attr: 'token' });
}

export async function toJoinedUser(tx: Transaction, { invite, user, membership }: AcceptedInvite) {
  const organization = await getOrganization(tx, invite.organization_id);
  return {
    user: { ...user, hedgehog_config: user.hedgehog_config ?? {} },
    organization_id: organization.id,
    organization_name: organization.name,
    level: membership.level,
  };
}
