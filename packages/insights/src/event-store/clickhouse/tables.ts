// Tables that queries read in ClickHouse: events, and tables that read persons, groups and cohorts from PostgreSQL.

import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { sleep } from '@millrace/runtime';

/** A PostgreSQL connection for ClickHouse. The role must be able to read the views of the schema `clickhouse`. */
export interface ReadablePostgres {
  /** `postgresql://role:password@host:port/database`, with a host that ClickHouse can reach. */
  url: string;
}

export const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/**
 * Returns the arguments of ClickHouse's PostgreSQL table engine and function. @param what a quoted table name or query
 */
export function postgresSource({ url }: ReadablePostgres, what: string): string {
  const { hostname, port, username, password, pathname } = new URL(url);
  const [user, secret] = [decodeURIComponent(username), decodeURIComponent(password)];
  return `${quoted(`${hostname}:${port || '5432'}`)}, ${quoted(pathname.slice(1))}, ${what}, ${quoted(user)}, ${quoted(secret)}`;
}

/**
 * SQL that replaces numbers in JSON that exceed 64 bits. ClickHouse's JSON parser fails on such a number and then finds
 * no property in the document. The SQL adds an exponent to the number, or replaces the number with null if it exceeds
 * the range of a double. The stored text that users see is unchanged. The inner `if` is necessary because an INSERT
 * evaluates both branches for every event.
 * @param document the column that contains the JSON
 */
export const repairJsonSql = (
  document: string,
) => `if(isValidJSON(${document}), ${document}, arrayStringConcat(arrayMap(
    part -> if(startsWith(part, '"'), part, replaceRegexpAll(replaceRegexpAll(part,
      '-?(\\\\d[\\\\d.]*[eE]\\\\+?[3-9]\\\\d\\\\d+|\\\\d{300,})', 'null'), '(-?\\\\d{17,}(\\\\.\\\\d+)?)', '\\\\1e0')),
    extractAll(if(isValidJSON(${document}), '', ${document}), '"(?:[^"\\\\\\\\]|\\\\\\\\.)*"|[^"]+'))))`;

/**
 * The most used properties, divided into those with few and those with many distinct values. Each property has its own
 * column, so that queries do not read the text of all properties.
 */
export const propertyColumns = {
  few: [
    '$browser',
    '$os',
    '$device_type',
    '$lib',
    '$host',
    '$referring_domain',
    '$screen_name',
    '$geoip_country_code',
    'utm_source',
    'utm_medium',
    'utm_campaign',
    '$feature_flag',
    '$feature_flag_response',
  ],
  many: [
    '$current_url',
    '$pathname',
    '$referrer',
    '$session_id',
    '$group_0',
    '$group_1',
    '$group_2',
    '$group_3',
    '$group_4',
  ],
} as const;

const usual = [
  ...propertyColumns.few.map((name) => `\`${name}\` LowCardinality(Nullable(String))`),
  ...propertyColumns.many.map((name) => `\`${name}\` Nullable(String)`),
].join(',\n        ');

const columns = [
  'project_id',
  'timestamp',
  'uuid',
  'event',
  'distinct_id',
  'person_id',
  'person_created_at',
  'person_properties',
  'person_mode',
  'properties',
  'elements_chain',
  'historical_migration',
  'captured_at',
  'created_at',
].join(', ');

/**
 * ClickHouse writes each inserted part to disk before it confirms the copy. Otherwise, a power failure could lose parts
 * that PostgreSQL records as copied. Merges do not need this, because they keep their source parts long enough.
 */
export const tableSettings =
  'min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1, fsync_after_insert = 1, fsync_part_directory = 1';

/** `events_rebuilt` is a new table that will replace `events` (see rebuild.ts). */
type EventsTable = 'events' | 'events_rebuilt';

/**
 * The delivery worker stores each event once (see `copyEvents`), so its table is a MergeTree. ClickHouse may read a
 * record from Kafka twice, so a table that it fills from Kafka is a ReplacingMergeTree, which queries read with `FINAL`.
 */
type EventsTableEngine = 'MergeTree' | 'ReplacingMergeTree';

