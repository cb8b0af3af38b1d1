// SQL that reads and writes organization members, and deletes invites that their senders may no longer send.

import { membershipLevels } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';

export interface Membership extends Record<string, unknown> {
  id: string;
  organization_id: string;
  user_id: number;
  level: number;
  joined_at: Date;
}

export interface MemberWithEmail extends Membership {
  email: string;
}

export async function insertMembership(
  sql: Sql,
  row: { id: string; organizationId: string; userId: number; level: number },
): Promise<Membership> {
  const rows = await sql.query<Membership>(
    'INSERT INTO membership (id, organization_id, user_id, level) VALUES ($1, $2, $3, $4) RETURNING *',
    [row.id, row.organizationId, row.userId, row.level],
  );
  return rows[0] as Membership;
}

const members = 'SELECT m.*, u.email FROM membership m JOIN "user" u ON u.id = m.user_id WHERE m.organization_id = $1';

/** Lists an organization's members with their email addresses. The member who joined last comes first. */
export async function selectMemberships(sql: Sql, organizationId: string): Promise<MemberWithEmail[]> {
  return sql.query<MemberWithEmail>(`${members} ORDER BY m.joined_at DESC, m.id DESC`, [organizationId]);
}

export async function findMember(
  sql: Sql,
  { organizationId, userId }: { organizationId: string; userId: number },
): Promise<MemberWithEmail | undefined> {
  const rows = await sql.query<MemberWithEmail>(`${members} AND m.user_id = $2`, [organizationId, userId]);
  return rows[0];
}

/** Returns true if an organization has a member with this email address in lower case. */
export async function isMember(sql: Sql, organizationId: string, emailKey: string): Promise<boolean> {
  return (await sql.query(`${members} AND lower(u.email) = $2`, [organizationId, emailKey])).length > 0;
}

export async function countOwners(tx: Transaction, organizationId: string, ownerLevel: number): Promise<number> {
  const rows = await tx.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM membership WHERE organization_id = $1 AND level = $2',
    [organizationId, ownerLevel],
  );
  return rows[0]?.count ?? 0;
}

export async function updateMemberLevel(tx: Transaction, id: string, level: number): Promise<void> {
  await tx.query('UPDATE membership SET level = $2, updated_at = now() WHERE id = $1', [id, level]);
}

export async function deleteMember(tx: Transaction, id: string): Promise<void> {
  await tx.query('DELETE FROM membership WHERE id = $1', [id]);
}

interface WithdrawnInvite {
  id: string;
  organization_id: string;
  target_email: string;
}

/**
 * Deletes the pending invites that a user may no longer send. An invite can be accepted for up to three days. Without
 * this function, a user who expects to be removed or demoted could invite themselves and get back in, even as an
 * administrator. Other members can invite the same people again.
 * @param sql a transaction. If `organizationId` is set, it must already hold the lock on that organization.
 * @param maker.organizationId null for all organizations
 * @param maker.level the user's new level, or null if the user is removed. Invites that grant at most this level stay
 *   valid. For a level below administrator, invites that grant access to private projects are deleted too.
 */
export async function deleteMemberInvites(
  sql: Sql,
  { organizationId, userId, level }: { organizationId: string | null; userId: number; level: number | null },
): Promise<WithdrawnInvite[]> {
  return sql.query<WithdrawnInvite & Record<string, unknown>>(
    `DELETE FROM organization_invite
      WHERE created_by_id = $1 AND ($2::uuid IS NULL OR organization_id = $2)
        AND ($3::int IS NULL OR level > $3 OR ($3 < $4 AND jsonb_typeof(private_project_access) = 'array'))
     RETURNING id, organization_id, target_email`,
    [userId, organizationId, level, membershipLevels.administrator],
  );
}
