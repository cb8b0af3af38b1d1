// Checks of `millrace doctor` for the event log and its consumers.

import { consumerGroup, eventTopics, topicNames } from '@millrace/contracts';
import {
  createKafkaInspector,
  type InspectedTopic,
  type KafkaConnection,
  type KafkaInspector,
  kafkaConfigFields,
  toKafkaConnection,
} from '@millrace/event-log';
import { readConfig } from '@millrace/runtime';
import { Type } from 'typebox';
import { countUnreadRecords, type ReadOffset, readStoredOffsets } from '../event-log.ts';
import { checkPresentedCertificates, formatHostAndPort, type TlsServer } from './certificates.ts';
import {
  type Check,
  type CheckedInstallation,
  checkReachable,
  connectTimeoutMs,
  type Finding,
  findingsOrOk,
  joinNames,
  type NamedFinding,
  ok,
  problem,
  readSomeSettings,
  runChecks,
  warning,
} from './checks.ts';
import { checkDisks, checkReplicas } from './kafka-brokers.ts';
import { checkRecordSize, checkRetention, checkTopics, readRetentionMs } from './kafka-topics.ts';
import type { DoctorSettings } from './settings.ts';

export async function diagnoseLog(patient: CheckedInstallation, settings: DoctorSettings): Promise<NamedFinding[]> {
  const { env } = patient;
  if (settings.eventLog === 'postgres') {
    return runChecks(offsetChecks(settings, await readOffsets(patient, [])));
  }
  // Skip the checks for the management API and the delivery worker, which do not have event log settings.
  if (!env.EVENT_LOG && !env.KAFKA_BROKERS) return [{ check: 'event log', ...noLog }];
  return diagnoseKafka(patient, settings);
}

const noLog = warning(
  'neither EVENT_LOG nor KAFKA_BROKERS is set, so the event log was not checked',
  'Also run this command with the settings of a gateway or a consumer.',
);

async function diagnoseKafka(patient: CheckedInstallation, settings: DoctorSettings): Promise<NamedFinding[]> {
  const { env, logger } = patient;
  const read = readSomeSettings('kafka', () => toKafkaConnection(readConfig(Type.Object(kafkaConfigFields), env)));
  if ('problems' in read) return read.problems;
  const { value: connection } = read;
  const kafka = createKafkaInspector({ ...connection, clientId: 'millrace-doctor', logger }, connectTimeoutMs);
  try {
    let existing: string[] = [];
    const listTopics = async () => {
      existing = await kafka.existing(namesOfTopics(settings));
    };
    const away = await checkReachable('kafka', listTopics, 'KAFKA_BROKERS');
    // Invalid certificates may be the reason why the brokers are unreachable.
    if (away !== null) return [away, ...(await runChecks([certificates(connection)]))];
    const topics: InspectedTopic[] = [];
    const ofTopics = await runChecks(
      existing.map((name) => ({
        name: 'kafka topics',
        async run() {
          topics.push(await kafka.topic(name));
          return [];
        },
      })),
    );
    const offsets = await readOffsets(patient, topics);
    const checks = kafkaChecks({ kafka, settings, existing, topics, offsets: offsets ?? [] });
    const found = await runChecks([...checks, ...offsetChecks(settings, offsets), certificates(connection, kafka)]);
    return [{ check: 'kafka', ...ok('Kafka responds') }, ...ofTopics, ...found];
  } finally {
    await kafka.close();
  }
}

/**
 * Checks the certificates of the configured brokers. Also checks those of the brokers that they advertise, because
 * clients connect to them next.
 */
function certificates(connection: KafkaConnection, kafka?: KafkaInspector) {
  return {
    name: 'kafka certificates',
    run: async () =>
      checkPresentedCertificates(brokersWithTls(connection, (await kafka?.brokers()) ?? []), connectTimeoutMs / 2),
  };
}

/**
 * Reads the stored offsets. Returns null if PostgreSQL does not respond or has no tables, which other checks report.
 */
