import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Database, Sql } from '@millrace/db';
import { createTestTenant } from '@millrace/testing';

export interface Dataset {
  events: CaseEvent[];
  persons: { distinct_ids: string[]; created_at: string; properties: Record<string, unknown> }[];
  /** Names of event properties whose definition has the type Boolean. */
  booleans?: string[];
  groups?: { type_index: number; key: string; created_at: string; properties: Record<string, unknown> }[];
}

interface CaseEvent {
  event: string;
  distinct_id: string;
  timestamp: string;
  properties?: Record<string, unknown>;
  person_properties?: Record<string, unknown>;
}

export interface InsightCase {
  no: string;
  name: string;
  /** Name of a dataset in insight-cases.json, or an inline dataset. */
  dataset: string | Dataset;
  timezone: string;
  weekStart: number;
  now: string;
  merges?: [string, string][];
  testAccountFilters?: unknown[];
  personMode?: 'event';
  query: unknown;
  expect: Record<string, unknown>;
}

export interface CaseFile {
  datasets: Record<string, Dataset>;
  cases: InsightCase[];
}

export const caseFile = JSON.parse(readFileSync(new URL('./insight-cases.json', import.meta.url), 'utf8')) as CaseFile;

/** Returns the ID of the person created from a distinct ID. */
export function uuidOf(projectId: number, distinctId: string): string {
  const hex = createHash('sha256').update(`${projectId}:${distinctId}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * Returns a function that creates the project of a case, with the case's dataset and settings. Each combination of
 * dataset and merges is stored only once.
 */
export function createCaseProjects(database: Database): (one: InsightCase) => Promise<number> {
  const projects = new Map<string, Promise<number>>();

  async function create({ dataset, merges = [] }: InsightCase): Promise<number> {
    const { environmentId } = await createTestTenant(database);
    const data = typeof dataset === 'string' ? caseFile.datasets[dataset] : dataset;
    if (data === undefined) throw new Error(`There is no data set ${dataset}.`);
    await storeDataset(database.sql, environmentId, data);
    for (const pair of merges) await merge(database.sql, environmentId, pair);
    return environmentId;
  }

  return async (one) => {
    const key = JSON.stringify([one.dataset, one.merges]);
    const created = projects.get(key) ?? create(one);
    projects.set(key, created);
    const projectId = await created;
    const mode =
      one.personMode === 'event' ? 'person_id_override_properties_on_events' : 'person_id_override_properties_joined';
    await database.sql.query(
      `UPDATE environment SET timezone = $2, week_start_day = $3, test_account_filters = $4, modifiers = $5 WHERE id = $1`,
      [
        projectId,
        one.timezone,
        one.weekStart,
        JSON.stringify(one.testAccountFilters ?? []),
        { personsOnEventsMode: mode },
      ],
    );
    return projectId;
  };
}

/** Stores a dataset in the same way as the event consumer. */
export async function storeDataset(
  sql: Sql,
  projectId: number,
  { events, persons, groups = [], booleans = [] }: Dataset,
): Promise<void> {
  const known = new Set(persons.flatMap(({ distinct_ids }) => distinct_ids));
  const others = new Map<string, (typeof persons)[number]>();
  for (const { distinct_id: id, timestamp, properties } of events) {
    if (known.has(id) || properties?.$process_person_profile === false || others.has(id)) continue;
    others.set(id, { distinct_ids: [id], created_at: timestamp, properties: {} });
  }
  for (const { distinct_ids, created_at, properties } of [...persons, ...others.values()]) {
    const uuid = uuidOf(projectId, distinct_ids[0] ?? '');
    await sql.query(
      `INSERT INTO person (project_id, uuid, main_distinct_id, properties, created_at) VALUES ($1, $2, $3, $4, $5)`,
      [projectId, uuid, distinct_ids[0], properties, created_at],
    );
    await sql.query(
      `INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid, version)
       SELECT $1, id, $3, CASE WHEN at = 1 THEN 0 ELSE 1 END FROM unnest($2::text[]) WITH ORDINALITY AS ids (id, at)`,
      [projectId, distinct_ids, uuid],
    );
  }
  for (const { type_index, key, created_at, properties } of groups) {
    await sql.query(
      `INSERT INTO "group" (project_id, group_type_index, group_key, group_properties, created_at) VALUES ($1, $2, $3, $4, $5)`,
      [projectId, type_index, key, properties, created_at],
    );
  }
  await sql.query(
    `INSERT INTO property_definition (project_id, type, name, property_type, last_seen_at) SELECT $1, 1, name, 'Boolean', now() FROM unnest($2::text[]) AS name`,
    [projectId, booleans],
  );
  await storeEvents(sql, projectId, events);
}

/** Stores each event with the person that its distinct ID created, even if that person was merged later. */
async function storeEvents(sql: Sql, projectId: number, events: readonly CaseEvent[]): Promise<void> {
  if (events.length === 0) return;
  const column = <T>(read: (event: CaseEvent) => T) => events.map(read);
  await sql.query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, person_properties, properties, captured_at)
     SELECT $1, e.timestamp, e.uuid, e.event, e.distinct_id, e.person_id, e.person_properties, e.properties, now()
       FROM unnest($2::timestamptz[], $3::uuid[], $4::text[], $5::text[], $6::uuid[], $7::jsonb[], $8::jsonb[])
            AS e (timestamp, uuid, event, distinct_id, person_id, person_properties, properties)`,
    [
      projectId,
      column(({ timestamp }) => timestamp),
      column(() => randomUUID()),
      column(({ event }) => event),
      column(({ distinct_id }) => distinct_id),
      column(({ distinct_id }) => uuidOf(projectId, distinct_id)),
      column(({ person_properties }) => JSON.stringify(person_properties ?? {})),
      column(({ properties }) => JSON.stringify(properties ?? {})),
    ],
  );
}

