import {
  type AcceptedInvite,
  acceptInvite,
  createFirstKey,
  createUser,
  getOrganization,
  getUser,
  recordActivity,
  recordKeyActivity,
} from '@millrace/accounts';
import type { Database, Transaction } from '@millrace/db';
import { AppError, isAppError } from '@millrace/errors';
import { type Caller, isLimited } from '../../access/caller.ts';

type Invite = AcceptedInvite['invite'];

export interface SignUp {
  firstName: string | undefined;
  lastName: string | undefined;
  /** Throws unless the secret of the invite was given. */
  requireInvited(invite: Invite): void;
}

/**
 * Makes an account for the invited address and makes it a member, with a key no wider than the one that invited. Having got
 * the mail proves the address.
 * @throws AppError `invalid` with code `account_exists` or `expired`; `not_found`.
 */
export async function signUpByInvite({ transaction }: Pick<Database, 'transaction'>, id: string, input: SignUp) {
  return transaction(async (tx) => {
    const joined = await acceptInvite(tx, id, {
      now: new Date(),
      requireInvited: input.requireInvited,
      chooseUser: async (invite) =>
        createUser(tx, {
          email: invite.email_key,
          firstName: input.firstName ?? invite.first_name,
          lastName: input.lastName ?? '',
          isEmailVerified: true,
        }).catch((error) => {
          throw isAppError(error, 'conflict') ? accountExists(error) : error;
        }),
    });
    const actor = { userId: joined.user.id };
    const { key, value } = await createFirstKey(tx, { ...joined, ...actor });
    const { uuid: itemId, email: name } = joined.user;
    await recordActivity(tx, { organizationId: null, scope: 'User', itemId, activity: 'created', actor, name });
    await recordKeyActivity(tx, actor, { activity: 'created', after: key });
    return { ...(await recordJoined(tx, joined)), personal_api_key: value };
  });
}

/**
 * Makes the caller a member.
 * @throws AppError `invalid` with code `expired` or `user_already_member`; `not_found` for an invite of somebody else.
 */
export async function acceptAsUser({ transaction }: Pick<Database, 'transaction'>, id: string, caller: Caller) {
  if (isLimited(caller)) {
    throw new AppError('forbidden', 'API keys with scoped organizations or projects cannot accept invites.');
  }
  return transaction(async (tx) => {
    const user = await getUser(tx, { id: caller.userId });
    const joined = await acceptInvite(tx, id, {
      now: new Date(),
      requireInvited: (invite) => {
        if (user.email.toLowerCase() !== invite.email_key) throw new AppError('not_found', 'Not found.');
      },
      chooseUser: async () => user,
    });
    return recordJoined(tx, joined);
  });
}

async function recordJoined(tx: Transaction, { invite, user, membership }: AcceptedInvite) {
  const organization = await getOrganization(tx, invite.organization_id);
  await recordActivity(tx, {
    organizationId: organization.id,
    scope: 'OrganizationMembership',
    itemId: membership.id,
    activity: 'created',
    actor: { userId: user.id },
    name: user.email,
  });
  return {
    user: { ...user, hedgehog_config: user.hedgehog_config ?? {} },
    organization_id: organization.id,
    organization_name: organization.name,
    level: membership.level,
  };
}

function accountExists(cause: unknown): AppError {
  return new AppError('invalid', 'There is an account with this address. Accept the invite with its API key.', {
    code: 'account_exists',
    cause,
  });
}
