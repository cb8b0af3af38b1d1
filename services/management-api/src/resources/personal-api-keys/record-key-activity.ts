import type { AccountClient } from '@millrace/accounts';
import { sqlOf } from '@millrace/db';
import { type AccountActivity, recordAccountActivity } from '../organizations/record-account-activity.ts';
import type { StoredKey } from './to-personal-api-key.ts';

/** Records what was done to a key: what it is called and reaches, never anything of its value. */
export async function recordKeyActivity(
  client: AccountClient,
  actor: { userId: number },
  { activity, before, after }: Pick<AccountActivity, 'activity'> & { before?: StoredKey; after?: StoredKey },
): Promise<void> {
  const key = after ?? before;
  if (!key) return;
  await recordAccountActivity(sqlOf(client), {
    organizationId: null,
    userId: actor.userId,
    activity,
    scope: 'PersonalAPIKey',
    itemId: key.id,
    name: key.label,
    ...(before && { before: reach(before) }),
    ...(after && { after: reach(after) }),
  });
}

function reach({ label, scopes, scoped_teams, scoped_organizations, expires_at, last_rolled_at }: StoredKey) {
  return { label, scopes, scoped_teams, scoped_organizations, expires_at, last_rolled_at };
}