export const createEventsTableSql = (
  name: EventsTable,
  engine: EventsTableEngine = 'MergeTree',
) => `CREATE TABLE IF NOT EXISTS ${name} (
      project_id           Int32,
      timestamp            DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
      uuid                 UUID,
      event                LowCardinality(String),
      distinct_id          String CODEC(ZSTD(1)),
      -- Queries look up the current person by this number, which is read in less time than the text.
      distinct_id_hash     UInt64 MATERIALIZED cityHash64(distinct_id) CODEC(Delta, ZSTD(1)),
      -- The person at the time of ingestion. Queries look up the distinct ID's current person in PostgreSQL.
      person_id            UUID,
      person_created_at    Nullable(DateTime64(3, 'UTC')),
      person_properties    String CODEC(ZSTD(3)),
      person_mode          LowCardinality(String),
      properties           String CODEC(ZSTD(3)),
      -- Queries on properties read this entire column. The codec is LZ4, because with ZSTD, decompression took half of the query time.
      readable             String MATERIALIZED ${repairJsonSql('properties')} CODEC(LZ4),
      usual                MATERIALIZED JSONExtract(readable, 'Tuple(
        ${usual})') CODEC(ZSTD(1)),
      elements_chain       String CODEC(ZSTD(3)),
      historical_migration Bool,
      captured_at          DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
      -- The time when the event was stored in PostgreSQL. The topic's records do not contain this time.
      created_at           DateTime64(3, 'UTC') DEFAULT captured_at CODEC(Delta, ZSTD(1)),
      INDEX by_distinct_id distinct_id TYPE bloom_filter(0.01) GRANULARITY 1,
      INDEX by_person person_id TYPE bloom_filter(0.01) GRANULARITY 1,
      INDEX by_stored_time created_at TYPE minmax GRANULARITY 1
    ) ENGINE = ${engine}
    PARTITION BY toYYYYMM(timestamp)
    -- toDate32, because toDate gives events from before 1970 a later date, and queries would skip them.
    ORDER BY (project_id, toDate32(timestamp), event, cityHash64(distinct_id), uuid)
    SETTINGS ${tableSettings}`;

/**
 * Creates missing tables in the connection's database. Recreates the tables that read from PostgreSQL, because the
 * address of PostgreSQL may have changed.
 */
export async function createTables(client: ClickHouseClient, postgres: ReadablePostgres): Promise<void> {
  await client.command({ query: createEventsTableSql('events') });
  await client.command({ query: createPersonOfPostgres(postgres) });
  await client.command({ query: createMovedIdOfPostgres(postgres) });
  const tables = {
    person_distinct_id: 'project_id Int32, distinct_id String, person_uuid UUID',
    group: 'project_id Int32, group_type_index Int32, group_key String, group_properties String, created_ms Int64',
    cohort_member: 'project_id Int32, cohort_id Int32, person_uuid UUID',
  };
  for (const [name, fields] of Object.entries(tables)) {
    await client.command({ query: createOfPostgres(postgres, name, fields) });
  }
}

const createOfPostgres = (postgres: ReadablePostgres, name: string, fields: string) =>
  `CREATE OR REPLACE TABLE "${name}" (${fields}) ENGINE = PostgreSQL(${postgresSource(postgres, quoted(name))}, 'clickhouse')`;

/**
 * Returns the statement that makes `person` read from PostgreSQL, which queries need until all persons have been copied
 * (see person-tables.ts).
 */
export const createPersonOfPostgres = (postgres: ReadablePostgres) =>
  createOfPostgres(
    postgres,
    'person',
    `project_id Int32, uuid UUID, properties String, readable String ALIAS ${repairJsonSql('properties')}, is_identified Bool, created_ms Int64`,
  );

/**
 * Returns the statement that makes `moved_id` read from PostgreSQL, which queries need until all persons have been
 * copied.
 */
export const createMovedIdOfPostgres = (postgres: ReadablePostgres) =>
  createOfPostgres(
    postgres,
    'moved_id',
    'project_id Int32, distinct_id String, distinct_id_hash UInt64 ALIAS cityHash64(distinct_id), person_uuid UUID',
  );

/**
 * Settings of statements that copy data. A portion can contain events from any number of months, but by default
 * ClickHouse rejects an insert with more than 100 months. The time limit is shorter than the connection timeout and the
 * lease. A statement whose process has ended therefore stops before another process could delete events that the
 * statement would restore.
 */
export const copySettings = 'SETTINGS max_partitions_per_insert_block = 0, max_execution_time = 240';

/** Condition that causes an error on a read replica, which may not have the newest events and persons yet. */
export const isOnPrimary = `(SELECT (CASE WHEN pg_is_in_recovery()
    THEN 'CLICKHOUSE_POSTGRES_URL is a read replica. Use the primary server' ELSE '1' END)::int) = 1`;

export interface StoredSpan {
  from: Date;
  until: Date;
}

const timeOf = (parameter: string) => `fromUnixTimestamp64Milli({${parameter}:Int64}, 'UTC')`;

