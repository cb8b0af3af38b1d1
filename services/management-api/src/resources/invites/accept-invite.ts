import { type AcceptedInvite, type AccountClient, acceptInvite, createFirstKey, createUser } from '@millrace/accounts';
import { type Database, sqlOf } from '@millrace/db';
import { AppError, isAppError } from '@millrace/errors';
import { type Caller, isLimited } from '../../access/caller.ts';
import { recordAccountActivity } from '../organizations/record-account-activity.ts';
import { recordKeyActivity } from '../personal-api-keys/record-key-activity.ts';

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
export async function signUpByInvite(prisma: Database['prisma'], id: string, input: SignUp) {
  return prisma.$transaction(async (client) => {
    const joined = await acceptInvite(client, id, {
      now: new Date(),
      requireInvited: input.requireInvited,
      chooseUser: async (invite) =>
        createUser(client, {
          email: invite.email_key,
          firstName: input.firstName ?? invite.first_name,
          lastName: input.lastName ?? '',
          isEmailVerified: true,
        }).catch((error) => {
          throw isAppError(error, 'conflict') ? accountExists(error) : error;
        }),
    });
    const actor = { userId: joined.user.id };
    const { key, value } = await createFirstKey(client, { ...joined, ...actor });
    await recordAccountActivity(sqlOf(client), {
      ...{ organizationId: null, ...actor, activity: 'created', scope: 'User' },
      ...{ itemId: joined.user.uuid, name: joined.user.email },
    });
    await recordKeyActivity(client, actor, { activity: 'created', after: key });
    return { ...(await recordJoined(client, joined)), personal_api_key: value };
  });
}

/**
 * Makes the caller a member.
 * @throws AppError `invalid` with code `expired` or `user_already_member`; `not_found` for an invite of somebody else.
 */
export async function acceptAsUser(prisma: Database['prisma'], id: string, caller: Caller) {
  if (isLimited(caller)) {
    throw new AppError('forbidden', 'API keys with scoped organizations or projects cannot accept invites.');
  }
  return prisma.$transaction(async (client) => {
    const user = await client.user.findUniqueOrThrow({ where: { id: caller.userId } });
    const joined = await acceptInvite(client, id, {
      now: new Date(),
      requireInvited: (invite) => {
        if (user.email.toLowerCase() !== invite.email_key) throw new AppError('not_found', 'Not found.');
      },
      chooseUser: async () => user,
    });
    return recordJoined(client, joined);
  });
}

async function recordJoined(client: AccountClient, { invite, user, membership }: AcceptedInvite) {
  const organization = await client.organization.findUniqueOrThrow({ where: { id: invite.organization_id } });
  await recordAccountActivity(sqlOf(client), {
    organizationId: organization.id,
    userId: user.id,
    activity: 'created',
    scope: 'OrganizationMembership',
    itemId: membership.id,
    name: user.email,
  });
  return {
    user: { ...user, hedgehog_config: (user.hedgehog_config ?? {}) as Record<string, unknown> },
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
