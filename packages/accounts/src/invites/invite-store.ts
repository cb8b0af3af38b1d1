import type { Sql, Transaction } from '@millrace/db';

export interface Invite extends Record<string, unknown> {
  id: string;
  organization_id: string;
  target_email: string;
  email_key: string;
  first_name: string;
  emailing_attempt_made: boolean;
  level: number;
  created_by_id: number | null;
  private_project_access: { id: number; level: number }[] | null;
  token_hash: string;
  key_scopes: string[];
  is_key_limited: boolean;
  key_expires_at: Date | null;
  created_at: Date;
}

export async function selectInvite(sql: Sql, id: string): Promise<Invite | undefined> {
  const rows = await sql.query<Invite>('SELECT * FROM organization_invite WHERE id = $1', [id]);
  return rows[0];
}

/** Invites of an organization, expired ones included, the newest first. */
export async function selectInvites(sql: Sql, organizationId: string): Promise<Invite[]> {
  return sql.query<Invite>(
    'SELECT * FROM organization_invite WHERE organization_id = $1 ORDER BY created_at DESC, id DESC',
    [organizationId],
  );
}

export async function deleteInvite(sql: Sql, id: string): Promise<Invite | undefined> {
  const rows = await sql.query<Invite>('DELETE FROM organization_invite WHERE id = $1 RETURNING *', [id]);
  return rows[0];
}

/** Gives access to the private environments the invite names, as far as they are still there. */
export async function grantAccess(tx: Transaction, invite: Invite, membershipId: string): Promise<void> {
  await tx.query(
    `INSERT INTO environment_member (environment_id, membership_id, level, created_by_id)
     SELECT e.id, $2::uuid, granted.level, $3::int
       FROM jsonb_to_recordset($1::jsonb) AS granted (id int, level int)
       JOIN environment e ON e.id = granted.id
       JOIN project p ON p.id = e.project_id AND p.organization_id = $4`,
    [JSON.stringify(invite.private_project_access ?? []), membershipId, invite.created_by_id, invite.organization_id],
  );
}
