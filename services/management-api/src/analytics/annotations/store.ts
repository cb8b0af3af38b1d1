// SQL that reads and writes annotations.

import type { Columns, Sql, Transaction } from '@millrace/db';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { addVisibilityCondition } from '../../access/record-rights.ts';
import type { EmbeddedUserRow } from '../../identity/embedded-users/embedded-user.ts';
import { embeddedUserColumn } from '../../identity/embedded-users/embedded-user-store.ts';
import { type Conditions, createConditions } from '../../sql/conditions.ts';
import { limitPageBytes } from '../../sql/limit-page-bytes.ts';

/**
 * Where an annotation is shown: with an insight, with a dashboard, in the project, or in all projects of the
 * organization.
 */
export const annotationScopes = ['dashboard_item', 'dashboard', 'project', 'organization'] as const;
export type AnnotationScope = (typeof annotationScopes)[number];

export interface AnnotationFields
  extends Columns<'annotation', 'content' | 'date_marker' | 'emoji' | 'hidden_in_user_interface' | 'deleted'> {
  scope: AnnotationScope;
  creation_type: 'USR' | 'GIT';
  dashboard_item: number | null;
  dashboard_id: number | null;
}

export interface AnnotationRow
  extends AnnotationFields,
    Columns<'annotation', 'id' | 'environment_id' | 'created_at' | 'updated_at'> {
  insight_short_id: string | null;
  insight_name: string | null;
  insight_derived_name: string | null;
  dashboard_name: string | null;
  created_by: EmbeddedUserRow | null;
}
type Row = AnnotationRow & Record<string, unknown>;

const columns = `a.id, a.environment_id, a.content, a.date_marker, a.scope, a.creation_type, a.emoji, a.hidden_in_user_interface,
  a.deleted, a.created_at, a.updated_at, i.id AS dashboard_item, i.short_id AS insight_short_id, i.name AS insight_name,
  i.derived_name AS insight_derived_name, d.id AS dashboard_id, d.name AS dashboard_name,
  ${embeddedUserColumn('u')} AS created_by`;

/** Outside its own project, an organization-wide annotation is shown without its insight and dashboard. */
const tables = (environmentId: string) => `annotation a
  LEFT JOIN insight i ON i.id = a.insight_id AND a.environment_id = ${environmentId}
  LEFT JOIN dashboard d ON d.id = a.dashboard_id AND a.environment_id = ${environmentId}
  LEFT JOIN "user" u ON u.id = a.created_by_id`;

export interface AnnotationFilter {
  scope?: AnnotationScope;
  search?: string;
  date_from?: string;
  date_to?: string;
  hidden_in_user_interface?: boolean;
}

type Place = Pick<AddressedProject, 'environmentId' | 'organizationId' | 'rights'>;

/**
 * Returns a page of the annotations that are shown in an environment, and their total number. The annotation with the
 * latest date marker comes first.
 */
export async function listAnnotations(
  sql: Sql,
  place: Place,
  { filter, limit, offset }: { filter: AnnotationFilter; limit: number; offset: number },
): Promise<{ count: number; rows: AnnotationRow[] }> {
  const { where, from } = shownIn(place);
  where.add('NOT a.deleted');
  if (filter.scope) where.add(`a.scope = ${where.parameter(filter.scope)}`);
  if (filter.search) where.add(`strpos(lower(a.content), lower(${where.parameter(filter.search)}::text)) > 0`);
  if (filter.date_from) where.add(`a.date_marker >= ${where.parameter(filter.date_from)}::timestamptz`);
  if (filter.date_to) where.add(`a.date_marker <= ${where.parameter(filter.date_to)}::timestamptz`);
  if (filter.hidden_in_user_interface !== undefined) {
    where.add(
      `coalesce(a.hidden_in_user_interface, false) = ${where.parameter(filter.hidden_in_user_interface)}::boolean`,
    );
  }
  const selected = `FROM ${from} WHERE ${where.text()}`;
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>(`SELECT count(*)::int AS count ${selected}`, [...where.values]),
    sql.query<Row>(
      limitPageBytes(
        `SELECT ${columns} ${selected} ORDER BY a.date_marker DESC NULLS LAST, a.id DESC
          LIMIT ${where.parameter(limit)} OFFSET ${where.parameter(offset)}`,
        ['content', 'created_by'],
      ),
      where.values,
    ),
  ]);
  return { count: counted[0]?.count ?? 0, rows };
}

