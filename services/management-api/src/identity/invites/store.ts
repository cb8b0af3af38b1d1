import type { ProjectGrant } from '@millrace/accounts';
import { effectiveLevel, environmentsOfCaller } from '@millrace/accounts/access';
import { membershipLevels } from '@millrace/contracts';
import type { Columns, Sql } from '@millrace/db';
import { limitPageBytes } from '../../sql/limit-page-bytes.ts';
import type { EmbeddedUserRow } from '../embedded-users/embedded-user.ts';
import { embeddedUserColumn } from '../embedded-users/embedded-user-store.ts';

export interface InviteRow
  extends Columns<
    'organization_invite',
    | 'id'
    | 'target_email'
    | 'email_key'
    | 'first_name'
    | 'emailing_attempt_made'
    | 'mail_error'
    | 'level'
    | 'created_at'
    | 'updated_at'
    | 'message'
    | 'send_email'
    | 'combine_pending_invites'
    | 'key_expires_at'
  > {
  created_by: EmbeddedUserRow | null;
  private_project_access: ProjectGrant[] | null;
}
type Row = InviteRow & Record<string, unknown>;

/**
 * The columns omit environments that the caller (`$1`) cannot access. If no environment remains, the list of
 * environments is null.
 */
const columns = `i.id, i.target_email, i.email_key, i.first_name, i.emailing_attempt_made, i.mail_error, i.level, i.created_at,
  i.updated_at, i.message, i.send_email, i.combine_pending_invites, i.key_expires_at,
  ${embeddedUserColumn('u')} AS created_by,
  (SELECT jsonb_agg(opened)
     FROM jsonb_array_elements(CASE jsonb_typeof(i.private_project_access) WHEN 'array' THEN i.private_project_access END) opened
    WHERE (opened ->> 'id')::int IN (SELECT e.id FROM ${environmentsOfCaller}
                                      WHERE o.id = i.organization_id AND (${effectiveLevel}) IS NOT NULL)
  ) AS private_project_access`;

/** Returns one page of an organization's invites as members see them, newest first, and the total count. */
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
      limitPageBytes(
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

/** Returns these invites as members see them, in the order of `ids`. Omits deleted invites. */
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

/** Returns true if an account has this email address. The address must be in lower case. */
export async function hasAccount(sql: Sql, email: string): Promise<boolean> {
  return (await sql.query('SELECT 1 FROM "user" WHERE email = $1', [email])).length > 0;
}

/**
 * Returns the email addresses of active administrators and owners, who are notified when a user joins. Excludes the new
 * user. Returns an empty list if the organization has turned these emails off. PostHog emails every member, which is
 * too much in organizations with thousands of members.
 */
export async function findJoinRecipients(sql: Sql, organizationId: string, joinedUserId: number): Promise<string[]> {
  const rows = await sql.query<{ email: string }>(
    `SELECT u.email
       FROM organization o
       JOIN membership m ON m.organization_id = o.id AND m.level >= ${membershipLevels.administrator} AND m.user_id <> $2
       JOIN "user" u ON u.id = m.user_id AND u.is_active
      WHERE o.id = $1 AND o.is_member_join_email_enabled
      ORDER BY m.joined_at
      LIMIT 100`,
    [organizationId, joinedUserId],
  );
  return rows.map(({ email }) => email);
}
