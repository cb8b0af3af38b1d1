import type { Sql } from '@millrace/db';
import { type Activity, recordActivity } from '../activity/record-activity.ts';
import type { MemberWithEmail } from './member-store.ts';

/** Writes down what happened to a membership, under the member's address. */
export async function recordMembership(
  sql: Sql,
  { organization_id: organizationId, id: itemId, email: name }: MemberWithEmail,
  done: Pick<Activity, 'activity' | 'actor' | 'change'>,
): Promise<void> {
  await recordActivity(sql, { organizationId, scope: 'OrganizationMembership', itemId, name, ...done });
}
