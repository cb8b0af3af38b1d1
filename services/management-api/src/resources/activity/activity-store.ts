import type { Sql } from '@millrace/db';
import type { FieldChange } from './changed-fields.ts';

export interface ActivityDetail {
  name: string | null;
  short_id: null;
  type: null;
  /** What did it, when it was no user. */
  trigger: { job_type: string; job_id: string; payload: Record<string, never> } | null;
  changes: FieldChange[] | null;
}

export interface NewActivityRow {
  id: string;
  organization_id: string | null;
  environment_id: number | null;
  user_id: number | null;
  scope: string;
  item_id: string;
  activity: string;
  detail: ActivityDetail;
}

export interface ActivityRow {
  id: string;
  activity: string;
  scope: string;
  item_id: string;
  detail: ActivityDetail;
  created_at: Date;
  /** Null for the system and for people whose account is gone. */
  user: { first_name: string; email: string } | null;
}

export async function insertActivity(tx: Sql, row: NewActivityRow): Promise<void> {
  await tx.query(
    `INSERT INTO activity_log (id, organization_id, environment_id, user_id, scope, item_id, activity, detail, created_at)
     VALUES ($1::uuid, $2::uuid, $3::int, $4::int, $5, $6, $7, $8::jsonb, clock_timestamp())`,
    [
      row.id,
      row.organization_id,
      row.environment_id,
      row.user_id,
      row.scope,
      row.item_id,
      row.activity,
      JSON.stringify(row.detail),
    ],
  );
}

/** What happened to one record, the latest first, and how often. */
export async function listActivity(
  sql: Sql,
  { scopes, itemId, limit, offset }: { scopes: string[]; itemId: string; limit: number; offset: number },
): Promise<{ count: number; rows: ActivityRow[] }> {
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM activity_log WHERE scope = ANY ($1::text[]) AND item_id = $2',
      [scopes, itemId],
    ),
    sql.query<ActivityRow & Record<string, unknown>>(
      `SELECT a.id, a.activity, a.scope, a.item_id, a.detail, a.created_at,
              CASE WHEN u.id IS NULL THEN NULL
                   ELSE json_build_object('first_name', u.first_name, 'email', u.email) END AS user
         FROM activity_log a LEFT JOIN "user" u ON u.id = a.user_id
        WHERE a.scope = ANY ($1::text[]) AND a.item_id = $2
        ORDER BY a.created_at DESC, a.id DESC LIMIT $3 OFFSET $4`,
      [scopes, itemId, limit, offset],
    ),
  ]);
  return { count: counted[0]?.count ?? 0, rows };
}
