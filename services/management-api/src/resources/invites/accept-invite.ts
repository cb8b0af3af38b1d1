import { type AcceptedInvite, acceptInvite, getOrganization, getUser } from '@millrace/accounts';
import type { Database, Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { type Caller, isLimited } from '../../access/caller.ts';

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
    return toJoined(tx, joined);
  });
}

/** Who joined what, as the API answers it. */
export async function toJoined(tx: Transaction, { invite, user, membership }: AcceptedInvite) {
  const organization = await getOrganization(tx, invite.organization_id);
  return {
    user: { ...user, hedgehog_config: user.hedgehog_config ?? {} },
    organization_id: organization.id,
    organization_name: organization.name,
    level: membership.level,
  };
}
