// Checks of `millrace doctor` for Kafka topics: partitions, record size and retention.

import type { InspectedTopic } from '@millrace/event-log';
import type { ReadOffset } from '../event-log.ts';
import { type Finding, findingsOrOk, joinNames, ok, problem, warning } from './checks.ts';

interface Wanted {
  missing: readonly string[];
  partitions: number;
}

/** Checks that every topic exists, has the configured number of partitions and is not compacted. */
export function checkTopics(topics: readonly InspectedTopic[], { missing, partitions: wanted }: Wanted): Finding[] {
  const findings = topics.flatMap((topic) => [...judgePartitions(topic, wanted), ...judgeCleanup(topic)]);
  if (missing.length > 0) {
    findings.unshift(
      problem(
        `missing topics: ${joinNames(missing)}`,
        'Check TOPIC_PREFIX. Services create their topics when they start, if the brokers allow it. Otherwise, create ' +
          'them yourself, with TOPIC_PARTITIONS partitions each.',
      ),
    );
  }
  return findingsOrOk(findings, `all ${topics.length} topics exist, with ${wanted} partitions each`);
}

function judgePartitions({ topic, partitions }: InspectedTopic, wanted: number): Finding[] {
  if (partitions.length === wanted) return [];
  return [
    warning(
      `${topic} has ${partitions.length} partitions, but TOPIC_PARTITIONS is ${wanted}. The setting only affects new topics`,
      partitions.length < wanted
        ? 'Set TOPIC_PARTITIONS to the number of partitions of the topic, or add partitions (see docs/operations/scaling.md).'
        : 'Set TOPIC_PARTITIONS to the number of partitions of the topic. Partitions cannot be removed.',
    ),
  ];
}

/**
 * Reports compaction, which would delete events because it keeps only one record per key. The key is the distinct ID or
 * device ID.
 */
function judgeCleanup({ topic, settings }: InspectedTopic): Finding[] {
  if (settings?.get('cleanup.policy')?.includes('compact') !== true) return [];
  return [
    problem(
      `${topic} is compacted: Kafka deletes all events of a distinct ID except the newest, even if they have not been read`,
      'Set cleanup.policy=delete for the topic immediately.',
    ),
  ];
}

/** Bytes for a record's key, headers and batch overhead, in addition to the largest event. */
const aroundBytes = 4096;

interface RecordLimits {
  maxRecordBytes: number;
  maxAiRecordBytes: number;
}

/** Checks that the topics accept the largest events that a gateway accepts. */
export function checkRecordSize(
  topics: readonly InspectedTopic[],
  { maxRecordBytes, maxAiRecordBytes }: RecordLimits,
): Finding[] {
  if (topics.some(({ settings }) => settings === null)) return [unreadable];
  const small = tooSmallFor(topics, maxRecordBytes);
  if (small.length > 0) {
    return [
      problem(
        `max.message.bytes is too small for events of MAX_RECORD_BYTES (${maxRecordBytes}) in ${joinNames(small)}: large events are rejected`,
        `Set max.message.bytes to at least ${Math.max(maxRecordBytes, maxAiRecordBytes) + aroundBytes}, or lower MAX_RECORD_BYTES.`,
      ),
    ];
  }
  const smallForAi = tooSmallFor(topics, maxAiRecordBytes);
  if (smallForAi.length > 0) {
    return [
      warning(
        `max.message.bytes is too small for AI events of MAX_AI_RECORD_BYTES (${maxAiRecordBytes}) in ` +
          `${joinNames(smallForAi)}: large AI events get a 413 response`,
        `Set max.message.bytes to at least ${maxAiRecordBytes + aroundBytes}, or lower MAX_AI_RECORD_BYTES.`,
      ),
    ];
  }
  return [ok(`all topics accept the largest events (${Math.max(maxRecordBytes, maxAiRecordBytes)} bytes)`)];
}

function tooSmallFor(topics: readonly InspectedTopic[], recordBytes: number): string[] {
  return topics.flatMap(({ topic, settings }) => {
    const most = settings?.get('max.message.bytes');
    return most !== undefined && Number(most) < recordBytes + aroundBytes ? [`${topic} (${most})`] : [];
  });
}

const unreadable = warning(
  'this user cannot read topic settings, so size limits, retention and replication were not checked',
  'Grant DescribeConfigs on the topics to the user in KAFKA_SASL_USERNAME, or check the settings yourself.',
);

const dayMs = 86_400_000;

