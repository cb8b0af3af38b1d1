-- Millrace events in ClickHouse.
--
-- Set PUBLISH_PROCESSED=on for the event consumer, put your brokers (and TOPIC_PREFIX, if you have one) into the Kafka
-- table below, and run this file once: clickhouse-client --multiquery < events.sql
--
-- Records arrive at least once (packages/contracts/src/processed-event.ts). ReplacingMergeTree removes repetitions when
-- parts merge, because a repetition has the same sorting key; `FINAL`, or counting distinct uuids, hides them before.

CREATE DATABASE IF NOT EXISTS millrace;

CREATE TABLE IF NOT EXISTS millrace.events
(
    project_id           Int32,
    timestamp            DateTime64(3, 'UTC'),
    uuid                 UUID,
    event                LowCardinality(String),
    distinct_id          String,
    -- The person as of ingestion. After a merge the table person_distinct_id in PostgreSQL knows the current one.
    person_id            UUID,
    person_created_at    Nullable(DateTime64(3, 'UTC')),
    -- JSON text; read it with JSONExtract… or JSON_VALUE.
    person_properties    String CODEC(ZSTD(3)),
    person_mode          LowCardinality(String),
    properties           String CODEC(ZSTD(3)),
    elements_chain       String CODEC(ZSTD(3)),
    historical_migration Bool,
    captured_at          DateTime64(3, 'UTC'),
    version              UInt16
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(timestamp)
ORDER BY (project_id, toDate(timestamp), event, cityHash64(distinct_id), uuid);

-- One column: a record that is not understood must not stop the others, and fields may be added.
CREATE TABLE IF NOT EXISTS millrace.events_queue
(
    record String
)
ENGINE = Kafka
SETTINGS
    kafka_broker_list = 'kafka:9092',
    kafka_topic_list = 'events.processed',
    kafka_group_name = 'millrace.clickhouse',
    kafka_format = 'JSONAsString',
    kafka_num_consumers = 1,
    kafka_handle_error_mode = 'stream';

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

CREATE MATERIALIZED VIEW IF NOT EXISTS millrace.events_unread_reader TO millrace.events_unread AS
SELECT _topic AS topic, _partition AS partition, _offset AS offset, _error AS error
FROM millrace.events_queue
WHERE length(_error) > 0;

CREATE MATERIALIZED VIEW IF NOT EXISTS millrace.events_reader TO millrace.events AS
SELECT
    toInt32(JSONExtractInt(record, 'project_id')) AS project_id,
    parseDateTime64BestEffort(JSONExtractString(record, 'timestamp'), 3, 'UTC') AS timestamp,
    toUUID(JSONExtractString(record, 'uuid')) AS uuid,
    JSONExtractString(record, 'event') AS event,
    JSONExtractString(record, 'distinct_id') AS distinct_id,
    toUUID(JSONExtractString(record, 'person_id')) AS person_id,
    parseDateTime64BestEffortOrNull(JSONExtractString(record, 'person_created_at'), 3, 'UTC') AS person_created_at,
    JSONExtractRaw(record, 'person_properties') AS person_properties,
    JSONExtractString(record, 'person_mode') AS person_mode,
    JSONExtractRaw(record, 'properties') AS properties,
    JSONExtractString(record, 'elements_chain') AS elements_chain,
    JSONExtractBool(record, 'historical_migration') AS historical_migration,
    parseDateTime64BestEffort(JSONExtractString(record, 'captured_at'), 3, 'UTC') AS captured_at,
    toUInt16(JSONExtractUInt(record, 'version')) AS version
FROM millrace.events_queue
WHERE length(_error) = 0;
