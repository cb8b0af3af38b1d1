// The caller's rights to an environment's records, by kind and for single records
// (docs/api/access.md#access-to-records).

import { type RecordAccessLevel, recordAccessLevels } from '@millrace/accounts';
import { membershipLevels, type Scope } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import type { Conditions } from '../sql/conditions.ts';

/**
 * Record kinds that access rules can restrict, by the scope of their routes. `name` is a column that paths can use to
 * identify a record, as an alternative to its ID.
 */
export const governedKinds = {
  cohort: { path: 'cohorts', table: 'cohort', name: 'NULL', creator: 'created_by_id' },
  dashboard: { path: 'dashboards', table: 'dashboard', name: 'NULL', creator: 'created_by_id' },
  early_access_feature: {
    path: 'early_access_feature',
    table: 'early_access_feature',
    name: 'NULL',
    creator: 'NULL::int',
  },
  feature_flag: { path: 'feature_flags', table: 'feature_flag', name: 'NULL', creator: 'created_by_id' },
  insight: { path: 'insights', table: 'insight', name: 'short_id', creator: 'created_by_id' },
} as const;
export type GovernedKind = keyof typeof governedKinds;
export const governedKindNames = Object.keys(governedKinds) as GovernedKind[];

interface Rule {
  resource: string;
  resource_id: string | null;
  /** Whether the rule applies to the caller, to one of the caller's roles, or to everyone. */
  whom: 'own' | 'role' | 'everybody';
  level: RecordAccessLevel;
}

interface RecordName {
  id: string | number;
  /** The creator, who has all rights to the record. Null if unknown. */
  createdById: number | null;
}

export function toRecordName({
  id,
  created_by,
}: {
  id: string | number;
  created_by: { id: number } | null;
}): RecordName {
  return { id, createdById: created_by?.id ?? null };
}

export interface RecordRights {
  userId: number;
  /** The rules that apply, or null for environment administrators, who have all rights. */
  rules: readonly Rule[] | null;
}

/** Reads the rules that apply to a caller in an environment. Runs no query if the environment has no rules. */
export async function readRecordRights(
  sql: Sql,
  userId: number,
  { environmentId, level, hasRecordRules }: { environmentId: number; level: number; hasRecordRules: boolean },
): Promise<RecordRights> {
  if (level >= membershipLevels.administrator) return { userId, rules: null };
  if (!hasRecordRules) return { userId, rules: [] };
  const rules = await sql.query<Rule & Record<string, unknown>>(
    `SELECT r.resource, r.resource_id, r.level,
            CASE WHEN r.membership_id IS NOT NULL THEN 'own' WHEN r.role_id IS NOT NULL THEN 'role' ELSE 'everybody' END AS whom
       FROM environment e JOIN project p ON p.id = e.project_id
       JOIN membership m ON m.organization_id = p.organization_id AND m.user_id = $2
       JOIN access_rule r ON r.environment_id = e.id AND r.resource <> 'project'
      WHERE e.id = $1
        AND (r.membership_id = m.id OR (r.membership_id IS NULL AND r.role_id IS NULL)
             OR r.role_id IN (SELECT held.role_id FROM role_membership held WHERE held.membership_id = m.id))`,
    [environmentId, userId],
  );
  return { userId, rules };
}

/**
 * Reads the rights that all members of an environment have. Ignores rules for single members and roles. Public links
 * use these rights.
 */
export async function readRightsOfEveryMember(sql: Sql, environmentId: number): Promise<RecordRights> {
  const rules = await sql.query<Rule & Record<string, unknown>>(
    `SELECT resource, resource_id, level, 'everybody' AS whom FROM access_rule
      WHERE environment_id = $1 AND resource <> 'project' AND membership_id IS NULL AND role_id IS NULL`,
    [environmentId],
  );
  return { userId: 0, rules };
}

