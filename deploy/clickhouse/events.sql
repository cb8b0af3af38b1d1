-- Millrace events in ClickHouse.
--
-- Set PUBLISH_PROCESSED=on for the event consumer, put your brokers (and TOPIC_PREFIX, if you have one) into the Kafka
-- table below, and run this file once: clickhouse-client --multiquery < events.sql
--
-- Insights need none of this: with EVENT_STORE=clickhouse the delivery worker makes the same table and copies what is stored
-- (docs/operations/clickhouse.md). This reads the topic, for those who want their events here within a second.
--
-- Records arrive at least once (packages/contracts/src/processed-event.ts). ReplacingMergeTree removes repetitions when
-- parts merge, because a repetition has the same sorting key; `FINAL`, or counting distinct uuids, hides them before.

CREATE DATABASE IF NOT EXISTS millrace;

CREATE TABLE IF NOT EXISTS millrace.events (
  project_id           Int32,
  timestamp            DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  uuid                 UUID,
  event                LowCardinality(String),
  distinct_id          String CODEC(ZSTD(1)),
  -- The person as of ingestion. Questions ask PostgreSQL whose the id is now.
  person_id            UUID,
  person_created_at    Nullable(DateTime64(3, 'UTC')),
  person_properties    String CODEC(ZSTD(3)),
  person_mode          LowCardinality(String),
  properties           String CODEC(ZSTD(3)),
  -- Every question about a property reads it whole: half of the time was spent on unpacking it.
  readable             String MATERIALIZED if(isValidJSON(properties), properties, arrayStringConcat(arrayMap(
part -> if(startsWith(part, '"'), part, replaceRegexpAll(replaceRegexpAll(part,
  '-?(\\d[\\d.]*[eE]\\+?[3-9]\\d\\d+|\\d{300,})', 'null'), '(-?\\d{17,}(\\.\\d+)?)', '\\1e0')),
extractAll(properties, '"(?:[^"\\\\]|\\\\.)*"|[^"]+')))) CODEC(LZ4),
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
  -- When it was stored in PostgreSQL; the topic does not tell.
  created_at           DateTime64(3, 'UTC') DEFAULT captured_at CODEC(Delta, ZSTD(1)),
  INDEX by_distinct_id distinct_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_person person_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_stored_time created_at TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(timestamp)
ORDER BY (project_id, toDate(timestamp), event, cityHash64(distinct_id), uuid)
SETTINGS min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;

-- Typed columns: a record that does not fit is one error and stops no other, and fields may be added. Objects come as their exact
-- text. (JSONExtract… of a whole record gives nothing at all when it holds a number of 2^64 or more.)
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

-- What could not be read, with the reason and where it lies.
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

-- A record without a uuid or a person is none of ours.
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
