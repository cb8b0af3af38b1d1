import { readFileSync } from 'node:fs';
import type { Database, Sql } from '@millrace/db';
import { createTestTenant } from '@millrace/testing';
import { createParser, type SqlParser } from '../src/sql/parse.ts';
import { ample, type TestStore } from './test-store.ts';

export interface SqlCase {
  no: string;
  title: string;
  query: string | { $repeat: [string, string, number, string] };
  values?: Record<string, unknown>;
  filters?: Record<string, unknown>;
  variables?: { name: string; default_value: unknown; value?: unknown; isNull?: boolean }[];
  columns?: string[];
  types?: [string, string][];
  results?: unknown[][];
  /** True if any order of the rows is correct. */
  unordered?: boolean;
  response?: Record<string, unknown>;
  error?: { status: number; code: string; detail: string; start?: number; end?: number };
}

interface SqlDataset {
  project: { timezone: string; week_start_day: number; test_account_filters: unknown[]; now: string };
  persons: {
    id: string;
    distinct_ids: string[];
    moved_ids?: string[];
    created_at: string;
    is_identified: boolean;
    properties: Record<string, unknown>;
  }[];
  groups: { type_index: number; key: string; created_at: string; properties: Record<string, unknown> }[];
  cohorts: { id: string; name: string; is_static: boolean; members?: string[]; filters?: unknown }[];
  property_definitions: { type: string; group_type_index?: number; name: string; property_type: string }[];
  events: Record<string, unknown>[];
}

export const sqlCases = JSON.parse(readFileSync(new URL('./sql-cases.json', import.meta.url), 'utf8')) as {
  dataset: SqlDataset;
  cases: SqlCase[];
};

export interface SqlWorld {
  projectId: number;
  now: number;
  /** Inserts the IDs of cohorts into the text of a query. */
  textOf(query: SqlCase['query']): string;
}

/**
 * Creates the project of the SQL cases, and a second project with the same data. A query that also reads the second
 * project would return other numbers.
 */
export async function openSqlWorld({ database, events }: TestStore): Promise<{ world: SqlWorld; parser: SqlParser }> {
  const world = await createSqlWorld(database);
  const neighbor = await createSqlWorld(database);
  await events.earliest({ projectId: neighbor.projectId, events: null }, ample());
  const parser = createParser();
  // Load the parser in advance, because loading takes seconds on a busy machine.
  await parser.parse('SELECT 1');
  return { world, parser };
}

export async function createSqlWorld(database: Database): Promise<SqlWorld> {
  const { environmentId: projectId } = await createTestTenant(database);
  const { dataset } = sqlCases;
  const { sql } = database;
  const { timezone, week_start_day: weekStart, test_account_filters: testAccounts, now } = dataset.project;
  await sql.query(
    'UPDATE environment SET timezone = $2, week_start_day = $3, test_account_filters = $4 WHERE id = $1',
    [projectId, timezone, weekStart, JSON.stringify(testAccounts)],
  );
  await storePersons(sql, projectId, dataset);
  await storeEvents(sql, projectId, dataset);
  await sql.query(
    `INSERT INTO property_definition (project_id, type, group_type_index, name, property_type, last_seen_at)
     SELECT $1, type, index, name, kind, now() FROM unnest($2::int[], $3::int[], $4::text[], $5::text[]) AS d (type, index, name, kind)`,
    [
      projectId,
      dataset.property_definitions.map(({ type }) => ['event', 'person', 'group'].indexOf(type) + 1),
      dataset.property_definitions.map(({ group_type_index: index }) => index ?? -1),
      dataset.property_definitions.map(({ name }) => name),
      dataset.property_definitions.map(({ property_type: type }) => type),
    ],
  );
  const cohorts = await storeCohorts(sql, projectId, dataset);
  return {
    projectId,
    now: Date.parse(now),
    textOf(query) {
      if (typeof query !== 'string') {
        const [before, repeated, times, after] = query.$repeat;
        return `${before}${repeated.repeat(times)}${after}`;
      }
      return query.replace(/__COHORT_(\w+?)__/g, (_, name: string) => String(cohorts.get(name)));
    },
  };
}

async function storePersons(sql: Sql, projectId: number, { persons, groups }: SqlDataset): Promise<void> {
  for (const { id, distinct_ids: ids, moved_ids: moved = [], created_at, is_identified, properties } of persons) {
    await sql.query(
      `INSERT INTO person (project_id, uuid, main_distinct_id, properties, is_identified, created_at)
       VALUES ($1, $2, $3, $4, $5, $6)`,
      [projectId, id, ids[0], properties, is_identified, created_at],
    );
    await sql.query(
      `INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid, version)
       SELECT $1, id, $3, CASE WHEN id = ANY ($4::text[]) THEN 1 ELSE 0 END FROM unnest($2::text[]) AS id`,
      [projectId, ids, id, moved],
    );
  }
  for (const { type_index, key, created_at, properties } of groups) {
    await sql.query(
      `INSERT INTO "group" (project_id, group_type_index, group_key, group_properties, created_at) VALUES ($1, $2, $3, $4, $5)`,
      [projectId, type_index, key, properties, created_at],
    );
  }
}

async function storeEvents(sql: Sql, projectId: number, { events }: SqlDataset): Promise<void> {
  await sql.query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, person_properties, person_mode, properties,
                        elements_chain, captured_at, created_at)
     SELECT $1, (e ->> 'timestamp')::timestamptz, (e ->> 'uuid')::uuid, e ->> 'event', e ->> 'distinct_id', (e ->> 'person_id')::uuid,
            e -> 'person_properties', CASE e ->> 'person_mode' WHEN 'full' THEN 0 WHEN 'propertyless' THEN 1 ELSE 2 END,
            e -> 'properties', e ->> 'elements_chain', (e ->> 'created_at')::timestamptz, (e ->> 'created_at')::timestamptz
       FROM unnest($2::jsonb[]) AS e`,
    [projectId, events.map((event) => JSON.stringify(event))],
  );
}

async function storeCohorts(sql: Sql, projectId: number, { cohorts }: SqlDataset): Promise<Map<string, number>> {
  const behavior = { type: 'AND', values: [{ type: 'behavioral', key: 'order', value: 'performed_event' }] };
  const behavioral = { id: 'BEHAVIORAL', name: 'Buyers', is_static: false, filters: { properties: behavior } };
  const stored = new Map<string, number>();
  for (const { id, name, is_static, members = [], filters = null } of [
    ...cohorts,
    { ...behavioral, members: undefined },
  ]) {
    const [row] = await sql.query<{ id: number }>(
      'INSERT INTO cohort (project_id, name, is_static, filters) VALUES ($1, $2, $3, $4) RETURNING id',
      [projectId, name, is_static, JSON.stringify(filters)],
    );
    stored.set(id, row?.id ?? 0);
    await sql.query(
      'INSERT INTO cohort_member (project_id, cohort_id, person_uuid) SELECT $1, $2, unnest($3::uuid[])',
      [projectId, row?.id, members],
    );
  }
  return stored;
}
