import type { Transaction } from '@millrace/db';
import { AppError, isAppError } from '@millrace/errors';
import { type Actor, recordActivity } from '../activity/record-activity.ts';
import type { User } from '../users/user-store.ts';
import { createUser } from '../users/users.ts';
import { type AcceptedInvite, acceptInvite } from './accept-invite.ts';
import { createFirstKey } from './create-first-key.ts';
import type { Invite } from './invite-store.ts';

export interface SignUp {
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
}

/**
 * Makes an account for the invited address and makes it a member, with a key no wider than the one that invited.
 * @returns also the value of that key, which is not stored: show it once.
 * @throws AppError `invalid` with code `account_exists` or `expired`; `not_found`.
 */
export async function signUpByInvite(
  tx: Transaction,
  inviteId: string,
  { now, requireInvited, actor, ...person }: SignUp,
): Promise<AcceptedInvite & { personalApiKey: string }> {
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
  return new AppError('invalid', 'There is an account with this address. Accept the invite with its API key.', {
    code: 'account_exists',
    cause,
  });
}
