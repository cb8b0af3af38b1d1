// SQL that reads and writes invites to organizations.

import { membershipLevels } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import { effectiveLevel, environmentsOfCaller } from '../access/environment-access-store.ts';

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

/** Lists an organization's invites, newest first, including expired ones. */
export async function selectInvites(sql: Sql, organizationId: string): Promise<Invite[]> {
  return sql.query<Invite>(
    'SELECT * FROM organization_invite WHERE organization_id = $1 ORDER BY created_at DESC, id DESC',
    [organizationId],
  );
}

/** Deletes an invite. @param organizationId the organization that the invite must belong to, or null for any */
export async function deleteInvite(sql: Sql, id: string, organizationId: string | null): Promise<Invite | undefined> {
  const rows = await sql.query<Invite>(
    'DELETE FROM organization_invite WHERE id = $1 AND ($2::uuid IS NULL OR organization_id = $2) RETURNING *',
    [id, organizationId],
  );
  return rows[0];
}

/** Gives the user access to the private environments that the invite lists. Skips deleted environments. */
export async function grantInvitedAccess(tx: Transaction, invite: Invite, membershipId: string): Promise<void> {
  await tx.query(
    `INSERT INTO access_rule (environment_id, resource, membership_id, level, created_by_id)
     SELECT e.id, 'project', $2::uuid, CASE WHEN granted.level >= ${membershipLevels.administrator} THEN 'admin' ELSE 'member' END, $3::int
       FROM jsonb_to_recordset($1::jsonb) AS granted (id int, level int)
       JOIN environment e ON e.id = granted.id
       JOIN project p ON p.id = e.project_id AND p.organization_id = $4`,
    [JSON.stringify(invite.private_project_access ?? []), membershipId, invite.created_by_id, invite.organization_id],
  );
}

/**
 * Finds the pending invite of a person. The caller must have locked the organization, so that the person has at most
 * one.
 */
export async function findPendingInvite(
  tx: Transaction,
  organizationId: string,
  emailKey: string,
): Promise<Pick<Invite, 'id' | 'level' | 'created_at' | 'key_expires_at' | 'private_project_access'> | undefined> {
  const rows = await tx.query<Invite>(
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
  grants: { id: number; level: number }[] | null;
  sendEmail: boolean;
  combinePendingInvites: boolean;
  tokenHash: string;
  /** Restrictions of the key that creates the invite. The invited user's first key gets the same restrictions. */
  key: { scopes: readonly string[]; isLimited: boolean; expiresAt: Date | null };
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

/**
 * Records an attempt to send the email.
 * @param error the reason for a rejection, or null on success. The API returns it as `mail_error`.
 */
export async function recordEmailingAttempt(sql: Sql, id: string, error: string | null): Promise<void> {
  await sql.query('UPDATE organization_invite SET emailing_attempt_made = true, mail_error = $2 WHERE id = $1', [
    id,
    error,
  ]);
}

/** Returns the inviter's level in each of the organization's environments that the inviter can see. */
export async function findGrantableLevels(
  sql: Sql,
  { userId, organizationId }: { userId: number; organizationId: string },
): Promise<Map<number, number>> {
  const rows = await sql.query<{ id: number; level: number | null }>(
    `SELECT e.id, ${effectiveLevel} AS level FROM ${environmentsOfCaller} WHERE o.id = $2`,
    [userId, organizationId],
  );
  return new Map(rows.flatMap(({ id, level }) => (level === null ? [] : [[id, level] as const])));
}
