import type { Sql } from '@millrace/db';
import { type Activity, type Actor, recordActivity } from '../activity/record-activity.ts';
import type { PersonalApiKey } from './personal-api-key-store.ts';

/** Records what was done to a key: what it is called and reaches, never anything of its value. */
export async function recordKeyActivity(
  tx: Sql,
  actor: Actor,
  { activity, before, after }: Pick<Activity, 'activity'> & { before?: PersonalApiKey; after?: PersonalApiKey },
): Promise<void> {
  const key = after ?? before;
  if (!key) return;
  await recordActivity(tx, {
    organizationId: null,
    scope: 'PersonalAPIKey',
    itemId: key.id,
    activity,
    actor,
    name: key.label,
    ...(before && after && { change: { before: reach(before), after: reach(after) } }),
  });
}

function reach({ label, scopes, scoped_teams, scoped_organizations, expires_at, last_rolled_at }: PersonalApiKey) {
  return { label, scopes, scoped_teams, scoped_organizations, expires_at, last_rolled_at };
}
