/** Accepts invites for existing users, and signs up new users with an invite. */

import { isMembershipLevel } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import { AppError, isAppError } from '@millrace/runtime';
import { type Actor, recordActivity } from '../activity/record-activity.ts';
import { isUuid, notFound } from '../input.ts';
import { limitUnrestrictedKeys } from '../keys/personal-api-key-store.ts';
import { createPersonalApiKey, type PersonalApiKeyWithValue } from '../keys/personal-api-keys.ts';
import { unblockAddress } from '../members/blocked-addresses.ts';
import { findMember, type Membership } from '../members/member-store.ts';
import { addMember } from '../members/members.ts';
import { lockOrganization } from '../organizations/organization-store.ts';
import { endUserSessions } from '../sign-in/sessions.ts';
import { confirmEmail, setCurrentEnvironment, type User } from '../users/user-store.ts';
import { createUser } from '../users/users.ts';
import { deleteInvite, grantInvitedAccess, type Invite, selectInvite } from './invite-store.ts';
import { isInviteExpired } from './invites.ts';

export interface AcceptedInvite {
  invite: Invite;
  user: User;
  membership: Membership;
}

/**
 * Adds a user to an organization with an invite, and deletes the invite. Unlike PostHog, keeps the user's invites to
 * other organizations (docs/api/invites.md).
 *
 * @param requireInvited throws if the invite is for another user. Called before anything is locked or written.
 * @param actor the user who accepts the invite. By default, the user who is added.
 * @param chooseUser returns the accepting user once the invite is locked
 * @throws AppError `not_found`, or `invalid` with code `expired` or `user_already_member`
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
  const unlockedInvite = await findInvite(tx, inviteId);
  requireInvited?.(unlockedInvite);
  if (isInviteExpired(unlockedInvite, now)) {
    throw new AppError('invalid', 'This invite has expired. Please ask your admin for a new one.', { code: 'expired' });
  }
  await lockOrganization(tx, unlockedInvite.organization_id);
  // While this lock is held, other requests can neither accept nor replace the invite.
  const invite = await findInvite(tx, inviteId);
  const accepting = await chooseUser(invite);
  const added = await join(tx, invite, { userId: accepting.id, actor });
  await deleteInvite(tx, invite.id, invite.organization_id);
  const invited = { userId: accepting.id };
  await unblockAddress(tx, { organizationId: invite.organization_id, email: accepting.email, actor: actor ?? invited });
  if (accepting.current_organization_id === null) {
    const { current_environment_id: environmentId } = accepting;
    await setCurrentEnvironment(tx, accepting.id, { organizationId: invite.organization_id, environmentId });
  }
  return { invite, user: accepting, membership: added };
}

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
  // While the organization is locked, other requests cannot add the user between the check and the write.
  if (await findMember(tx, { organizationId: invite.organization_id, userId })) {
    throw new AppError('invalid', 'You already are a member of this organization.', { code: 'user_already_member' });
  }
  const added = await addMember(tx, { organizationId: invite.organization_id, userId, level, actor });
  await grantInvitedAccess(tx, invite, added.id);
  return added;
}

/**
 * Restricts an account with an unverified email address before the account joins an organization. Another person may
 * have created the account with an invite to this address. The account's keys keep only their current access, and its
 * other sessions end.
 * @param used identifies the key or session that accepted the invite with its secret, and that keeps its access
 * @param isProved true if the secret came by email, which verifies the address
 */
export async function restrictUnverifiedAccount(
  tx: Transaction,
  userId: number,
  { used, isProved }: { used: { kind: 'key' | 'session'; id: string }; isProved: boolean },
): Promise<void> {
  await limitUnrestrictedKeys(tx, userId, used.kind === 'key' ? { except: used.id } : {});
  await endUserSessions(tx, userId, used.kind === 'session' ? { except: used.id } : {});
  if (isProved) await confirmEmail(tx, userId);
}

interface SignUp {
  now: Date;
  /** The new user's first and last name. Defaults to the names in the invite. */
  firstName?: string | undefined;
  lastName?: string | undefined;
  /** Whether the user has proved that the email address is theirs. */
  isEmailVerified: boolean;
  requireInvited?: (invite: Invite) => void;
  /** The user who made the change. Defaults to the new user. */
  actor?: Actor;
  /** Whether to create a personal API key. Users with a password do not need this, because they can create keys. */
  withKey?: boolean;
}

/**
 * Creates an account for the invited address and adds the account to the organization. Can also create a key that has
 * the scopes of the key with which the invite was created.
 * @returns the account, and the value of the key, or null if no key was created. The value is not stored, so show it
 *   once.
 * @throws AppError `invalid` with code `account_exists` or `expired`, or `not_found`
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
        organizationId: null,
        scope: 'User',
        itemId,
        activity: 'created',
        actor: by(id),
        name,
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
 * Creates the first key of a user who joined through an invite, with the scopes and expiry of the inviting key. Without
 * these limits, the holder of a limited key could invite themselves and get a more powerful key.
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
