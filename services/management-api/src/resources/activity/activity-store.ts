import type { Sql } from '@millrace/db';
import { createConditions } from '../../sql/conditions.ts';
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

export interface ActivityFilter {
  scopes: string[];
  itemId?: string;
  environmentId?: number;
}

/** What happened to one record, or to all of a kind in an environment, the latest first, and how often. */
export async function listActivity(
  sql: Sql,
  { scopes, itemId, environmentId }: ActivityFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ count: number; rows: ActivityRow[] }> {
  const where = createConditions();
  where.add(`a.scope = ANY (${where.parameter(scopes)}::text[])`);
  if (itemId !== undefined) where.add(`a.item_id = ${where.parameter(itemId)}`);
  if (environmentId !== undefined) where.add(`a.environment_id = ${where.parameter(environmentId)}`);
  const count = [...where.values];
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>(`SELECT count(*)::int AS count FROM activity_log a WHERE ${where.text()}`, count),
    sql.query<ActivityRow & Record<string, unknown>>(
      `SELECT a.id, a.activity, a.scope, a.item_id, a.detail, a.created_at,
              CASE WHEN u.id IS NULL THEN NULL
                   ELSE json_build_object('first_name', u.first_name, 'email', u.email) END AS user
         FROM activity_log a LEFT JOIN "user" u ON u.id = a.user_id
        WHERE ${where.text()}
        ORDER BY a.created_at DESC, a.id DESC LIMIT ${where.parameter(limit)} OFFSET ${where.parameter(offset)}`,
      where.values,
    ),
  ]);
  return { count: counted[0]?.count ?? 0, rows };
}
