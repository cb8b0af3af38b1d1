// What a caller may do with the records of an environment, by kind and one by one (docs/api/access.md#access-to-records).

import { type RecordAccessLevel, recordAccessLevels } from '@millrace/accounts';
import { membershipLevels, type Scope } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import type { Conditions } from '../sql/conditions.ts';

/** Kinds of records that access rules can close or open, by the scope of their routes. `name` is another way to address one. */
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
export const kindsOfRecords = Object.keys(governedKinds) as GovernedKind[];

/** A rule that is for the caller. */
interface Rule {
  resource: string;
  resource_id: string | null;
  /** Named for them, for one of their roles, or for everybody. */
  whom: 'own' | 'role' | 'everybody';
  level: RecordAccessLevel;
}

interface RecordName {
  id: string | number;
  /** Who made it may do everything with it; null: nobody is known. */
  createdById: number | null;
}

/** Of a row as lists show it. */
export function nameOf({ id, created_by }: { id: string | number; created_by: { id: number } | null }): RecordName {
  return { id, createdById: created_by?.id ?? null };
}

/** What one caller may do in one environment. */
export interface RecordRights {
  userId: number;
  /** Null: the caller administrates the environment, and may do everything. */
  rules: readonly Rule[] | null;
}

/** Rules that a caller has to keep in an environment. Where there are none at all, nothing is read. */
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

/** The rights that every member of an environment has, without rules for single members or roles. Public links have these rights. */
export async function readRightsOfEverybody(sql: Sql, environmentId: number): Promise<RecordRights> {
  const rules = await sql.query<Rule & Record<string, unknown>>(
    `SELECT resource, resource_id, level, 'everybody' AS whom FROM access_rule
      WHERE environment_id = $1 AND resource <> 'project' AND membership_id IS NULL AND role_id IS NULL`,
    [environmentId],
  );
  return { userId: 0, rules };
}

/**
 * What rules come to: the highest of them. But who is given `none` by name, or only `none` by roles, has nothing, whatever
 * everybody has.
 */
function decide(rules: readonly Rule[]): RecordAccessLevel | undefined {
  const named = rules.filter(({ whom }) => whom !== 'everybody');
  const isNone = ({ level }: Rule) => level === 'none';
  if (named.some((rule) => rule.whom === 'own' && isNone(rule))) return 'none';
  if (named.length > 0 && named.every(isNone)) return 'none';
  const ranks = rules.map(({ level }) => recordAccessLevels.indexOf(level));
  return recordAccessLevels[Math.max(...ranks)];
}

/** What the caller may do with a kind of record: where no rule says anything, change them. */
export function levelOnKind({ rules }: RecordRights, kind: GovernedKind): RecordAccessLevel {
  if (rules === null) return 'manager';
  return decide(rules.filter((rule) => rule.resource === kind && rule.resource_id === null)) ?? 'editor';
}

/** What the caller may do with one record: the rules for it go before those for its kind, and who made it keeps it. */
export function levelOnRecord(
  rights: RecordRights,
  kind: GovernedKind,
  { id, createdById }: RecordName,
): RecordAccessLevel {
  if (rights.rules === null || createdById === rights.userId) return 'manager';
  const own = rights.rules.filter((rule) => rule.resource === kind && rule.resource_id === String(id));
  return decide(own) ?? levelOnKind(rights, kind);
}

/** Whether a level is at least another. */
function reaches(level: RecordAccessLevel, needed: RecordAccessLevel): boolean {
  return recordAccessLevels.indexOf(level) >= recordAccessLevels.indexOf(needed);
}

export function mayDo(
  rights: RecordRights,
  kind: GovernedKind,
  needed: RecordAccessLevel,
  record: RecordName,
): boolean {
  return reaches(levelOnRecord(rights, kind, record), needed);
}

/** @throws AppError `forbidden`. */
export function requireRecord(
  rights: RecordRights,
  kind: GovernedKind,
  needed: RecordAccessLevel,
  record: RecordName,
): void {
  if (!mayDo(rights, kind, needed, record)) throw refused(needed);
}

/**
 * A record that was loaded for the caller. Every function that loads a governed record by an address ends with this, so that what
 * is checked is what is used.
 * @throws AppError `not_found` or `forbidden`.
 */
