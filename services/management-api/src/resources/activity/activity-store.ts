import type { ActivityDetail } from '@millrace/accounts';
import type { Columns, Sql } from '@millrace/db';
import { createConditions } from '../../sql/conditions.ts';

export interface ActivityRow extends Columns<'activity_log', 'id' | 'activity' | 'scope' | 'item_id' | 'created_at'> {
  detail: ActivityDetail;
  /** Null for the system and for people whose account is gone. */
  user: Columns<'user', 'first_name' | 'email'> | null;
}

export interface ActivityFilter {
  scopes: string[];
  itemId?: string;
  environmentId?: number;
}

/** What the changes on one page may take; each change may be of settings as large as a request. */
const maxChangesBytes = 2 * 1024 * 1024;

/**
 * What happened to one record, or to all of a kind in an environment, the latest first, and how often. Pages have numbers,
 * so a page cannot end early: of records behind those that fill it the changes are null.
 */
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
  const [size, skipped] = [where.parameter(limit), where.parameter(offset)];
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>(`SELECT count(*)::int AS count FROM activity_log a WHERE ${where.text()}`, count),
    sql.query<ActivityRow & Record<string, unknown>>(
      `SELECT a.id, a.activity, a.scope, a.item_id, a.created_at,
              CASE WHEN a.bytes_before < ${maxChangesBytes} THEN a.detail
                   ELSE jsonb_set(a.detail, '{changes}', 'null') END AS detail,
              CASE WHEN u.id IS NULL THEN NULL
                   ELSE json_build_object('first_name', u.first_name, 'email', u.email) END AS user
         FROM (SELECT page.*, sum(page.bytes) OVER (ROWS UNBOUNDED PRECEDING) - page.bytes AS bytes_before
                 FROM (SELECT a.*, octet_length(a.detail::text) AS bytes FROM activity_log a
                        WHERE ${where.text()}
                        ORDER BY a.created_at DESC, a.id DESC LIMIT ${size} OFFSET ${skipped}) AS page) AS a
         LEFT JOIN "user" u ON u.id = a.user_id
        ORDER BY a.created_at DESC, a.id DESC`,
      where.values,
    ),
  ]);
  return { count: counted[0]?.count ?? 0, rows };
}
