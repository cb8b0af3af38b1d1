import type { Transaction } from '@millrace/db';
import type { Actor } from '../activity/record-activity.ts';

/** Gives a member a level on an environment, or with null shuts the member out. */
export async function putAccessRule(
  tx: Transaction,
  {
    environmentId,
    membershipId,
    level,
    actor,
  }: { environmentId: number; membershipId: string; level: number | null; actor: Actor },
): Promise<void> {
  const createdById = actor !== null && 'userId' in actor ? actor.userId : null;
  await tx.query(
    `INSERT INTO environment_member (environment_id, membership_id, level, created_by_id) VALUES ($1, $2, $3, $4)
     ON CONFLICT (environment_id, membership_id) DO UPDATE SET level = excluded.level, updated_at = clock_timestamp()`,
    [environmentId, membershipId, level, createdById],
  );
}

export async function deleteAccessRule(tx: Transaction, environmentId: number, membershipId: string): Promise<void> {
  await tx.query('DELETE FROM environment_member WHERE environment_id = $1 AND membership_id = $2', [
    environmentId,
    membershipId,
  ]);
}

/** The rule for a member on an environment. */
export async function findAccessRule(
  tx: Transaction,
  environmentId: number,
  membershipId: string,
): Promise<{ level: number | null } | undefined> {
  const rows = await tx.query<{ level: number | null }>(
    'SELECT level FROM environment_member WHERE environment_id = $1 AND membership_id = $2',
    [environmentId, membershipId],
  );
  return rows[0];
}

/** Whether a membership belongs to the organization. */
export async function isMembershipOf(tx: Transaction, membershipId: string, organizationId: string): Promise<boolean> {
  const rows = await tx.query('SELECT 1 FROM membership WHERE id = $1 AND organization_id = $2', [
    membershipId,
    organizationId,
  ]);
  return rows.length > 0;
}
