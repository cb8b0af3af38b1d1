// Persons in ClickHouse. Queries read `person`: the copied persons (`person_copy`), or those in PostgreSQL until all
// have been copied.

import type { ClickHouseClient } from '@clickhouse/client';
import type { PersonKey } from './person-copy-store.ts';
import {
  createPersonOfPostgres,
  quoted,
  type ReadablePostgres,
  repairJsonSql,
  source,
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

const createView = `CREATE OR REPLACE VIEW person AS
    SELECT project_id, uuid, properties, readable, is_identified, created_ms FROM person_copy FINAL`;

/** Creates an empty copy. Queries read persons from PostgreSQL until `showCopiedPersons`. */
export async function createPersonCopyTable(client: ClickHouseClient, postgres: ReadablePostgres): Promise<void> {
  await client.command({ query: createPersonOfPostgres(postgres) });
  await client.command({ query: createCopy });
}

export async function hasPersonCopyTable(client: ClickHouseClient): Promise<boolean> {
  return (await engineOf(client, 'person_copy')) !== null;
}

/** Lets queries read the copied persons. */
export async function showCopiedPersons(client: ClickHouseClient): Promise<void> {
  if ((await engineOf(client, 'person')) !== 'View') await client.command({ query: createView });
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

/** Persons to copy: those of a range of recorded changes, or those after and up to a place in the order of persons. */
type PersonPortion = { ids: readonly string[] } | { after: PersonKey | null; until: PersonKey | null };

/** Copies the current state of persons. For a person that no longer exists, copies that it is deleted. */
export async function copyPersons(
  { client, postgres }: { client: ClickHouseClient; postgres: ReadablePostgres },
  portion: PersonPortion,
  version: string,
): Promise<void> {
  await client.command({
    query: `INSERT INTO person_copy (project_id, uuid, properties, is_identified, created_ms, version, is_deleted)
      SELECT project_id, uuid, ifNull(properties, '{}'), ifNull(is_identified, false), ifNull(created_ms, 0), {version:UInt64},
             isNull(properties)
        FROM postgresql(${source(postgres, `query(${quoted(textOf(portion))})`)})`,
    query_params: { version },
  });
}

/** Builds a query as text, because parameters are not supported here. */
function textOf(portion: PersonPortion): string {
  const columns = 'p.properties::text AS properties, p.is_identified, p.created_ms';
  if ('ids' in portion) {
    const [first, last] = [BigInt(portion.ids[0] ?? 0), BigInt(portion.ids.at(-1) ?? 0)];
    return `SELECT c.project_id, c.person_uuid AS uuid, ${columns}
      FROM (SELECT DISTINCT project_id, person_uuid FROM clickhouse.person_change WHERE id BETWEEN ${first} AND ${last}) c
      LEFT JOIN clickhouse.person p ON p.project_id = c.project_id AND p.uuid = c.person_uuid`;
  }
  const place = ({ projectId, uuid }: PersonKey) => `(${Math.trunc(projectId)}, '${uuid}'::uuid)`;
  const tests = [
    ...(portion.after === null ? [] : [`(p.project_id, p.uuid) > ${place(portion.after)}`]),
    ...(portion.until === null ? [] : [`(p.project_id, p.uuid) <= ${place(portion.until)}`]),
  ];
  const where = tests.length === 0 ? '' : ` WHERE ${tests.join(' AND ')}`;
  return `SELECT p.project_id, p.uuid, ${columns} FROM clickhouse.person p${where}`;
}