export function requireFound<Row extends { id: string | number; created_by?: { id: number } | null }>(
  rights: RecordRights,
  { kind, needed }: { kind: GovernedKind; needed: RecordAccessLevel },
  row: Row | undefined,
): Row {
  if (row === undefined) throw new AppError('not_found', 'Not found.');
  requireRecord(rights, kind, needed, { id: row.id, createdById: row.created_by?.id ?? null });
  return row;
}

/** For a new record. @throws AppError `forbidden`. */
export function requireKind(rights: RecordRights, kind: GovernedKind, needed: RecordAccessLevel): void {
  if (!reaches(levelOnKind(rights, kind), needed)) throw refused(needed);
}

/** The caller does not have the level on a record. */
export function refused(needed: RecordAccessLevel): AppError {
  return new AppError('forbidden', `You do not have ${needed} access to this resource.`);
}

/** Records of a kind with rules of their own, by what the caller may do. */
function idsWithRules(rights: RecordRights, kind: GovernedKind, isShown: boolean): string[] {
  const own = rights.rules?.flatMap((rule) => (rule.resource === kind ? (rule.resource_id ?? []) : [])) ?? [];
  return [...new Set(own)].filter((id) => mayDo(rights, kind, 'viewer', { id, createdById: null }) === isShown);
}

/** Ids of the records of a kind that the caller made. Where no rule is about the kind, nobody asks, and nothing is read. */
export async function ownRecords(
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

/** What tells of each record of a kind whether the caller may see it, for many of them. */
export async function sightOf(
  sql: Sql,
  rights: RecordRights,
  place: { environmentId: number; kind: GovernedKind },
): Promise<(record: { id: string | number }) => boolean> {
  const own = await ownRecords(sql, rights, place);
  return ({ id }) =>
    mayDo(rights, place.kind, 'viewer', { id, createdById: own.has(String(id)) ? rights.userId : null });
}

/**
 * Leaves out of a list what the caller may not see.
 * @param columns SQL of the record's id and of who made it, or the ids that the caller made.
 */
export function addShown(
  where: Conditions,
  rights: RecordRights,
  kind: GovernedKind,
  columns: { id: string; createdById?: string; own?: ReadonlySet<string> },
): void {
  const isOpen = reaches(levelOnKind(rights, kind), 'viewer');
  const ids = idsWithRules(rights, kind, !isOpen);
  if (isOpen && ids.length === 0) return;
  const listed = `${columns.id}::text ${isOpen ? '<> ALL' : '= ANY'} (${where.parameter(ids)}::text[])`;
  const made = columns.own
    ? `${columns.id}::text = ANY (${where.parameter([...columns.own])}::text[])`
    : columns.createdById && `${columns.createdById} = ${where.parameter(rights.userId)}::int`;
  where.add(made ? `(${listed} OR coalesce(${made}, false))` : listed);
}

const kindsByPath = new Map<string, GovernedKind>(kindsOfRecords.map((kind) => [governedKinds[kind].path, kind]));

/**
 * Before a route does anything: whether its caller may do that with the kinds of records it is about. A list leaves out what is
 * closed to the caller; a route that addresses one record checks the one it finds (`requireFound`).
 * @throws AppError `forbidden`.
 */
export function requireRouteRights(rights: RecordRights, route: { path: string; scope: Scope }): void {
  if (rights.rules === null || rights.rules.length === 0) return;
  const [object, action] = route.scope.split(':') as [string, 'read' | 'write'];
  const needed = action === 'write' ? 'editor' : 'viewer';
  const kind = kindsByPath.get(route.path.split('/')[1] ?? '');
  const ofScope = kindsOfRecords.find((known) => known === object);
  if (ofScope !== undefined && ofScope !== kind) requireKind(rights, ofScope, needed);
  if (kind === undefined || route.path.includes('/:id')) return;
  const ofKind = ofScope === kind ? needed : 'viewer';
  const isSome = ofKind === 'viewer' && idsWithRules(rights, kind, true).length > 0;
  if (!isSome) requireKind(rights, kind, ofKind);
}

/** The record with an id as addresses write it, else the one with that name. Deleted ones too. */
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