/**
 * Merges two persons. The distinct IDs of the first person move to the second one, whose creation time becomes the
 * earlier of the two.
 */
export async function merge(sql: Sql, projectId: number, [from, into]: [string, string]): Promise<void> {
  const personOf = async (id: string) => {
    const [row] = await sql.query<{ person_uuid: string }>(
      'SELECT person_uuid FROM person_distinct_id WHERE project_id = $1 AND distinct_id = $2',
      [projectId, id],
    );
    return row?.person_uuid;
  };
  const [merged, stays] = [await personOf(from), await personOf(into)];
  await sql.query(
    `UPDATE person SET created_at = (SELECT min(created_at) FROM person WHERE project_id = $1 AND uuid = ANY ($2::uuid[]))
      WHERE project_id = $1 AND uuid = $3`,
    [projectId, [merged, stays], stays],
  );
  await sql.query(
    'UPDATE person_distinct_id SET person_uuid = $3, version = version + 1 WHERE project_id = $1 AND person_uuid = $2',
    [projectId, merged, stays],
  );
  await sql.query('DELETE FROM person WHERE project_id = $1 AND uuid = $2', [projectId, merged]);
}

/** Deletes a distinct ID's person and all the person's distinct IDs, but not the person's events. */
export async function deletePerson(sql: Sql, projectId: number, id: string): Promise<void> {
  await sql.query(
    `WITH gone AS (
       DELETE FROM person_distinct_id d USING person_distinct_id sought
        WHERE sought.project_id = $1 AND sought.distinct_id = $2
          AND d.project_id = $1 AND d.person_uuid = sought.person_uuid
       RETURNING d.person_uuid)
     DELETE FROM person p USING gone WHERE p.project_id = $1 AND p.uuid = gone.person_uuid`,
    [projectId, id],
  );
}

/** Gives a distinct ID a new person, even if its previous person was deleted. */
export async function split(
  sql: Sql,
  projectId: number,
  { id, into, createdAt }: { id: string; into: string; createdAt: Date },
): Promise<void> {
  const uuid = uuidOf(projectId, into);
  await sql.query(
    `INSERT INTO person (project_id, uuid, main_distinct_id, properties, created_at) VALUES ($1, $2, $3, '{}', $4)`,
    [projectId, uuid, id, createdAt],
  );
  await sql.query(
    `INSERT INTO person_distinct_id AS d (project_id, distinct_id, person_uuid, version) VALUES ($1, $2, $3, 1)
     ON CONFLICT (project_id, distinct_id) DO UPDATE SET person_uuid = $3, version = d.version + 1`,
    [projectId, id, uuid],
  );
}
