/** How an invite is accepted: by somebody who has an account, or by signing up with it. */

import { isMembershipLevel } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import { AppError, isAppError } from '@millrace/runtime';
import { type Actor, recordActivity } from '../activity/record-activity.ts';
import { isUuid, notFound } from '../input.ts';
import { keepKeysToMemberships } from '../keys/personal-api-key-store.ts';
import { createPersonalApiKey, type PersonalApiKeyWithValue } from '../keys/personal-api-keys.ts';
import { letIn } from '../members/kept-out.ts';
import { findMember, type Membership } from '../members/member-store.ts';
import { addMember } from '../members/members.ts';
import { lockOrganization } from '../organizations/organization-store.ts';
import { endSessionsOf } from '../sign-in/sessions.ts';
import { confirmEmail, setCurrentEnvironment, type User } from '../users/user-store.ts';
import { createUser } from '../users/users.ts';
import { deleteInvite, grantAccess, type Invite, selectInvite } from './invite-store.ts';
import { isInviteExpired } from './invites.ts';

export interface AcceptedInvite {
  invite: Invite;
  user: User;
  membership: Membership;
}

/**
 * Makes somebody a member by an invite, which is used up. Only the invite of this organization: PostHog also
 * removes those of others, who have nothing to do with it (docs/api/invites.md).
 *
 * @param requireInvited throws for somebody the invite is not meant for. Nothing is locked or written before.
 * @param actor who does it; the one who accepts unless told.
 * @param chooseUser tells who accepts, once the invite is held.
 * @throws AppError `not_found`; `invalid` with code `expired` or `user_already_member`.
 */
export async function acceptInvite(
  tx: Transaction,
  inviteId: string,
  {
    now,
    requireInvited,
    chooseUser,
    actor,
  }: {
    now: Date;
    requireInvited?: (invite: Invite) => void;
    chooseUser: (invite: Invite) => Promise<User>;
    actor?: Actor;
  },
): Promise<AcceptedInvite> {
  const seen = await findInvite(tx, inviteId);
  requireInvited?.(seen);
  if (isInviteExpired(seen, now)) {
    throw new AppError('invalid', 'This invite has expired. Please ask your admin for a new one.', { code: 'expired' });
  }
  await lockOrganization(tx, seen.organization_id);
  // Behind the lock nobody else uses it up or replaces it.
  const invite = await findInvite(tx, inviteId);
  const accepting = await chooseUser(invite);
  const added = await join(tx, invite, { userId: accepting.id, actor });
  await deleteInvite(tx, invite.id, invite.organization_id);
  const invited = { userId: accepting.id };
  await letIn(tx, { organizationId: invite.organization_id, email: accepting.email, actor: actor ?? invited });
  if (accepting.current_organization_id === null) {
    const { current_environment_id: environmentId } = accepting;
    await setCurrentEnvironment(tx, accepting.id, { organizationId: invite.organization_id, environmentId });
  }
  return { invite, user: accepting, membership: added };
}

/** @throws AppError `not_found`. */
export async function findInvite(sql: Sql, inviteId: string): Promise<Invite> {
  const found = isUuid(inviteId) ? await selectInvite(sql, inviteId) : undefined;
  if (!found) throw notFound('Invite');
  return found;
}

async function join(
  tx: Transaction,
  invite: Invite,
  { userId, actor = { userId } }: { userId: number; actor: Actor | undefined },
): Promise<Membership> {
  const { level } = invite;
  if (!isMembershipLevel(level)) throw new Error('An invite has an unknown level.');
  // Behind the organization's lock nobody becomes a member between the question and the answer.
  if (await findMember(tx, { organizationId: invite.organization_id, userId })) {
    throw new AppError('invalid', 'You already are a member of this organization.', { code: 'user_already_member' });
  }
  const added = await addMember(tx, { organizationId: invite.organization_id, userId, level, actor });
  await grantAccess(tx, invite, added.id);
  return added;
}

