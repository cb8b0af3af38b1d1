import { createHash } from 'node:crypto';
import { type CapturedEvent, encodeCapturedRecord, recordKey, topicNames } from '@millrace/contracts';
import { Kafka, logLevel, type Message, Partitioners } from 'kafkajs';
import { groupCount, mixedEvents } from '../workload/mixed-events.ts';

/** The benchmark's own topics on the broker, and what an independent look into them says. */
export interface BenchTopics {
  create(topics: readonly string[], partitions: number): Promise<void>;
  /** How many records a topic holds, by its offsets. */
  countRecords(topic: string): Promise<number>;
  /**
   * Fills the live topic of `prefix` with `count` mixed events, in turn for each project, each person's in one partition
   * and in their order.
   * @returns the last event of each partition: a consumer that has stored those has stored all.
   */
  preload(
    prefix: string,
    projectApiKeys: readonly string[],
    load: { count: number; partitions: number },
  ): Promise<CapturedEvent[]>;
  describeBroker(): Promise<string>;
  /** Deletes the topics that were created. */
  stop(): Promise<void>;
}

export async function connectBenchTopics(brokers: string[]): Promise<BenchTopics> {
  const kafka = new Kafka({ brokers, clientId: 'millrace-bench', logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  const created: string[] = [];
  return {
    async create(topics, partitions) {
      await admin.createTopics({ topics: topics.map((topic) => ({ topic, numPartitions: partitions })) });
      created.push(...topics);
    },
    async countRecords(topic) {
      const offsets = await admin.fetchTopicOffsets(topic);
      return offsets.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0);
    },
    async preload(prefix, projectApiKeys, { count, partitions }) {
      const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
      await producer.connect();
      const topic = topicNames(prefix).live;
      const last = new Map<number, CapturedEvent>();
      let messages: Message[] = [];
      const send = async () => {
        if (messages.length > 0) await producer.send({ topic, acks: -1, messages });
        messages = [];
      };
      for (const event of spreadEvents(count, projectApiKeys)) {
        const partition = createHash('md5').update(event.distinct_id).digest().readUInt32BE() % partitions;
        const key = recordKey('live', event.token, event.distinct_id);
        messages.push({ key, value: encodeCapturedRecord(event), partition });
        last.set(partition, event);
        if (messages.length === 2000) await send();
      }
      await send();
      await producer.disconnect();
      return [...last.values()];
    },
    describeBroker: async () => `${(await admin.describeCluster()).brokers.length} broker(s)`,
    async stop() {
      if (created.length > 0) await admin.deleteTopics({ topics: created }).catch(() => {});
      await admin.disconnect();
    },
  };
}

/**
 * `count` mixed events in turn for each of the projects, every project with persons and groups of its own,
 * together about as many companies as one project would have. With one key the same as `mixedEvents`.
 */
export function* spreadEvents(count: number, projectApiKeys: readonly string[]): Generator<CapturedEvent> {
  const perProject = Math.ceil(count / projectApiKeys.length);
  const companies = Math.max(2, Math.round(groupCount / projectApiKeys.length));
  const streams = projectApiKeys.map((key, index) => mixedEvents(perProject, key, index + 1, companies));
  for (let index = 0; index < count; index++) {
    const next = streams[index % streams.length]?.next();
    if (next === undefined || next.done) return;
    yield next.value;
  }
}
