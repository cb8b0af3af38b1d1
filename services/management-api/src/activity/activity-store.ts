// SQL that reads the activity log: changes to records by users, operators and Millrace.

import type { ActivityDetail, ActivityScope } from '@millrace/accounts';
import type { Columns, Sql } from '@millrace/db';
import {
  addVisibilityCondition,
  findOwnRecordIds,
  type GovernedKind,
  governedKindNames,
  type RecordRights,
} from '../access/record-rights.ts';
import { type Conditions, createConditions } from '../sql/conditions.ts';
import { createLargeRowReader, type KeyWindow, toLimitClause } from '../sql/large-page.ts';
import type { TimeRange } from '../time/time-range.ts';

export interface ActivityRow
  extends Columns<'activity_log', 'id' | 'organization_id' | 'activity' | 'scope' | 'item_id' | 'created_at'> {
  detail: ActivityDetail;
  /** Null for system activity and deleted users. */
  user: Columns<'user', 'first_name' | 'email'> | null;
}

export interface ActivityFilter {
  /** The record kinds to include. If absent, includes all record kinds. */
  scopes?: string[];
  hiddenScopes?: string[];
  itemId?: string;
  userUuid?: string;
  environmentId?: number;
  /** The caller's rights in the environment. Activity for records that the caller cannot see is excluded. */
  seen?: RecordRights;
}

/** The activity log's own name for each record kind that access rules can restrict. */
const scopesOfKinds: Record<GovernedKind, ActivityScope> = {
  cohort: 'Cohort',
  dashboard: 'Dashboard',
  early_access_feature: 'EarlyAccessFeature',
  feature_flag: 'FeatureFlag',
  insight: 'Insight',
};

/** For each record kind that the filter includes, excludes activity for records that the caller cannot see. */
async function addSeen(
  sql: Sql,
  where: Conditions,
  { environmentId, rights, scopes }: { environmentId: number; rights: RecordRights; scopes: string[] | undefined },
): Promise<void> {
  for (const kind of governedKindNames) {
    const scope = scopesOfKinds[kind];
    if (scopes !== undefined && !scopes.includes(scope)) continue;
    const own = await findOwnRecordIds(sql, rights, { kind, environmentId });
    const ofScope = (condition: string) => where.add(`(a.scope <> '${scope}' OR ${condition})`);
    addVisibilityCondition({ ...where, add: ofScope }, rights, kind, { id: 'a.item_id', own });
  }
}

/** Maximum total size in bytes of the changes on one page. A single change can be as large as a request. */
const maxChangesBytes = 2 * 1024 * 1024;

/**
 * Returns the activity of one record, or of all records of a kind in an environment, latest first, and the total count.
 * Pages have numbers, so a page cannot end early at the size limit. Instead, activity beyond the limit has null in
 * place of its changes.
 */
export async function listActivity(
  sql: Sql,
  { scopes, hiddenScopes = [], itemId, userUuid, environmentId, seen }: ActivityFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ count: number; rows: ActivityRow[] }> {
  const where = createConditions();
  if (scopes !== undefined) where.add(`a.scope = ANY (${where.parameter(scopes)}::text[])`);
  if (hiddenScopes.length > 0) where.add(`a.scope <> ALL (${where.parameter(hiddenScopes)}::text[])`);
  if (itemId !== undefined) where.add(`a.item_id = ${where.parameter(itemId)}`);
  if (userUuid !== undefined) addUser(where, userUuid);
  if (environmentId !== undefined) {
    where.add(`a.environment_id = ${where.parameter(environmentId)}`);
    if (seen !== undefined) await addSeen(sql, where, { environmentId, rights: seen, scopes });
  }
  const count = [...where.values];
  const [size, skipped] = [where.parameter(limit), where.parameter(offset)];
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>(`SELECT count(*)::int AS count FROM activity_log a WHERE ${where.text()}`, count),
    sql.query<ActivityRow & Record<string, unknown>>(
      `SELECT a.id, a.organization_id, a.activity, a.scope, a.item_id, a.created_at,
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

function addUser(where: Conditions, uuid: string): void {
  where.add(`a.user_id = (SELECT u.id FROM "user" u WHERE u.uuid = ${where.parameter(uuid)}::uuid)`);
}

interface OrganizationActivityFilter extends TimeRange {
  environmentId?: number;
  scope?: string;
  itemId?: string;
  userUuid?: string;
}

/**
 * A cursor into the activity log. The time is in microseconds since 1970, because several changes can have the same
 * millisecond.
 */
export interface ActivityPosition {
  at: number;
  id: string;
}

export async function findActivityKeys(
  sql: Sql,
  organizationId: string,
  { environmentId, scope, itemId, userUuid, after, before }: OrganizationActivityFilter,
  { behind, limit, offset }: KeyWindow<ActivityPosition>,
): Promise<ActivityPosition[]> {
  const where = createConditions();
  where.add(`a.organization_id = ${where.parameter(organizationId)}::uuid`);
  if (environmentId !== undefined) where.add(`a.environment_id = ${where.parameter(environmentId)}`);
  if (scope !== undefined) where.add(`a.scope = ${where.parameter(scope)}`);
  if (itemId !== undefined) where.add(`a.item_id = ${where.parameter(itemId)}`);
  if (userUuid !== undefined) addUser(where, userUuid);
  if (after !== undefined) where.add(`a.created_at > ${where.parameter(after)}`);
  if (before !== undefined) where.add(`a.created_at < ${where.parameter(before)}`);
  if (behind !== null) {
    const at = `'epoch'::timestamptz + ${where.parameter(behind.at)}::float8 * interval '1 microsecond'`;
    where.add(`(a.created_at, a.id) < (${at}, ${where.parameter(behind.id)}::uuid)`);
  }
  const page = toLimitClause({ limit, offset }, where.parameter);
  return sql.query<ActivityPosition & Record<string, unknown>>(
    `SELECT a.id, (extract(epoch FROM a.created_at) * 1000000)::float8 AS at FROM activity_log a
      WHERE ${where.text()} ORDER BY a.created_at DESC, a.id DESC ${page}`,
    where.values,
  );
}

type OrganizationActivityRow = ActivityRow & Columns<'activity_log', 'environment_id'>;

export const readOrganizationActivity = createLargeRowReader<ActivityPosition, OrganizationActivityRow>({
  key: { id: 'uuid' },
  row: (of) =>
    `FROM activity_log a LEFT JOIN "user" u ON u.id = a.user_id WHERE a.organization_id = $1::uuid AND a.id = ${of('id')}`,
  columns: `a.id, a.organization_id, a.environment_id, a.activity, a.scope, a.item_id, a.created_at, a.detail,
            CASE WHEN u.id IS NULL THEN NULL
                 ELSE json_build_object('first_name', u.first_name, 'email', u.email) END AS user`,
  bytes: 'octet_length(a.detail::text) + 500',
});