interface RetentionFacts {
  topics: readonly InspectedTopic[];
  eventTopics: readonly string[];
  offsets: readonly ReadOffset[];
  keepDeletedIdsDays: number;
  /** The offset of the first record in the newer half of the retention period, by topic and partition. */
  newerHalf: ReadonlyMap<string, ReadonlyMap<number, bigint>>;
}

export function readRetentionMs({ settings }: InspectedTopic): number | null {
  const text = settings?.get('retention.ms');
  return text === undefined ? null : Number(text);
}

/**
 * Checks that no record is deleted before it is read, and that reading the log again cannot restore data that was
 * deleted on request.
 */
export function checkRetention(facts: RetentionFacts): Finding[] {
  const eventTopics = facts.topics.filter(({ topic }) => facts.eventTopics.includes(topic));
  const findings = [
    ...judgeUnread(facts, eventTopics),
    ...judgeOutages(eventTopics),
    ...judgeBySize(eventTopics),
    ...judgeForgetting(facts, eventTopics),
  ];
  const days = eventTopics.map((topic) => Math.floor((readRetentionMs(topic) ?? -1) / dayMs));
  const shortest = Math.min(...days.filter((count) => count >= 0));
  return findingsOrOk(
    findings,
    `no unread events are about to be deleted${shortest < Infinity ? `; events are kept for ${shortest} days` : ''}`,
  );
}

function judgeUnread({ offsets, newerHalf }: RetentionFacts, topics: readonly InspectedTopic[]): Finding[] {
  const lost: string[] = [];
  const old: string[] = [];
  for (const { topic, partition, log, nextOffset } of offsets) {
    const inLog = topics.find((one) => one.topic === topic && one.log === log);
    const found = inLog?.partitions.find((one) => one.partition === partition);
    if (found === undefined || nextOffset >= found.high) continue;
    if (nextOffset < found.low) lost.push(`${topic}/${partition}`);
    else if (nextOffset < (newerHalf.get(topic)?.get(partition) ?? 0n)) old.push(`${topic}/${partition}`);
  }
  const findings: Finding[] = [];
  if (lost.length > 0) {
    findings.push(
      problem(
        `Kafka deleted events from ${joinNames(lost)} before they were read`,
        'These events are lost unless their senders still have them. Start consumers, and raise retention.ms and retention.bytes.',
      ),
    );
  }
  if (old.length > 0) {
    findings.push(
      problem(
        `unread events in ${joinNames(old)} are older than half of the topic's retention time and will be deleted unless they are read soon`,
        'Raise retention.ms of the topics now, then find out why the consumers do not keep up.',
      ),
    );
  }
  return findings;
}

/**
 * Checks that the log's retention covers the longest PostgreSQL outage, during which consumers stop, and the time since
 * the latest backup.
 */
function judgeOutages(topics: readonly InspectedTopic[]): Finding[] {
  const short = topics.filter((topic) => {
    const ms = readRetentionMs(topic);
    return ms !== null && ms >= 0 && ms < dayMs;
  });
  if (short.length === 0) return [];
  return [
    warning(
      `${joinNames(short.map(({ topic }) => topic))} keep events for less than a day: events are lost if a PostgreSQL outage or restore takes longer`,
      'Set retention.ms to more than the age of your newest backup and more than your longest outage.',
    ),
  ];
}

function judgeBySize(topics: readonly InspectedTopic[]): Finding[] {
  const limited = topics.filter(({ settings }) => Number(settings?.get('retention.bytes') ?? -1) >= 0);
  if (limited.length === 0) return [];
  return [
    warning(
      `retention.bytes is set for ${joinNames(limited.map(({ topic }) => topic))}: under high load, Kafka deletes events ` +
        'before retention.ms has passed, even if they have not been read',
      'Set retention.bytes=-1 and monitor the disks of the brokers.',
    ),
  ];
}

/**
 * Checks that the distinct IDs of deleted persons are stored for as long as the log keeps their events. Otherwise,
 * deleted persons would reappear if consumers read the events again.
 */
function judgeForgetting({ keepDeletedIdsDays }: RetentionFacts, topics: readonly InspectedTopic[]): Finding[] {
  const longer = topics.filter((topic) => {
    const ms = readRetentionMs(topic);
    return ms !== null && (ms < 0 || ms > keepDeletedIdsDays * dayMs);
  });
  if (longer.length === 0) return [];
  return [
    warning(
      `${joinNames(longer.map(({ topic }) => topic))} keep events for longer than KEEP_DELETED_IDS_DAYS ` +
        `(${keepDeletedIdsDays}): if these events are read again, deleted persons reappear`,
      'Raise KEEP_DELETED_IDS_DAYS, or lower retention.ms.',
    ),
  ];
}
