import type { Sql, Transaction } from '@millrace/db';
import { effectiveLevel, environmentsOfCaller } from '../../access/effective-level.ts';
import { upToPageBytes } from '../../sql/up-to-page-bytes.ts';
import type { EmbeddedUserRow } from '../embedded-users/embedded-user.ts';
import { embeddedUserColumn } from '../embedded-users/embedded-user-store.ts';
import type { InvitingKey } from './inviting-key.ts';
import type { ProjectGrant } from './project-grants.ts';

export interface InviteRow {
  id: string;
  target_email: string;
  email_key: string;
  first_name: string;
  emailing_attempt_made: boolean;
  level: number;
  created_by: EmbeddedUserRow | null;
  created_at: Date;
  updated_at: Date;
  message: string | null;
  private_project_access: ProjectGrant[] | null;
  send_email: boolean;
  combine_pending_invites: boolean;
  key_expires_at: Date | null;
}
type Row = InviteRow & Record<string, unknown>;

/** Of the environments it opens those the caller (`$1`) does not see are left out; null when there are no others. */
const columns = `i.id, i.target_email, i.email_key, i.first_name, i.emailing_attempt_made, i.level, i.created_at,
  i.updated_at, i.message, i.send_email, i.combine_pending_invites, i.key_expires_at,
  ${embeddedUserColumn('u')} AS created_by,
  (SELECT jsonb_agg(opened)
     FROM jsonb_array_elements(CASE jsonb_typeof(i.private_project_access) WHEN 'array' THEN i.private_project_access END) opened
    WHERE (opened ->> 'id')::int IN (SELECT e.id FROM ${environmentsOfCaller}
                                      WHERE o.id = i.organization_id AND (${effectiveLevel}) IS NOT NULL)
  ) AS private_project_access`;

/** One page of an organization's invites as a member sees them, the newest first, and how many there are. */
export async function listInvites(
  sql: Sql,
  { userId, organizationId }: { userId: number; organizationId: string },
  { limit, offset }: { limit: number; offset: number },
): Promise<{ count: number; rows: InviteRow[] }> {
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>('SELECT count(*)::int AS count FROM organization_invite WHERE organization_id = $1', [
      organizationId,
    ]),
    sql.query<Row>(
      upToPageBytes(
        `SELECT ${columns}
           FROM organization_invite i LEFT JOIN "user" u ON u.id = i.created_by_id
          WHERE i.organization_id = $2
          ORDER BY i.created_at DESC, i.id DESC
          LIMIT $3 OFFSET $4`,
        ['message', 'private_project_access', 'created_by'],
      ),
      [userId, organizationId, limit, offset],
    ),
  ]);
  return { count: counted[0]?.count ?? 0, rows };
}

/** The invite somebody has already; the organization must be locked, so that there is at most one. */
export async function findPendingInvite(
  tx: Transaction,
  organizationId: string,
  emailKey: string,
): Promise<Pick<InviteRow, 'id' | 'level' | 'created_at' | 'key_expires_at' | 'private_project_access'> | undefined> {
  const rows = await tx.query<Row>(
    `SELECT id, level, created_at, key_expires_at, private_project_access
       FROM organization_invite WHERE organization_id = $1 AND email_key = $2`,
    [organizationId, emailKey],
  );
  return rows[0];
}

export interface NewInviteRow {
  id: string;
  organizationId: string;
  targetEmail: string;
  emailKey: string;
  firstName: string;
  level: number;
  createdById: number;
  message: string | null;
  grants: ProjectGrant[] | null;
  sendEmail: boolean;
  combinePendingInvites: boolean;
  tokenHash: string;
  key: InvitingKey;
}

export async function insertInvite(tx: Transaction, row: NewInviteRow): Promise<void> {
  await tx.query(
    `INSERT INTO organization_invite (id, organization_id, target_email, email_key, first_name, level, created_by_id,
       message, private_project_access, send_email, combine_pending_invites, token_hash, key_scopes, is_key_limited,
       key_expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
    [
      row.id,
      row.organizationId,
      row.targetEmail,
      row.emailKey,
      row.firstName,
      row.level,
      row.createdById,
      row.message,
      row.grants && JSON.stringify(row.grants),
      row.sendEmail,
      row.combinePendingInvites,
      row.tokenHash,
      row.key.scopes,
      row.key.isLimited,
      row.key.expiresAt,
    ],
  );
}

/** These invites as a member sees them, in the order of the ids; one that is gone is left out. */
export async function findInvites(sql: Sql, userId: number, ids: string[]): Promise<InviteRow[]> {
  return sql.query<Row>(
    `SELECT ${columns}
       FROM unnest($2::uuid[]) WITH ORDINALITY AS wanted (id, position)
       JOIN organization_invite i ON i.id = wanted.id
       LEFT JOIN "user" u ON u.id = i.created_by_id
      ORDER BY wanted.position`,
    [userId, ids],
  );
}

export async function deleteInvite(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<{ id: string; target_email: string } | undefined> {
  const rows = await tx.query<{ id: string; target_email: string }>(
    'DELETE FROM organization_invite WHERE organization_id = $1 AND id = $2 RETURNING id, target_email',
    [organizationId, id],
  );
  return rows[0];
}

/** Notes that sending the mail was tried. */
export async function noteEmailingAttempt(sql: Sql, id: string): Promise<void> {
  await sql.query('UPDATE organization_invite SET emailing_attempt_made = true WHERE id = $1', [id]);
}
