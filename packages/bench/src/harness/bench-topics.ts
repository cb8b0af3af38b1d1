// Creates and fills the Kafka topics of benchmarks.

import { createHash } from 'node:crypto';
import { type CapturedEvent, computeRecordKey, encodeCapturedRecord, topicNames } from '@millrace/contracts';
import { eventually } from '@millrace/testing';
import { Kafka, logLevel, type Message, Partitioners } from 'kafkajs';
import { generateMixedEvents, groupCount } from '../workload/mixed-events.ts';

export const partitions = 8;
const messagesPerSend = 2000;

export type BenchTopics = Awaited<ReturnType<typeof connectBenchTopics>>;

/** Creates topics for a benchmark, and deletes them when the benchmark ends. */
export async function connectBenchTopics(brokers: string[]) {
  const kafka = new Kafka({ brokers, clientId: 'millrace-bench', logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  const created: string[] = [];
  return {
    async create(topics: readonly string[]): Promise<void> {
      // If this were true, kafkajs would fail when the broker does not list a new topic yet.
      const waitForLeaders = false;
      await admin.createTopics({
        waitForLeaders,
        topics: topics.map((topic) => ({ topic, numPartitions: partitions })),
      });
      created.push(...topics);
      await eventually(() => admin.fetchTopicMetadata({ topics: [...topics] }), { what: 'The new topics' });
    },
    /** Returns the number of records in a topic, computed from its offsets. */
    async countRecords(topic: string): Promise<number> {
      const offsets = await admin.fetchTopicOffsets(topic);
      return offsets.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0);
    },
    /**
     * Writes `count` mixed events to the live topic of `prefix`, alternating between the projects. A person's events
     * are in one partition, in order. Returns the last event of each partition. A consumer that has stored these has
     * stored all events.
     */
    async fill(prefix: string, projectApiKeys: readonly string[], count: number): Promise<CapturedEvent[]> {
      const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
      await producer.connect();
      const last = new Map<number, CapturedEvent>();
      let messages: Message[] = [];
      const send = async () => {
        await producer.send({ topic: topicNames(prefix).live, acks: -1, messages });
        messages = [];
      };
      for (const event of generateEventsForProjects(count, projectApiKeys)) {
        const partition = createHash('md5').update(event.distinct_id).digest().readUInt32BE() % partitions;
        const key = computeRecordKey('live', event.token, event.distinct_id);
        messages.push({ key, value: encodeCapturedRecord(event), partition });
        last.set(partition, event);
        if (messages.length === messagesPerSend) await send();
      }
      if (messages.length > 0) await send();
      await producer.disconnect();
      return [...last.values()];
    },
    describeBroker: async () => `${(await admin.describeCluster()).brokers.length} broker(s)`,
    async stop(): Promise<void> {
      if (created.length > 0) await admin.deleteTopics({ topics: created }).catch(() => {});
      await admin.disconnect();
    },
  };
}

/**
 * Generates mixed events that alternate between projects. Each project has its own persons and groups. All projects
 * together have about as many groups as a single project would have.
 */
export function* generateEventsForProjects(count: number, projectApiKeys: readonly string[]): Generator<CapturedEvent> {
  const perProject = Math.ceil(count / projectApiKeys.length);
  const companies = Math.max(2, Math.round(groupCount / projectApiKeys.length));
  const streams = projectApiKeys.map((key, index) => generateMixedEvents(perProject, key, index + 1, companies));
  for (let index = 0; index < count; index++) {
    const next = streams[index % streams.length]?.next();
    if (next === undefined || next.done) return;
    yield next.value;
  }
}