/** Finds an annotation that is shown in an environment, even if it is deleted. */
export async function findAnnotation(sql: Sql, place: Place, id: number): Promise<AnnotationRow | undefined> {
  const { where, from } = shownIn(place);
  where.add(`a.id = ${where.parameter(id)}`);
  const [row] = await sql.query<Row>(`SELECT ${columns} FROM ${from} WHERE ${where.text()}`, where.values);
  return row;
}

/**
 * Selects the annotations that are shown in an environment: its own and those of the organization. Omits annotations
 * whose insight or dashboard was deleted or is not visible to the caller.
 */
function shownIn({ environmentId, organizationId, rights }: Place): { where: Conditions; from: string } {
  const where = createConditions();
  const environment = where.parameter(environmentId);
  const organization = where.parameter(organizationId);
  where.add(`(a.environment_id = ${environment}
              OR a.scope = 'organization' AND a.environment_id IN (
                   SELECT e.id FROM environment e JOIN project p ON p.id = e.project_id
                    WHERE p.organization_id = ${organization}::uuid))`);
  where.add(`NOT (a.scope = 'dashboard_item' AND i.deleted IS TRUE)`);
  where.add(`NOT (a.scope = 'dashboard' AND d.deleted IS TRUE)`);
  const whereGiven = (id: string): Conditions => ({
    ...where,
    add: (shown) => where.add(`(${id} IS NULL OR ${shown})`),
  });
  addVisibilityCondition(whereGiven('i.id'), rights, 'insight', { id: 'i.id', createdById: 'i.created_by_id' });
  addVisibilityCondition(whereGiven('d.id'), rights, 'dashboard', { id: 'd.id', createdById: 'd.created_by_id' });
  return { where, from: tables(environment) };
}

/**
 * Locks an annotation until the transaction ends.
 * @returns false if it does not exist
 */
export async function lockAnnotation(tx: Transaction, environmentId: number, id: number): Promise<boolean> {
  const text = 'SELECT 1 FROM annotation WHERE environment_id = $1 AND id = $2 FOR UPDATE';
  return (await tx.query(text, [environmentId, id])).length > 0;
}

const writable = [
  'content',
  'date_marker',
  'scope',
  'creation_type',
  'emoji',
  'hidden_in_user_interface',
  'deleted',
  'insight_id',
  'dashboard_id',
] as const;

function valuesOf({ dashboard_item, ...fields }: AnnotationFields): unknown[] {
  return writable.map((name) => (name === 'insight_id' ? dashboard_item : fields[name]));
}

export async function insertAnnotation(
  tx: Transaction,
  { environmentId, userId }: { environmentId: number; userId: number },
  fields: AnnotationFields,
): Promise<number> {
  const [row] = await tx.query<{ id: number }>(
    `INSERT INTO annotation (environment_id, created_by_id, ${writable.join(', ')})
     VALUES ($1, $2, ${writable.map((_, index) => `$${index + 3}`).join(', ')}) RETURNING id`,
    [environmentId, userId, ...valuesOf(fields)],
  );
  if (!row) throw new Error('An annotation was inserted without an ID.');
  return row.id;
}

export async function updateAnnotation(tx: Transaction, id: number, fields: AnnotationFields): Promise<void> {
  await tx.query(
    `UPDATE annotation SET updated_at = now(), ${writable.map((name, index) => `${name} = $${index + 2}`).join(', ')}
      WHERE id = $1`,
    [id, ...valuesOf(fields)],
  );
}