function readOffsets(
  { database }: CheckedInstallation,
  topics: readonly InspectedTopic[],
): Promise<ReadOffset[] | null> {
  const endOffsets = async (name: string) => {
    const found = topics.find(({ topic }) => topic === name);
    return (found?.partitions ?? []).map(({ partition, high }) => ({
      partition,
      log: found?.log ?? '',
      endOffset: high,
    }));
  };
  return readStoredOffsets(database.prisma, { endOffsets }).catch(() => null);
}

function offsetChecks(settings: DoctorSettings, offsets: ReadOffset[] | null) {
  if (offsets === null) return [];
  return [{ name: 'stored offsets', run: () => checkStoredOffsets(offsets, namesOfTopics(settings)) }];
}

interface KafkaContext {
  kafka: KafkaInspector;
  settings: DoctorSettings;
  existing: readonly string[];
  topics: readonly InspectedTopic[];
  /** The stored offsets, or an empty array if PostgreSQL does not respond. */
  offsets: readonly ReadOffset[];
}

function namesOfTopics({ topicPrefix }: DoctorSettings): string[] {
  return Object.values(topicNames(topicPrefix));
}

function kafkaChecks(context: KafkaContext): Check[] {
  const { kafka, settings, existing, topics } = context;
  const missing = namesOfTopics(settings).filter((name) => !existing.includes(name));
  const ofTopics = {
    name: 'kafka topics',
    run: () => checkTopics(topics, { missing, partitions: settings.topicPartitions }),
  };
  // All remaining checks need at least one existing topic.
  if (topics.length === 0) return missing.length > 0 ? [ofTopics] : [];
  return [
    ofTopics,
    { name: 'kafka replicas', run: async () => checkReplicas(topics, (await kafka.brokers()).length) },
    { name: 'kafka disks', run: async () => checkDisks(await kafka.logDirectories()) },
    { name: 'kafka record size', run: () => checkRecordSize(topics, settings) },
    { name: 'kafka retention', run: () => retention(context) },
    { name: 'consumers', run: () => consumers(context) },
  ];
}

async function retention({ kafka, settings, topics, offsets }: KafkaContext) {
  const eventTopicNames = namesOfEventTopics(settings);
  const newerHalf = new Map<string, ReadonlyMap<number, bigint>>();
  for (const topic of topics.filter((one) => eventTopicNames.includes(one.topic))) {
    const keptMs = readRetentionMs(topic) ?? -1;
    if (keptMs > 0) newerHalf.set(topic.topic, await kafka.firstAppendedAt(topic.topic, Date.now() - keptMs / 2));
  }
  return checkRetention({
    topics,
    eventTopics: eventTopicNames,
    offsets,
    newerHalf,
    keepDeletedIdsDays: settings.keepDeletedIdsDays,
  });
}

async function consumers({ kafka, settings, topics, offsets }: KafkaContext) {
  const members = await kafka.memberCounts(eventTopics.map((one) => consumerGroup(one, settings.topicPrefix)));
  return checkConsumers(
    eventTopics.flatMap((eventTopic) => {
      const topic = topics.find((one) => one.topic === topicNames(settings.topicPrefix)[eventTopic]);
      if (topic === undefined) return [];
      const group = consumerGroup(eventTopic, settings.topicPrefix);
      const { unread } = countUnreadRecords(
        topic,
        offsets.filter((one) => one.group === group),
      );
      return [{ topic: topic.topic, partitions: topic.partitions.length, members: members.get(group) ?? 0, unread }];
    }),
  );
}

function namesOfEventTopics({ topicPrefix }: DoctorSettings): string[] {
  const names = topicNames(topicPrefix);
  return eventTopics.map((topic) => names[topic]);
}

