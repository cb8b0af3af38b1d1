// Persons and moved distinct IDs in ClickHouse. Queries use the tables `person` and `moved_id`. These read from
// PostgreSQL until all persons have been copied, and from the copies (`person_copy` and `moved_id_copy`) afterwards.

import type { ClickHouseClient } from '@clickhouse/client';
import type { PersonKey } from './person-copy-store.ts';
import {
  copySettings,
  createMovedIdOfPostgres,
  createPersonOfPostgres,
  isOnPrimary,
  postgresSource,
  quoted,
  type ReadablePostgres,
  repairJsonSql,
  tableSettings,
} from './tables.ts';

const createCopy = `CREATE OR REPLACE TABLE person_copy (
      project_id    Int32,
      uuid          UUID,
      properties    String CODEC(ZSTD(3)),
      readable      String MATERIALIZED ${repairJsonSql('properties')} CODEC(LZ4),
      is_identified Bool,
      created_ms    Int64,
      version       UInt64,
      -- A deleted person, which stays without its data, so that it also hides the rows of former versions.
      is_deleted    UInt8
    ) ENGINE = ReplacingMergeTree(version, is_deleted)
    ORDER BY (project_id, uuid)
    SETTINGS ${tableSettings}`;

/** Queries only need a distinct ID's hash (see `distinct_id_hash` of the events). */
const createMovedIdCopy = `CREATE OR REPLACE TABLE moved_id_copy (
      project_id       Int32,
      distinct_id_hash UInt64,
      person_uuid      UUID,
      version          UInt64,
      -- The ID was deleted, or belongs to the person derived from it again.
      is_deleted       UInt8
    ) ENGINE = ReplacingMergeTree(version, is_deleted)
    ORDER BY (project_id, distinct_id_hash)
    SETTINGS ${tableSettings}`;

const views = {
  person: `CREATE OR REPLACE VIEW person AS
    SELECT project_id, uuid, properties, readable, is_identified, created_ms FROM person_copy FINAL`,
  moved_id: `CREATE OR REPLACE VIEW moved_id AS
    SELECT project_id, distinct_id_hash, person_uuid FROM moved_id_copy FINAL`,
};

/** Creates empty tables for the copies. Queries read PostgreSQL until `switchToCopiedPersons` is called. */
export async function createPersonCopyTables(client: ClickHouseClient, postgres: ReadablePostgres): Promise<void> {
  const tables = [createPersonOfPostgres(postgres), createMovedIdOfPostgres(postgres), createCopy, createMovedIdCopy];
  for (const query of tables) await client.command({ query });
}

export async function hasPersonCopyTables(client: ClickHouseClient): Promise<boolean> {
  for (const table of ['person_copy', 'moved_id_copy']) if ((await engineOf(client, table)) === null) return false;
  return true;
}

export async function switchToCopiedPersons(client: ClickHouseClient): Promise<void> {
  for (const [name, query] of Object.entries(views)) {
    if ((await engineOf(client, name)) !== 'View') await client.command({ query });
  }
}

async function engineOf(client: ClickHouseClient, table: string): Promise<string | null> {
  const result = await client.query({
    query: 'SELECT engine FROM system.tables WHERE database = currentDatabase() AND name = {table:String}',
    query_params: { table },
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ engine: string }>();
  return row?.engine ?? null;
}

/** The persons to copy: either persons with recorded changes, or all persons in a key range. */
type PersonPortion = { ids: readonly string[] } | { after: PersonKey | null; until: PersonKey | null };

/**
 * Copies the current state of persons and of their moved IDs. Marks persons and IDs that no longer exist as deleted in
 * the copy.
 */
export async function copyPersons(
  { client, postgres }: { client: ClickHouseClient; postgres: ReadablePostgres },
  portion: PersonPortion,
  version: string,
): Promise<void> {
  const read = (text: string) => `postgresql(${postgresSource(postgres, `query(${quoted(text)})`)})`;
  await client.command({
    query: `INSERT INTO moved_id_copy (project_id, distinct_id_hash, person_uuid, version, is_deleted) ${copySettings}
      SELECT project_id, cityHash64(distinct_id), ifNull(person_uuid, toUUID('${noUuid}')), {version:UInt64}, isNull(person_uuid)
        FROM ${read(movedIdsText(portion))}`,
    query_params: { version },
  });
  await client.command({
    query: `INSERT INTO person_copy (project_id, uuid, properties, is_identified, created_ms, version, is_deleted) ${copySettings}
      SELECT project_id, uuid, ifNull(properties, '{}'), ifNull(is_identified, false), ifNull(created_ms, 0), {version:UInt64},
             isNull(properties)
        FROM ${read(personsText(portion))}`,
    query_params: { version },
  });
}

const noUuid = '00000000-0000-0000-0000-000000000000';

/**
 * Builds a query for PostgreSQL as a string, because ClickHouse does not support parameters in its table function
 * `postgresql`.
 */
function personsText(portion: PersonPortion): string {
  const columns = 'p.properties::text AS properties, p.is_identified, p.created_ms';
  if ('ids' in portion)
    return `SELECT c.project_id, c.person_uuid AS uuid, ${columns}
      FROM (SELECT DISTINCT project_id, person_uuid FROM clickhouse.person_change
             WHERE ${isRecorded(portion.ids)} AND person_uuid IS NOT NULL) c
      LEFT JOIN clickhouse.person p ON p.project_id = c.project_id AND p.uuid = c.person_uuid WHERE ${isOnPrimary}`;
  return `SELECT p.project_id, p.uuid, ${columns} FROM clickhouse.person p WHERE ${isBetween(portion, 'p.project_id, p.uuid')}`;
}

function movedIdsText(portion: PersonPortion): string {
  if ('ids' in portion)
    return `SELECT c.project_id, c.distinct_id, m.person_uuid
      FROM (SELECT DISTINCT project_id, distinct_id FROM clickhouse.person_change
             WHERE ${isRecorded(portion.ids)} AND distinct_id IS NOT NULL) c
      LEFT JOIN clickhouse.moved_id m ON m.project_id = c.project_id AND m.distinct_id = c.distinct_id WHERE ${isOnPrimary}`;
  return `SELECT m.project_id, m.distinct_id, m.person_uuid FROM clickhouse.moved_id m
    WHERE ${isBetween(portion, 'm.project_id, m.person_uuid')}`;
}

function isRecorded(ids: readonly string[]): string {
  return `id BETWEEN ${BigInt(ids[0] ?? 0)} AND ${BigInt(ids.at(-1) ?? 0)}`;
}

function isBetween({ after, until }: { after: PersonKey | null; until: PersonKey | null }, key: string): string {
  const place = ({ projectId, uuid }: PersonKey) => `(${Math.trunc(projectId)}, '${uuid}'::uuid)`;
  const tests = [
    isOnPrimary,
    ...(after === null ? [] : [`(${key}) > ${place(after)}`]),
    ...(until === null ? [] : [`(${key}) <= ${place(until)}`]),
  ];
  return tests.join(' AND ');
}