/**
 * Before an account joins an organization whose address nobody has proved: whoever made it may have been shown the secret of an
 * invite for somebody else's address. Its keys go on working where they did and nowhere else, and its other sessions end.
 *
 * @param used the key or session that accepts, which has the secret of this invite too and goes on as it is.
 * @param isProved whether that secret came by mail: the address is proved from now on.
 */
export async function fenceUnproved(
  tx: Transaction,
  userId: number,
  { used, isProved }: { used: { kind: 'key' | 'session'; id: string }; isProved: boolean },
): Promise<void> {
  await keepKeysToMemberships(tx, userId, used.kind === 'key' ? { except: used.id } : {});
  await endSessionsOf(tx, userId, used.kind === 'session' ? { except: used.id } : {});
  if (isProved) await confirmEmail(tx, userId);
}

interface SignUp {
  now: Date;
  /** The one of the invite unless told. */
  firstName?: string | undefined;
  lastName?: string | undefined;
  /** Whether it is known that the address is the person's. */
  isEmailVerified: boolean;
  /** Throws for somebody the invite is not meant for. */
  requireInvited?: (invite: Invite) => void;
  /** Who does it; the new user unless told. */
  actor?: Actor;
  /** Whether a first key is made; who has a password makes keys when they are wanted. */
  withKey?: boolean;
}

/**
 * Makes an account for the invited address and makes it a member, with a key no wider than the one that invited.
 * @returns also the value of that key, which is not stored: show it once; null without one.
 * @throws AppError `invalid` with code `account_exists` or `expired`; `not_found`.
 */
export async function signUpByInvite(
  tx: Transaction,
  inviteId: string,
  { now, requireInvited, actor, withKey = true, ...person }: SignUp,
): Promise<AcceptedInvite & { personalApiKey: string | null }> {
  const by = (userId: number) => (actor === undefined ? { userId } : actor);
  const joined = await acceptInvite(tx, inviteId, {
    now,
    ...(requireInvited && { requireInvited }),
    ...(actor !== undefined && { actor }),
    chooseUser: async (invite) => {
      const user = await createInvitedUser(tx, invite, person);
      const { id, uuid: itemId, email: name } = user;
      await recordActivity(tx, {
        ...{ organizationId: null, scope: 'User', itemId },
        ...{ activity: 'created', actor: by(id), name },
      });
      return user;
    },
  });
  if (!withKey) return { ...joined, personalApiKey: null };
  const userId = joined.user.id;
  const { value } = await createFirstKey(tx, { invite: joined.invite, userId, actor: by(userId) });
  return { ...joined, personalApiKey: value };
}

async function createInvitedUser(
  tx: Transaction,
  { email_key: email, first_name: invitedAs }: Invite,
  { firstName = invitedAs, lastName = '', isEmailVerified }: Omit<SignUp, 'now'>,
): Promise<User> {
  try {
    return await createUser(tx, { email, firstName, lastName, isEmailVerified });
  } catch (error) {
    throw isAppError(error, 'conflict') ? accountExists(error) : error;
  }
}

function accountExists(cause: unknown): AppError {
  return new AppError(
    'invalid',
    'An account with this email address already exists. Sign in first, or accept the invite with an API key of the ' +
      'account.',
    {
      code: 'account_exists',
      cause,
    },
  );
}

/**
 * Gives somebody who has joined by an invite a first key: one that can do no more than the key that invited, and for no
 * longer. Otherwise whoever gets hold of a small key could invite himself to a great one.
 */
async function createFirstKey(
  tx: Transaction,
  { invite, userId, actor }: { invite: Invite; userId: number; actor: Actor },
): Promise<PersonalApiKeyWithValue> {
  return createPersonalApiKey(tx, {
    userId,
    actor,
    label: 'First key',
    scopes: invite.key_scopes,
    scopedOrganizations: invite.is_key_limited ? [invite.organization_id] : [],
    expiresAt: invite.key_expires_at,
  });
}
