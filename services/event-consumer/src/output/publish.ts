// Publishes stored events to the topic of processed events.

import {
  consumerGroup,
  type EventTopic,
  type ProcessedPersonMode,
  processedEventKey,
  processedEventVersion,
  publisherGroup,
  type TopicNames,
} from '@millrace/contracts';
import type { SqlDatabase } from '@millrace/db/sql';
import {
  type AppendRecord,
  advanceOffset,
  type BatchContext,
  type BatchResult,
  type EventLog,
  type LogBatch,
  type LogConsumer,
  type LogRecord,
  lockOffset,
  readOffset,
} from '@millrace/event-log';
import { isAppError, type Logger, sleep } from '@millrace/runtime';
import { parseRecord } from '../intake/parse.ts';
import type { ProjectResolver } from '../intake/projects.ts';
import { personMode } from '../model/event.ts';
import { type EventKey, readStoredEvents, type StoredEvent } from './store.ts';

export interface PublishTopicDeps {
  log: Pick<EventLog, 'append' | 'consume'>;
  database: Pick<SqlDatabase, 'sql' | 'transaction'>;
  projects: Pick<ProjectResolver, 'resolve'>;
  topics: TopicNames;
  topicPrefix: string;
  maxBatchRecords: number;
  maxBatchBytes: number;
  logger: Logger;
  published(topic: EventTopic, count: number): void;
  onFatal(error: Error): void;
}

/**
 * Joins the consumer group that publishes a topic's events after they are stored. A group that joins for the first time
 * starts with the oldest records in the log.
 */
export function publishTopic(topic: EventTopic, deps: PublishTopicDeps): Promise<LogConsumer> {
  const group = publisherGroup(topic, deps.topicPrefix);
  return deps.log.consume({
    topic: deps.topics[topic],
    group,
    maxBatchRecords: deps.maxBatchRecords,
    maxBatchBytes: deps.maxBatchBytes,
    partitionConcurrency: 1,
    startOffset: (partition, log) =>
      readOffset(deps.database.sql, { topic: deps.topics[topic], partition, group, log }),
    handler: createPublishHandler({
      database: deps.database,
      log: deps.log,
      projects: deps.projects,
      topic: deps.topics.processed,
      storingGroup: consumerGroup(topic, deps.topicPrefix),
      group,
      logger: deps.logger,
      published: (count) => deps.published(topic, count),
      sleep,
    }),
    onFatal: deps.onFatal,
  });
}

