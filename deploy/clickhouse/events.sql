-- Copies Millrace events from Kafka to ClickHouse within about a second.
--
-- Set PUBLISH_PROCESSED=on for the event consumer, enter your brokers (and TOPIC_PREFIX, if you use one) in the Kafka
-- table below, and run this file once: clickhouse-client --multiquery < events.sql
--
-- You do not need this file for insights. With EVENT_STORE=clickhouse, the delivery worker creates a table with the same
-- columns and copies stored events into it (docs/operations/clickhouse.md). Use this file if you need your events in ClickHouse
-- sooner. Run the file before the delivery worker creates its table, or use another database.
--
-- Records arrive at least once (packages/contracts/src/processed-event.ts). Duplicates have the same sorting key, so
-- ReplacingMergeTree removes them when it merges parts. Before that, use `FINAL` or count distinct uuids to ignore them.
-- Millrace's queries use `FINAL` for this table. They are therefore slower than on the table that the delivery worker
-- creates.

CREATE DATABASE IF NOT EXISTS millrace;

CREATE TABLE IF NOT EXISTS millrace.events (
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
  readable             String MATERIALIZED if(isValidJSON(properties), properties, arrayStringConcat(arrayMap(
part -> if(startsWith(part, '"'), part, replaceRegexpAll(replaceRegexpAll(part,
  '-?(\\d[\\d.]*[eE]\\+?[3-9]\\d\\d+|\\d{300,})', 'null'), '(-?\\d{17,}(\\.\\d+)?)', '\\1e0')),
extractAll(if(isValidJSON(properties), '', properties), '"(?:[^"\\\\]|\\\\.)*"|[^"]+')))) CODEC(LZ4),
  usual                MATERIALIZED JSONExtract(readable, 'Tuple(
    `$browser` LowCardinality(Nullable(String)),
    `$os` LowCardinality(Nullable(String)),
    `$device_type` LowCardinality(Nullable(String)),
    `$lib` LowCardinality(Nullable(String)),
    `$host` LowCardinality(Nullable(String)),
    `$referring_domain` LowCardinality(Nullable(String)),
    `$screen_name` LowCardinality(Nullable(String)),
    `$geoip_country_code` LowCardinality(Nullable(String)),
    `utm_source` LowCardinality(Nullable(String)),
    `utm_medium` LowCardinality(Nullable(String)),
    `utm_campaign` LowCardinality(Nullable(String)),
    `$feature_flag` LowCardinality(Nullable(String)),
    `$feature_flag_response` LowCardinality(Nullable(String)),
    `$current_url` Nullable(String),
    `$pathname` Nullable(String),
    `$referrer` Nullable(String),
    `$session_id` Nullable(String),
    `$group_0` Nullable(String),
    `$group_1` Nullable(String),
    `$group_2` Nullable(String),
    `$group_3` Nullable(String),
    `$group_4` Nullable(String))') CODEC(ZSTD(1)),
  elements_chain       String CODEC(ZSTD(3)),
  historical_migration Bool,
  captured_at          DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  -- The time when the event was stored in PostgreSQL. The topic's records do not contain this time.
  created_at           DateTime64(3, 'UTC') DEFAULT captured_at CODEC(Delta, ZSTD(1)),
  INDEX by_distinct_id distinct_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_person person_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_stored_time created_at TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(timestamp)
-- toDate32, because toDate gives events from before 1970 a later date, and queries would skip them.
ORDER BY (project_id, toDate32(timestamp), event, cityHash64(distinct_id), uuid)
SETTINGS min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1, fsync_after_insert = 1, fsync_part_directory = 1;

-- The table of the delivery worker has no duplicates, and its engine would not remove those from Kafka.
SELECT throwIf(engine NOT LIKE '%ReplacingMergeTree', 'The delivery worker has created the table millrace.events. Use another database.')
FROM system.tables WHERE database = 'millrace' AND name = 'events';

-- The columns have types, so that a malformed record causes a single error and does not affect other records. New fields are ignored.
-- Objects are read as their exact text. (JSONExtract… of a complete record fails if it contains a number of 2^64 or more.)
CREATE TABLE IF NOT EXISTS millrace.events_queue
(
    project_id           Int32,
    timestamp            DateTime64(3, 'UTC'),
    uuid                 UUID,
    event                String,
    distinct_id          String,
    person_id            UUID,
    person_created_at    Nullable(DateTime64(3, 'UTC')),
    person_properties    String,
    person_mode          String,
    properties           String,
    elements_chain       String,
    historical_migration Bool,
    captured_at          DateTime64(3, 'UTC')
)
ENGINE = Kafka
SETTINGS
    kafka_broker_list = 'kafka:9092',
    kafka_topic_list = 'events.processed',
    kafka_group_name = 'millrace.clickhouse',
    kafka_format = 'JSONEachRow',
    kafka_num_consumers = 1,
    kafka_handle_error_mode = 'stream',
    date_time_input_format = 'best_effort',
    input_format_json_read_objects_as_strings = 1,
    input_format_skip_unknown_fields = 1;

-- Unreadable records, with the reason and the position in the topic.
CREATE TABLE IF NOT EXISTS millrace.events_unread
(
    seen_at   DateTime DEFAULT now(),
    topic     String,
    partition UInt64,
    offset    UInt64,
    error     String
)
ENGINE = MergeTree
ORDER BY seen_at
TTL seen_at + INTERVAL 30 DAY;

-- A record without a uuid, person or project was not written by Millrace.
CREATE MATERIALIZED VIEW IF NOT EXISTS millrace.events_unread_reader TO millrace.events_unread AS
SELECT
    _topic AS topic,
    _partition AS partition,
    _offset AS offset,
    if(length(_error) > 0, _error, 'The record has no uuid, person_id or project_id.') AS error
FROM millrace.events_queue
WHERE length(_error) > 0 OR empty(uuid) OR empty(person_id) OR project_id = 0;

CREATE MATERIALIZED VIEW IF NOT EXISTS millrace.events_reader TO millrace.events AS
SELECT
    project_id,
    timestamp,
    uuid,
    event,
    distinct_id,
    person_id,
    person_created_at,
    person_properties,
    person_mode,
    properties,
    elements_chain,
    historical_migration,
    captured_at
FROM millrace.events_queue
WHERE length(_error) = 0 AND notEmpty(uuid) AND notEmpty(person_id) AND project_id != 0;