/**
 * Returns the highest level that the rules grant. A `none` rule for the caller overrides the rule for everyone. If all
 * of the caller's roles have a `none` rule, these rules override it too.
 */
function decide(rules: readonly Rule[]): RecordAccessLevel | undefined {
  const named = rules.filter(({ whom }) => whom !== 'everybody');
  const isNone = ({ level }: Rule) => level === 'none';
  if (named.some((rule) => rule.whom === 'own' && isNone(rule))) return 'none';
  if (named.length > 0 && named.every(isNone)) return 'none';
  const ranks = rules.map(({ level }) => recordAccessLevels.indexOf(level));
  return recordAccessLevels[Math.max(...ranks)];
}

/** Returns the caller's level for a record kind. Without a rule, every member can change records. */
export function findKindLevel({ rules }: RecordRights, kind: GovernedKind): RecordAccessLevel {
  if (rules === null) return 'manager';
  return decide(rules.filter((rule) => rule.resource === kind && rule.resource_id === null)) ?? 'editor';
}

/**
 * Returns the caller's level for one record. Rules for the record take precedence over rules for its kind, and the
 * record's creator always has all rights.
 */
export function findRecordLevel(
  rights: RecordRights,
  kind: GovernedKind,
  { id, createdById }: RecordName,
): RecordAccessLevel {
  if (rights.rules === null || createdById === rights.userId) return 'manager';
  const own = rights.rules.filter((rule) => rule.resource === kind && rule.resource_id === String(id));
  return decide(own) ?? findKindLevel(rights, kind);
}

function reaches(level: RecordAccessLevel, needed: RecordAccessLevel): boolean {
  return recordAccessLevels.indexOf(level) >= recordAccessLevels.indexOf(needed);
}

export function hasRecordLevel(
  rights: RecordRights,
  kind: GovernedKind,
  needed: RecordAccessLevel,
  record: RecordName,
): boolean {
  return reaches(findRecordLevel(rights, kind, record), needed);
}

export function requireRecord(
  rights: RecordRights,
  kind: GovernedKind,
  needed: RecordAccessLevel,
  record: RecordName,
): void {
  if (!hasRecordLevel(rights, kind, needed, record)) throw createForbiddenError(needed);
}

/**
 * Checks access to a record that was loaded for the caller. Every function that loads a record with access rules by its
 * path ends with a call to this function, so that the checked record is the returned record.
 * @throws AppError `not_found` or `forbidden`
 */
export function requireRecordAccess<Row extends { id: string | number; created_by?: { id: number } | null }>(
  rights: RecordRights,
  { kind, needed }: { kind: GovernedKind; needed: RecordAccessLevel },
  row: Row | undefined,
): Row {
  if (row === undefined) throw new AppError('not_found', 'Not found.');
  requireRecord(rights, kind, needed, { id: row.id, createdById: row.created_by?.id ?? null });
  return row;
}

export function requireKind(rights: RecordRights, kind: GovernedKind, needed: RecordAccessLevel): void {
  if (!reaches(findKindLevel(rights, kind), needed)) throw createForbiddenError(needed);
}

export function createForbiddenError(needed: RecordAccessLevel): AppError {
  return new AppError('forbidden', `You do not have ${needed} access to this resource.`);
}

/**
 * Returns the IDs of records that have their own rules.
 * @param isShown whether to return the records that the caller can see, or those that the caller cannot see
 */
function idsWithRules(rights: RecordRights, kind: GovernedKind, isShown: boolean): string[] {
  const own = rights.rules?.flatMap((rule) => (rule.resource === kind ? (rule.resource_id ?? []) : [])) ?? [];
  return [...new Set(own)].filter(
    (id) => hasRecordLevel(rights, kind, 'viewer', { id, createdById: null }) === isShown,
  );
}

/**
 * Returns the IDs of records that the caller created. Returns an empty list without a query if no rule applies to the
 * record kind, because callers then do not need the IDs.
 */