interface PublishStoredDeps {
  database: Pick<SqlDatabase, 'sql' | 'transaction'>;
  log: Pick<EventLog, 'append'>;
  projects: Pick<ProjectResolver, 'resolve'>;
  topic: string;
  /** The consumer group whose offsets show which records are stored. */
  storingGroup: string;
  group: string;
  logger: Logger;
  published(count: number): void;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

const pollMs = 100;
/**
 * How many milliseconds to wait until a record is stored. The wait is limited, so that other partitions are still
 * published if one partition is stuck.
 */
const maxWaitMs = 1000;

/**
 * Creates the handler that publishes stored events. The handler reads the same records as the storing group, waits
 * until their effects are committed, looks up the events and appends them to the topic of processed events. Only then
 * does it advance its own offset, so every stored event is published at least once. Storing never waits for publishing.
 * @throws errors of the database or the log if they do not respond. The log then delivers the batch again.
 */
export function createPublishHandler(
  deps: PublishStoredDeps,
): (batch: LogBatch, context: BatchContext) => Promise<BatchResult> {
  const { database, group } = deps;
  return async function publishStored(batch, { signal }) {
    const { topic, partition, log } = batch;
    const stored = await waitUntilStored(batch, signal);
    const records = batch.records.filter(({ offset }) => offset < stored);
    const last = records.at(-1);
    // Either the records are not stored yet, this member is stopping, or a different member now owns the partition. The
    // next read starts with the same records.
    if (last === undefined) return { outcome: 'stale', nextOffset: batch.continuesFrom };

    const events = await readStoredEvents(database.sql, await eventKeys(records));
    deps.published(await publish(events));

    const key = { topic, partition, group, log };
    return database.transaction(async (tx) => {
      const published = await lockOffset(tx, key);
      if (published !== (batch.continuesFrom ?? 0n)) return { outcome: 'stale', nextOffset: published };
      await advanceOffset(tx, key, last);
      return { outcome: 'done', nextOffset: last.offset + 1n };
    });
  };

  /** Waits until the first record is stored or the time limit expires. Returns the partition's stored offset. */
  async function waitUntilStored({ topic, partition, log, records }: LogBatch, signal: AbortSignal): Promise<bigint> {
    const first = records[0]?.offset ?? 0n;
    for (let waitedMs = 0; ; waitedMs += pollMs) {
      const key = { topic, partition, log, group: deps.storingGroup };
      const stored = (await readOffset(deps.database.sql, key))?.nextOffset ?? 0n;
      if (stored > first || waitedMs >= maxWaitMs || signal.aborted) return stored;
      await deps.sleep(pollMs, signal);
    }
  }

  async function eventKeys(records: LogRecord[]): Promise<EventKey[]> {
    const parsed = records.map(({ value }) => parseRecord(value)).filter((record) => record.kind === 'event');
    // A record with an environment ID needs no lookup. Its stored event is published even if the environment was
    // deleted.
    const projectOf = await deps.projects.resolve(parsed.filter(({ environment_id: id }) => id === undefined));
    return parsed.flatMap((record) => {
      const projectId = record.environment_id ?? projectOf(record)?.id;
      return projectId === undefined ? [] : [{ projectId, uuid: record.uuid }];
    });
  }

  async function publish(events: StoredEvent[]): Promise<number> {
    try {
      await deps.log.append(events.map((event) => toProcessedRecord(event, deps.topic)));
      return events.length;
    } catch (error) {
      if (!isAppError(error, 'too_large')) throw error;
    }
    let count = 0;
    for (const event of events) if (await publishOne(event)) count += 1;
    return count;
  }

  /**
   * Publishes one event, and returns false if it is too large. An event that is too large for the log because of its
   * person properties is available only in the database.
   */
  async function publishOne(event: StoredEvent): Promise<boolean> {
    try {
      await deps.log.append([toProcessedRecord(event, deps.topic)]);
      return true;
    } catch (error) {
      if (!isAppError(error, 'too_large')) throw error;
      const { projectId, uuid } = event;
      deps.logger.warn('stored event not published: too large for the event log', {
        topic: deps.topic,
        projectId,
        uuid,
      });
      return false;
    }
  }
}

const modeNames = new Map<number, ProcessedPersonMode>([
  [personMode.full, 'full'],
  [personMode.propertyless, 'propertyless'],
  [personMode.forceUpgrade, 'force_upgrade'],
]);

/** Converts a stored event to a record of `events.processed` (packages/contracts, ProcessedEvent). */
function toProcessedRecord(event: StoredEvent, topic: string): AppendRecord {
  const { projectId: project_id, personUuid: person_id } = event;
  const head = {
    version: processedEventVersion,
    uuid: event.uuid,
    project_id,
    event: event.event,
    distinct_id: event.distinctId,
    timestamp: isoTime(event.timestampMs),
    captured_at: isoTime(event.capturedAtMs),
    elements_chain: event.elementsChain,
    person_id,
    person_created_at: event.personCreatedAtMs === null ? null : isoTime(event.personCreatedAtMs),
    person_mode: modeNames.get(event.personMode) ?? 'full',
    historical_migration: event.isHistorical,
  };
  // The properties and person properties are already JSON text.
  const properties = withShortNumbers(event.properties);
  const large = `"properties":${properties},"person_properties":${withShortNumbers(event.personProperties)}`;
  const value = Buffer.from(`${JSON.stringify(head).slice(0, -1)},${large}}`);
  return { topic, key: processedEventKey({ project_id, person_id }), value };
}

/**
 * Rewrites numbers of twenty or more digits with an exponent, such as `1e22`. PostgreSQL writes all digits of such a
 * number. Readers such as ClickHouse would parse them as an integer that is too large, and reject the whole record.
 */
function withShortNumbers(json: string): string {
  if (!/\d{20}/.test(json)) return json;
  return json.replace(/"(?:[^"\\]|\\.)*"|(-?)(\d+)(?:\.(\d+))?/g, (text, sign, whole = '', fraction = '') => {
    if (whole.length < 20) return text;
    const digits = `${whole}${fraction}`.replace(/0+$/, '');
    const [first, rest] = [digits.slice(0, 1), digits.slice(1)];
    return `${sign}${first}${rest === '' ? '' : `.${rest}`}e${whole.length - 1}`;
  });
}

function isoTime(ms: number): string {
  return new Date(Math.round(ms)).toISOString();
}
