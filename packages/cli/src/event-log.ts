// Opens the event log for a command, and reads and sets consumer offsets.

import { type TopicNames, topicNames } from '@millrace/contracts';
import { createDatabase, type PrismaClient } from '@millrace/db';
import {
  createKafkaLog,
  createPostgresLog,
  type EventLog,
  type InspectedTopic,
  kafkaConfigFields,
  toKafkaConnection,
} from '@millrace/event-log';
import { ConfigError, createLogger, isAppError, readConfig } from '@millrace/runtime';
import type { Command } from 'commander';
import { Type } from 'typebox';
import { Refusal, UsageError } from './failures.ts';
import type { Terminal } from './output.ts';
import { type GlobalOptions, readDatabaseUrl } from './session.ts';

/** The settings have the same names as the services' settings, so that the same environment variables work for both. */
const logConfigSchema = Type.Object({
  eventLog: Type.Union([Type.Literal('kafka'), Type.Literal('postgres')], {
    default: 'kafka',
    description: 'event log of the installation',
  }),
  ...kafkaConfigFields,
  topicPrefix: Type.String({ default: '', description: 'prefix of every topic and consumer group name' }),
});

export interface OpenLog {
  log: EventLog;
  topics: TopicNames;
}

/**
 * Runs `work` with the event log that the environment variables describe (EVENT_LOG, KAFKA_…, TOPIC_PREFIX), and then
 * closes the log.
 */
export async function withLog(
  command: Command,
  terminal: Terminal,
  work: (open: OpenLog) => Promise<void>,
): Promise<void> {
  const { config, connection } = readLogSettings(terminal);
  const logger = createLogger('millrace-cli', 'error');
  // Silence the Kafka client, which would log that it joins and leaves a group. This is not useful on a command line.
  logger.silent = true;
  const topics = topicNames(config.topicPrefix);
  const open = (log: EventLog) => work({ log, topics }).catch((error) => Promise.reject(withLogName(error, config)));
  if (config.eventLog === 'kafka') {
    const log = createKafkaLog({ ...connection, clientId: 'millrace-cli', logger });
    return open(log).finally(() => log.close());
  }
  const url = readDatabaseUrl(command.optsWithGlobals<GlobalOptions>(), terminal);
  const database = createDatabase({ url, logger, poolSize: 3, queryTimeoutMs: 6000 });
  const log = createPostgresLog({ database, logger });
  return open(log)
    .finally(() => log.close())
    .finally(() => database.stop());
}

export type LogSettings = ReturnType<typeof readLogSettings>;

function withLogName(error: unknown, { eventLog, kafkaBrokers }: LogSettings['config']): unknown {
  if (!isAppError(error, 'unavailable')) return error;
  const where = eventLog === 'kafka' ? `Kafka at ${kafkaBrokers}, from KAFKA_BROKERS` : 'PostgreSQL';
  return new Refusal(
    `EVENT_LOG=${eventLog} (${where}): ${error.message} Check that EVENT_LOG, KAFKA_… and TOPIC_PREFIX are the same as for the services.`,
  );
}

/**
 * Reads the event log's settings.
 * @throws UsageError that lists all invalid settings, or that says that no event log is configured
 */
export function readLogSettings(terminal: Terminal) {
  if (!terminal.env.EVENT_LOG && !terminal.env.KAFKA_BROKERS) {
    throw new UsageError(
      'EVENT_LOG: Set the event log that the services use: EVENT_LOG=postgres, or EVENT_LOG=kafka with KAFKA_BROKERS.',
    );
  }
  try {
    const config = readConfig(logConfigSchema, terminal.env);
    return { config, connection: toKafkaConnection(config) };
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.problems.join('; ')) : error;
  }
}

type Client = Pick<PrismaClient, 'consumer_offset' | 'event_log_partition'>;

/** A consumer group's stored offset for one partition of one log. */
export interface ReadOffset {
  topic: string;
  partition: number;
  group: string;
  log: string;
  nextOffset: bigint;
  /** The offset of the next appended record, or null if the stored offset belongs to a log that is not open. */
  end: bigint | null;
  updatedAt: Date;
}

/** Returns all stored offsets, with the end offsets of partitions in the open log and in the log in PostgreSQL. */
export async function readStoredOffsets(client: Client, log: Pick<EventLog, 'endOffsets'>): Promise<ReadOffset[]> {
  const rows = await client.consumer_offset.findMany({
    orderBy: [{ topic: 'asc' }, { group: 'asc' }, { log: 'asc' }, { partition: 'asc' }],
  });
  const ends = new Map<string, bigint>();
  const nameOf = (position: { log: string; topic: string; partition: number }) =>
    `${position.log} ${position.partition} ${position.topic}`;
  for (const { topic, partition, log_id, next_offset } of await client.event_log_partition.findMany()) {
    ends.set(nameOf({ log: `postgres/${log_id}`, topic, partition }), next_offset);
  }
  for (const topic of new Set(rows.map((row) => row.topic))) {
    // The topic may exist only in a log that was used before.
    for (const one of await log.endOffsets(topic).catch(() => [])) ends.set(nameOf({ ...one, topic }), one.endOffset);
  }
  return rows.map((row) => ({
    topic: row.topic,
    partition: row.partition,
    group: row.group,
    log: row.log,
    nextOffset: row.next_offset,
    end: ends.get(nameOf(row)) ?? null,
    updatedAt: row.updated_at,
  }));
}

/** Sets the offset from which the group continues, without checking that the record before it is the expected one. */
export async function overrideOffset(
  client: Client,
  { topic, partition, group, log }: Pick<ReadOffset, 'topic' | 'partition' | 'group' | 'log'>,
  nextOffset: bigint,
): Promise<void> {
  await client.consumer_offset.update({
    where: { topic_partition_group_log: { topic, partition, group, log } },
    data: { next_offset: nextOffset, last_record_fingerprint: null, updated_at: new Date() },
  });
}

/**
 * Deletes all offsets of a log, so that the log's consumers start at its beginning.
 * @returns the number of deleted rows
 */
export async function deleteLogOffsets(client: Client, log: string): Promise<number> {
  const { count } = await client.consumer_offset.deleteMany({ where: { log } });
  return count;
}

interface UnreadCount {
  /** Number of records in the log that the group has not read yet. */
  unread: bigint;
  /** Number of records that the log deleted before the group read them. */
  deleted: bigint;
}

/**
 * Counts the unread records of a topic.
 * @param offsets the offsets of one group. Offsets of other topics and logs are ignored.
 */
export function countUnreadRecords(
  { topic, log, partitions }: InspectedTopic,
  offsets: readonly ReadOffset[],
): UnreadCount {
  const sum: UnreadCount = { unread: 0n, deleted: 0n };
  for (const { partition, low, high } of partitions) {
    const stored = offsets.find((one) => one.topic === topic && one.log === log && one.partition === partition);
    // Offset 0 means the start of the partition, even if its first records were deleted.
    const passed = stored === undefined || stored.nextOffset === 0n ? low : stored.nextOffset;
    if (passed < low) sum.deleted += low - passed;
    if (passed < high) sum.unread += high - (passed < low ? low : passed);
  }
  return sum;
}