export async function findOwnRecordIds(
  sql: Sql,
  rights: RecordRights,
  { environmentId, kind }: { environmentId: number; kind: GovernedKind },
): Promise<ReadonlySet<string>> {
  if (!rights.rules?.some(({ resource }) => resource === kind)) return new Set();
  const { table, creator } = governedKinds[kind];
  const rows = await sql.query<{ id: string }>(
    `SELECT id::text AS id FROM ${table} WHERE project_id = $1 AND ${creator} = $2`,
    [environmentId, rights.userId],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Creates a function that returns whether the caller can see a record. For checking many records of one kind. */
export async function createVisibilityCheck(
  sql: Sql,
  rights: RecordRights,
  place: { environmentId: number; kind: GovernedKind },
): Promise<(record: { id: string | number }) => boolean> {
  const own = await findOwnRecordIds(sql, rights, place);
  return ({ id }) =>
    hasRecordLevel(rights, place.kind, 'viewer', { id, createdById: own.has(String(id)) ? rights.userId : null });
}

/**
 * Adds an SQL condition that hides records that the caller cannot view.
 * @param columns the SQL expression of the record ID, and either an SQL expression of the creator or the IDs of the records
 *   that the caller created
 */
export function addVisibilityCondition(
  where: Conditions,
  rights: RecordRights,
  kind: GovernedKind,
  columns: { id: string; createdById?: string; own?: ReadonlySet<string> },
): void {
  const isOpen = reaches(findKindLevel(rights, kind), 'viewer');
  const ids = idsWithRules(rights, kind, !isOpen);
  if (isOpen && ids.length === 0) return;
  const listed = `${columns.id}::text ${isOpen ? '<> ALL' : '= ANY'} (${where.parameter(ids)}::text[])`;
  const made = columns.own
    ? `${columns.id}::text = ANY (${where.parameter([...columns.own])}::text[])`
    : columns.createdById && `${columns.createdById} = ${where.parameter(rights.userId)}::int`;
  where.add(made ? `(${listed} OR coalesce(${made}, false))` : listed);
}

const kindsByPath = new Map<string, GovernedKind>(governedKindNames.map((kind) => [governedKinds[kind].path, kind]));

/**
 * Checks the caller's rights to a route's record kinds, before the handler runs. Afterwards, a list route omits records
 * that the caller cannot see, and a route for one record checks that record (`requireRecordAccess`).
 * @throws AppError `forbidden`
 */
export function requireRouteRights(rights: RecordRights, route: { path: string; scope: Scope }): void {
  if (rights.rules === null || rights.rules.length === 0) return;
  const [object, action] = route.scope.split(':') as [string, 'read' | 'write'];
  const needed = action === 'write' ? 'editor' : 'viewer';
  const kind = kindsByPath.get(route.path.split('/')[1] ?? '');
  const ofScope = governedKindNames.find((known) => known === object);
  if (ofScope !== undefined && ofScope !== kind) requireKind(rights, ofScope, needed);
  if (kind === undefined || route.path.includes('/:id')) return;
  const ofKind = ofScope === kind ? needed : 'viewer';
  const isSome = ofKind === 'viewer' && idsWithRules(rights, kind, true).length > 0;
  if (!isSome) requireKind(rights, kind, ofKind);
}

/** Finds a record by its ID, as written in paths, or by its name if no record has that ID. Includes deleted records. */
export async function findRecord(
  sql: Sql,
  environmentId: number,
  { kind, id }: { kind: GovernedKind; id: string | number },
): Promise<RecordName | undefined> {
  const { table, name, creator } = governedKinds[kind];
  const rows = await sql.query<{ id: string; createdById: number | null }>(
    `SELECT id::text AS id, ${creator} AS "createdById" FROM ${table}
      WHERE project_id = $1 AND (id::text = $2 OR ${name} = $2) ORDER BY id::text = $2 DESC LIMIT 1`,
    [environmentId, String(id)],
  );
  return rows[0];
}
