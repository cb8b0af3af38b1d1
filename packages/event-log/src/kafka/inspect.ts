// Reads the settings and state of Kafka topics, groups and disks for operator tools.

import type { Admin } from 'kafkajs';
import type { KafkaLogOptions } from './config.ts';
import { type LogDirectory, readLogDirectories } from './kafkajs-internals/log-directories.ts';
import { patchKafkajs } from './kafkajs-internals/patch-kafkajs.ts';
import { createKafkaSessions } from './session.ts';
import { createTopicReader } from './topics.ts';

export type { LogDirectory };

export interface InspectedPartition {
  partition: number;
  hasLeader: boolean;
  replicas: number;
  inSync: number;
  /** The offset of the first record. `high` is the offset that the next record will get. */
  low: bigint;
  high: bigint;
}

export interface InspectedTopic {
  topic: string;
  log: string;
  partitions: InspectedPartition[];
  /**
   * The topic's settings by Kafka name, for example `retention.ms`, or null if this client is not allowed to read them.
   */
  settings: ReadonlyMap<string, string> | null;
}

/** The value of kafkajs's `ConfigResourceTypes.TOPIC`, which a Node.js ES module cannot import by name. */
const topicResource = 2;

export interface KafkaInspector {
  /** Returns the addresses that the brokers advertise to clients. */
  brokers(): Promise<{ host: string; port: number }[]>;
  /**
   * Returns the brokers' log directories, or null if a broker is older than Kafka 3.3 or this client is not allowed to
   * read them.
   */
  logDirectories(): Promise<LogDirectory[] | null>;
  existing(names: readonly string[]): Promise<string[]>;
  topic(name: string): Promise<InspectedTopic>;
  /**
   * For each partition, returns the offset of the first record that was appended at the given time or later. If a
   * partition has no such record, returns its end offset.
   */
  firstAppendedAt(topic: string, ms: number): Promise<ReadonlyMap<number, bigint>>;
  memberCounts(groups: readonly string[]): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

/**
 * Connects to Kafka to inspect it. Requests reject if the brokers do not respond.
 * @param timeoutMs the time limit of each request
 */
export function createKafkaInspector(options: KafkaLogOptions, timeoutMs: number): KafkaInspector {
  patchKafkajs();
  const sessions = createKafkaSessions(options, timeoutMs);
  const topics = createTopicReader(sessions);
  const request = <T>(call: (admin: Admin) => Promise<T>, what: string) =>
    sessions.use(({ admin }) => call(admin), timeoutMs, what);
  return {
    brokers: () =>
      request(async (admin) => {
        const { brokers } = await admin.describeCluster();
        return brokers.map(({ host, port }) => ({ host, port }));
      }, 'describing the cluster'),
    logDirectories: () => sessions.use(({ kafka }) => readLogDirectories(kafka), timeoutMs, 'reading log directories'),
    existing: (names) =>
      request(async (admin) => {
        const all = new Set(await admin.listTopics());
        return names.filter((name) => all.has(name));
      }, 'listing topics'),
    async topic(name) {
      const { log, bounds } = await topics.stateOf(name);
      const metadata = await request((admin) => admin.fetchTopicMetadata({ topics: [name] }), 'reading a topic');
      const partitions = (metadata.topics[0]?.partitions ?? []).map((one) => {
        const found = bounds.find(({ partition }) => partition === one.partitionId);
        const { low = 0n, high = 0n } = found ?? {};
        return {
          partition: one.partitionId,
          hasLeader: one.leader >= 0,
          low,
          high,
          replicas: one.replicas.length,
          inSync: one.isr.length,
        };
      });
      return { topic: name, log, partitions, settings: await readSettings(request, name) };
    },
    async firstAppendedAt(topic, ms) {
      const found = await request((admin) => admin.fetchTopicOffsetsByTimestamp(topic, ms), 'reading offsets');
      return new Map(found.map(({ partition, offset }) => [partition, BigInt(offset)]));
    },
    async memberCounts(groups) {
      const response = await request((admin) => admin.describeGroups([...groups]), 'describing groups');
      return new Map(response.groups.map(({ groupId, members }) => [groupId, members.length]));
    },
    close: () => sessions.close(timeoutMs),
  };
}

type AdminRequest = <T>(call: (admin: Admin) => Promise<T>, what: string) => Promise<T>;

/**
 * Reads a topic's settings. Returns null on an error, because a client that can write to a topic is not always allowed
 * to read its settings.
 */
async function readSettings(request: AdminRequest, name: string): Promise<InspectedTopic['settings']> {
  const resources = [{ type: topicResource, name }];
  const call = (admin: Admin) => admin.describeConfigs({ resources, includeSynonyms: false });
  const response = await request(call, 'reading settings').catch(() => null);
  if (response === null) return null;
  const entries = response.resources.flatMap(({ configEntries }) => configEntries);
  return new Map(entries.map(({ configName, configValue }) => [configName, configValue]));
}