/** Returns the connection's database, and the engine of its events table, which an operator may have created. */
async function describeEvents(client: ClickHouseClient): Promise<{ database: string; engine: EventsTableEngine }> {
  const result = await client.query({
    query: "SELECT database, engine FROM system.tables WHERE database = currentDatabase() AND name = 'events'",
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ database: string; engine: string }>();
  const engine = row?.engine.endsWith('ReplacingMergeTree') ? 'ReplacingMergeTree' : 'MergeTree';
  return { database: row?.database ?? '', engine };
}

type Statement = Omit<Parameters<ClickHouseClient['command']>[0], 'query_id'>;

const alreadyRunning = '216';
const patienceMs = 5000;

/**
 * Runs a statement that changes a table of events. All statements of this function have the same query ID. ClickHouse
 * rejects a query that has the ID of a running query, so the statements never overlap, even if one continues after a
 * client timeout or after the delivery worker was killed.
 *
 * Waits briefly while another statement is running, because ClickHouse may still list a statement after its client has
 * received the result.
 * @param build a function that returns the statement, or null if there is nothing to do
 * @throws ClickHouseError if the other statement takes longer
 */
async function changeEvents(
  client: ClickHouseClient,
  build: (engine: EventsTableEngine) => Statement | null,
  table: EventsTable = 'events',
): Promise<void> {
  const { database, engine } = await describeEvents(client);
  const statement = build(engine);
  if (statement === null) return;
  const query_id = `Millrace changes ${database}.${table}`;
  for (const startedAt = performance.now(); ; await sleep(50)) {
    try {
      // Without this setting, a ClickHouse user's profile could let the new query replace the running query.
      const clickhouse_settings = { ...statement.clickhouse_settings, replace_running_query: 0 as const };
      await client.command({ ...statement, clickhouse_settings, query_id });
      return;
    } catch (error) {
      const isRunning = error instanceof ClickHouseError && error.code === alreadyRunning;
      if (!isRunning || performance.now() - startedAt > patienceMs) throw error;
    }
  }
}

/**
 * Copies the events of a span from PostgreSQL, except those that an interrupted attempt has already copied, so that
 * each event is stored once. An event keeps the time at which PostgreSQL stored it, so every attempt to copy it has a
 * span that contains this time.
 *
 * In a table that ClickHouse also fills from Kafka, the copied event replaces the one from Kafka.
 */
export async function copyEvents(
  client: ClickHouseClient,
  postgres: ReadablePostgres,
  { from, until }: StoredSpan,
  into: EventsTable = 'events',
): Promise<void> {
  // This string is a query for PostgreSQL, in which ClickHouse does not support parameters.
  const query = quoted(
    `SELECT project_id, timestamp_ms, uuid, event, distinct_id, person_id, person_created_ms, person_properties::text AS person_properties, person_mode, properties::text AS properties, elements_chain, historical_migration, captured_ms, created_ms FROM clickhouse.event WHERE ${isOnPrimary} AND created_at >= '${from.toISOString()}' AND created_at < '${until.toISOString()}'`,
  );
  const time = (name: string) => `fromUnixTimestamp64Milli(toInt64(${name}), 'UTC')`;
  const isCopied = `(project_id, uuid) IN (SELECT project_id, uuid FROM ${into}
          WHERE created_at >= ${timeOf('from')} AND created_at < ${timeOf('until')})`;
  const insert = `INSERT INTO ${into} (${columns}) ${copySettings}
      SELECT project_id, ${time('timestamp_ms')}, uuid, event, distinct_id, person_id,
             if(isNull(person_created_ms), NULL, ${time('ifNull(person_created_ms, 0)')}), person_properties, person_mode, properties,
             elements_chain, historical_migration, ${time('captured_ms')}, ${time('created_ms')}
        FROM postgresql(${postgresSource(postgres, `query(${query})`)})`;
  const query_params = { from: from.getTime(), until: until.getTime() };
  await changeEvents(
    client,
    (engine) => ({ query: engine === 'MergeTree' ? `${insert} WHERE NOT ${isCopied}` : insert, query_params }),
    into,
  );
}

/**
 * Deletes the events that PostgreSQL stored at or after a time, so that they can be copied again. Does nothing in a
 * table that ClickHouse also fills from Kafka.
 */
export async function deleteEventsSince(
  client: ClickHouseClient,
  time: Date,
  table: EventsTable = 'events',
): Promise<void> {
  const query = `DELETE FROM ${table} WHERE created_at >= ${timeOf('since')}`;
  const query_params = { since: time.getTime() };
  await changeEvents(client, (engine) => (engine === 'MergeTree' ? { query, query_params } : null), table);
}

/** Creates an empty table with the same structure as `events`. */
export async function createRebuiltEvents(client: ClickHouseClient): Promise<void> {
  const { engine } = await describeEvents(client);
  await client.command({ query: createEventsTableSql('events_rebuilt', engine) });
}

/** Replaces the events table with the rebuilt table, unless another process is still filling the rebuilt table. */
export const swapEventsTables = (client: ClickHouseClient): Promise<void> =>
  changeEvents(client, () => ({ query: 'EXCHANGE TABLES events AND events_rebuilt' }), 'events_rebuilt');

/** The events to delete, or from which to remove personal data. */
export interface EventsToRemove {
  projectId: number;
  /** The distinct IDs whose events are removed, or null for all distinct IDs. */
  distinctIds: readonly string[] | null;
  /**
   * Restricts the removal to a deleted person: to events that were captured or stored before the request, and to events
   * with the person's UUID, which is never reused.
   */
  person: { uuid: string; requestedAt: Date } | null;
}

function isRemoved({ projectId, distinctIds, person }: EventsToRemove) {
  const before = timeOf('before');
  const tests = [
    'project_id = {project:Int32}',
    ...(distinctIds === null ? [] : ['distinct_id IN {ids:Array(String)}']),
    ...(person === null ? [] : [`(captured_at <= ${before} OR created_at <= ${before} OR person_id = {person:UUID})`]),
  ];
  const query_params = {
    project: projectId,
    ids: distinctIds ?? [],
    ...(person && { before: person.requestedAt.getTime(), person: person.uuid }),
  };
  return { text: tests.join(' AND '), query_params };
}

/** Deletes events. Queries that start after the deletion do not return these events. */
export async function deleteEvents(client: ClickHouseClient, removed: EventsToRemove): Promise<void> {
  const { text, query_params } = isRemoved(removed);
  await changeEvents(client, () => ({ query: `DELETE FROM events WHERE ${text}`, query_params }));
}

/** Event properties that update the person, and therefore contain the person's data. */
const copies = "['$set', '$set_once', '$unset']";

/** Removes a person's data from events that are not deleted. */
export async function removePersonData(client: ClickHouseClient, removed: EventsToRemove): Promise<void> {
  const { text, query_params } = isRemoved(removed);
  const holdsCopies = `arrayExists(name -> JSONHas(readable, name), ${copies})`;
  const others = `arrayFilter(pair -> NOT has(${copies}, pair.1), JSONExtractKeysAndValuesRaw(readable))`;
  const stripped = `concat('{', arrayStringConcat(arrayMap(pair -> concat(toJSONString(pair.1), ': ', pair.2), ${others}), ', '), '}')`;
  await changeEvents(client, () => ({
    query: `ALTER TABLE events UPDATE person_properties = '{}', person_created_at = NULL,
              properties = if(${holdsCopies}, ${stripped}, properties)
             WHERE ${text} AND (person_properties != '{}' OR person_created_at IS NOT NULL OR ${holdsCopies})`,
    query_params,
    clickhouse_settings: { mutations_sync: '1' },
  }));
}

export async function countCopiedEvents(
  client: ClickHouseClient,
  { from, to }: { from: Date; to: Date },
): Promise<number> {
  const result = await client.query({
    query: `SELECT count() FROM events WHERE timestamp >= ${timeOf('from')} AND timestamp < ${timeOf('to')}`,
    query_params: { from: from.getTime(), to: to.getTime() },
    clickhouse_settings: { final: 1 },
    format: 'JSONCompactEachRow',
  });
  const [row] = await result.json<[number | string]>();
  return Number(row?.[0] ?? 0);
}

/**
 * Deletes events that are older than their project's retention period. Does nothing if no event is that old.
 * @param common the time before which the events of all projects are deleted, or null
 */
export async function deleteOldEvents(
  client: ClickHouseClient,
  { common, own }: { common: Date | null; own: readonly { projectId: number; before: Date }[] },
): Promise<void> {
  const ends = '{ends:Array(Int64)}[indexOf({projects:Array(Int32)}, project_id)]';
  const isOld = `(timestamp < ${timeOf('common')}
    OR has({projects:Array(Int32)}, project_id) AND timestamp < fromUnixTimestamp64Milli(${ends}, 'UTC'))`;
  const query_params = {
    // Without a common time, use 1900, which is before all events.
    common: common?.getTime() ?? -2_208_988_800_000,
    projects: own.map(({ projectId }) => projectId),
    ends: own.map(({ before }) => before.getTime()),
  };
  if (common === null && own.length === 0) return;
  const found = await client.query({
    query: `SELECT 1 FROM events WHERE ${isOld} LIMIT 1`,
    query_params,
    format: 'JSONCompactEachRow',
  });
  if ((await found.json()).length > 0)
    await changeEvents(client, () => ({ query: `DELETE FROM events WHERE ${isOld}`, query_params }));
}
