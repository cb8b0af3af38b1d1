import type { Transaction } from '@millrace/db';
import { type Actor, recordActivity } from '../activity/record-activity.ts';
import { endUserSessions } from './sessions.ts';
import { deleteSignInSteps } from './sign-in-steps.ts';
import { deleteDevices, deleteLinks, type SignInUser, writePasswordHash } from './sign-in-store.ts';

/**
 * Changes a user's password. Also revokes everything that someone with the old password could have obtained: other
 * sessions, incomplete sign-ins, a pending change of email address, emailed links and known devices.
 * @param keptSession ID of the session to keep, if any
 */
export async function changePassword(
  tx: Transaction,
  user: Pick<SignInUser, 'id' | 'uuid' | 'email' | 'password_hash'>,
  { hash, actor, keptSession }: { hash: string; actor: Actor; keptSession?: string },
): Promise<void> {
  await writePasswordHash(tx, user.id, hash);
  await endUserSessions(tx, user.id, keptSession === undefined ? {} : { except: keptSession });
  await deleteSignInSteps(tx, user.id);
  await deleteLinks(tx, user.id);
  await deleteDevices(tx, user.id, { but: 0 });
  await recordActivity(tx, {
    organizationId: null,
    scope: 'User',
    itemId: user.uuid,
    activity: 'updated',
    actor,
    name: user.email,
    change: {
      before: { password: user.password_hash },
      after: { password: hash },
      secret: ['password'],
    },
  });
}