/** Checks that stored offsets belong to the current log and are not beyond its end. */
function checkStoredOffsets(offsets: readonly ReadOffset[], topics: readonly string[]): Finding[] {
  const ours = offsets.filter(({ topic }) => topics.includes(topic));
  const truncated = ours.filter(({ end, nextOffset }) => end !== null && end < nextOffset);
  const hasCurrent = new Set(ours.filter(({ end }) => end !== null).map(partitionName));
  // Offsets of other logs are not a problem if the partition also has an offset of the current log.
  const ofOtherLogs = ours.filter((one) => one.end === null && !hasCurrent.has(partitionName(one)));
  const findings: Finding[] = [];
  if (truncated.length > 0) {
    findings.push(
      problem(
        `the log lost records that had already been read: consumers have stopped reading ${joinNames(truncated.map(partitionName))}`,
        'Find out why (a broker restored from a backup, an unclean election), then run `millrace offsets accept <partition> --from start`.',
      ),
    );
  }
  if (ofOtherLogs.length > 0) {
    const logs = [...new Set(ofOtherLogs.map(({ log }) => log))];
    findings.push(
      warning(
        `${joinNames(ofOtherLogs.map(partitionName))} were last read from another log (${joinNames(logs, 2)})`,
        'Check that KAFKA_BROKERS and EVENT_LOG are correct. If that log is gone for good, run `millrace offsets forget <log>`.',
      ),
    );
  }
  return findingsOrOk(
    findings,
    ours.length === 0 ? 'nothing has been read yet' : `all stored offsets are valid (${ours.length})`,
  );
}

function partitionName({ topic, partition }: ReadOffset): string {
  return `${topic}/${partition}`;
}

interface TopicMembers {
  topic: string;
  partitions: number;
  members: number;
  /** The number of records that the group has not read yet. */
  unread: bigint;
}

/** Checks that every topic has a consumer, and that no consumer is without a partition. */
export function checkConsumers(topics: readonly TopicMembers[]): Finding[] {
  const deserted = topics.filter(({ members }) => members === 0);
  const waiting = deserted.filter(({ unread }) => unread > 0n);
  const crowded = topics.filter(({ members, partitions }) => members > partitions);
  const findings: Finding[] = [];
  if (waiting.length > 0) {
    findings.push(
      problem(
        `no consumer reads ${joinNames(waiting.map(({ topic, unread }) => `${topic} (unread: ${unread})`))}`,
        'Start consumers that have these topics in CONSUMER_TOPICS.',
      ),
    );
  }
  const idle = deserted.filter((topic) => !waiting.includes(topic));
  if (idle.length > 0) {
    findings.push(
      warning(
        `no consumer reads ${joinNames(idle.map(({ topic }) => topic))}. No events are waiting there`,
        'Start consumers that have these topics in CONSUMER_TOPICS before events arrive.',
      ),
    );
  }
  if (crowded.length > 0) {
    const names = crowded.map(
      ({ topic, members, partitions }) => `${topic} (consumers: ${members}, partitions: ${partitions})`,
    );
    findings.push(
      warning(
        `some consumers are idle, because there are more consumers than partitions: ${joinNames(names)}`,
        'Run fewer consumers, or add partitions (see docs/operations/scaling.md).',
      ),
    );
  }
  if (findings.length > 0) return findings;
  return [
    ok(
      topics
        .map(({ topic, members, partitions }) => `${topic} (consumers: ${members}, partitions: ${partitions})`)
        .join(', '),
    ),
  ];
}

type Place = Pick<TlsServer, 'host' | 'port'>;

/**
 * Returns the configured and advertised brokers without duplicates, or an empty array if the connection does not use
 * TLS.
 * @param advertised the addresses that the brokers advertise
 */
function brokersWithTls({ brokers, ssl }: KafkaConnection, advertised: readonly Place[]): TlsServer[] {
  if (ssl === undefined || typeof ssl === 'boolean') return [];
  const all = new Map([...brokers.map(readPlace), ...advertised].map((place) => [formatHostAndPort(place), place]));
  return [...all.values()].map((place) => ({
    ...place,
    begins: 'at once',
    secureContext: ssl.secureContext,
    isVerified: true,
    authoritySetting: 'KAFKA_SSL_CA_FILE',
  }));
}

/** Parses `host:port`, whose format `readConfig` has already validated. */
function readPlace(broker: string): Place {
  const colon = broker.lastIndexOf(':');
  return { host: broker.slice(0, colon).replace(/[[\]]/g, ''), port: Number(broker.slice(colon + 1)) };
}
