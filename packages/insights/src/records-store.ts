// Reads the persons and groups in results, and the project settings that affect queries.

import type { Sql } from '@millrace/db';
import type { Cohort } from './plan/conditions.ts';
import { buildPropertyKey, type ProjectSettings } from './plan/context.ts';
import { type PersonsMode, personsModes } from './query-parts.ts';
import type { StoredVariable } from './sql-variables.ts';

export async function readProjectSettings(sql: Sql, projectId: number): Promise<ProjectSettings> {
  const [row] = await sql.query<SettingsRow>(
    `SELECT timezone, week_start_day, test_account_filters, modifiers, human_friendly_comparison_periods,
            (SELECT json_agg(json_build_object('id', v.id, 'code_name', v.code_name, 'type', v.type,
                                               'default_value', v.default_value, 'values', v."values") ORDER BY v.id)
               FROM insight_variable v WHERE v.environment_id = environment.id) AS variables
       FROM environment WHERE id = $1`,
    [projectId],
  );
  const cohorts = await sql.query<CohortRow>(
    'SELECT id, name, is_static, filters FROM cohort WHERE project_id = $1 AND NOT deleted',
    [projectId],
  );
  return {
    projectId,
    timezone: row?.timezone ?? 'UTC',
    weekStart: row?.week_start_day ?? null,
    testAccountFilters: Array.isArray(row?.test_account_filters) ? row.test_account_filters : [],
    personsMode: modeOf(row?.modifiers),
    comparesInWeeks: row?.human_friendly_comparison_periods ?? false,
    cohorts: new Map(
      cohorts.map(({ id, name, is_static: isStatic, filters }): [number, Cohort] => [
        id,
        { name, isStatic, tree: treeOf(filters) },
      ]),
    ),
    variables: row?.variables ?? [],
  };
}

interface SettingsRow extends Record<string, unknown> {
  timezone: string;
  week_start_day: number | null;
  test_account_filters: unknown;
  modifiers: unknown;
  human_friendly_comparison_periods: boolean | null;
  variables: StoredVariable[] | null;
}

interface CohortRow extends Record<string, unknown> {
  id: number;
  name: string | null;
  is_static: boolean;
  filters: unknown;
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
const treeOf = (filters: unknown) => fieldOf(filters, 'properties');

/** Returns the reason why the query modifiers are not valid for a project, or null if they are. */
export function findModifierProblem(modifiers: unknown): string | null {
  const isKnown = (fieldOf(modifiers, 'personsOnEventsMode') ?? null) === null || modeOf(modifiers) !== null;
  return isKnown ? null : `personsOnEventsMode: Choose one of: ${personsModes.join(', ')}.`;
}

function modeOf(modifiers: unknown): PersonsMode | null {
  const mode = fieldOf(modifiers, 'personsOnEventsMode');
  return personsModes.find((known) => known === mode) ?? null;
}

const propertyTypes = ['', 'event', 'person', 'group'];

/** Returns which of the given properties are boolean, as keys from `buildPropertyKey`. */
export async function readBooleanProperties(
  sql: Sql,
  projectId: number,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  const rows = await sql.query<{ type: number; index: number; name: string }>(
    `SELECT type, group_type_index AS index, name FROM property_definition
      WHERE project_id = $1 AND type IN (1, 2, 3) AND name = ANY ($2::text[]) AND property_type = 'Boolean'`,
    [projectId, names],
  );
  return new Set(rows.map(({ type, index, name }) => buildPropertyKey(propertyTypes[type] ?? '', index, name)));
}

/** Returns the types of properties, with keys such as `event name`, `person name` and `group 0 name`. */
export async function readPropertyTypes(
  sql: Sql,
  projectId: number,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (names.length === 0) return new Map();
  const rows = await sql.query<{ type: number; index: number; name: string; property_type: string }>(
    `SELECT type, group_type_index AS index, name, property_type FROM property_definition
      WHERE project_id = $1 AND type IN (1, 2, 3) AND name = ANY ($2::text[]) AND property_type IS NOT NULL`,
    [projectId, names],
  );
  return new Map(
    rows.map(({ type, index, name, property_type: propertyType }) => [
      `${propertyTypes[type]}${type === 3 ? ` ${index}` : ''} ${name}`,
      propertyType,
    ]),
  );
}

/**
 * Maximum length of a query whose text is searched for property names. For a longer query, the types of all properties
 * are read.
 */
const longestSearched = 20_000;

/**
 * Returns the types of all properties that a query may read: those whose names occur in any string in the query. The
 * result depends on these types, so they are part of its cache key.
 */
export async function readPropertyTypesInQuery(
  sql: Sql,
  { projectId, testAccountFilters }: ProjectSettings,
  query: unknown,
): Promise<readonly (readonly unknown[])[]> {
  const text = textsOf([query, testAccountFilters])
    .join('\n')
    .replaceAll(/[\\\0]/g, '');
  const rows = await sql.query<{ found: unknown[] }>(
    `SELECT json_build_array(type, group_type_index, name, property_type) AS found FROM property_definition
      WHERE project_id = $1 AND type IN (1, 2, 3) AND property_type IN ('Numeric', 'Boolean', 'DateTime')
        AND ($2::text IS NULL OR strpos($2, replace(name, '\\', '')) > 0)
      ORDER BY type, group_type_index, name`,
    [projectId, text.length > longestSearched ? null : text],
  );
  return rows.map(({ found }) => found);
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

export interface PersonRecord {
  id: string;
  properties: Record<string, unknown>;
  is_identified: boolean;
  created_at: Date;
  distinct_ids: string[];
}

/** Maximum number of a person's distinct IDs in a result. */
const maxDistinctIds = 100;

/** Reads persons by UUID, each with the main distinct ID first. Omits persons that do not exist. */
export async function readPersons(
  sql: Sql,
  projectId: number,
  uuids: readonly string[],
): Promise<Map<string, PersonRecord>> {
  if (uuids.length === 0) return new Map();
  const rows = await sql.query<PersonRecord & Record<string, unknown>>(
    `SELECT p.uuid AS id, p.properties, p.is_identified, p.created_at,
            ARRAY(SELECT d.distinct_id FROM person_distinct_id d
                   WHERE d.project_id = p.project_id AND d.person_uuid = p.uuid
                   ORDER BY d.distinct_id = p.main_distinct_id DESC, d.id LIMIT ${maxDistinctIds}) AS distinct_ids
       FROM person p WHERE p.project_id = $1 AND p.uuid = ANY ($2::uuid[])`,
    [projectId, uuids],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

export interface GroupRecord {
  group_key: string;
  group_properties: Record<string, unknown>;
  created_at: Date;
}

export async function readGroups(
  sql: Sql,
  projectId: number,
  { index, keys }: { index: number; keys: readonly string[] },
): Promise<Map<string, GroupRecord>> {
  const rows = await sql.query<GroupRecord & Record<string, unknown>>(
    `SELECT group_key, group_properties, created_at FROM "group"
      WHERE project_id = $1 AND group_type_index = $2 AND group_key = ANY ($3::text[])`,
    [projectId, index, keys],
  );
  return new Map(rows.map((row) => [row.group_key, row]));
}

/** Returns PostgreSQL's estimate of the total number of events in all projects. */
export async function estimateEvents(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `SELECT coalesce(sum(greatest(c.reltuples, 0)), 0)::float8 AS count
       FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'event'::regclass`,
  );
  return row?.count ?? 0;
}
