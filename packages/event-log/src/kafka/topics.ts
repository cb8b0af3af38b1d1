// Reads the state of Kafka topics: IDs, partitions and offsets.

import { sleep } from '@millrace/runtime';
import type { Admin } from 'kafkajs';
import { isLeaderMissing } from './kafkajs-internals/errors.ts';
import { findTopicIdentity } from './kafkajs-internals/metadata.ts';
import type { KafkaSessions } from './session.ts';

/**
 * A partition's offsets: `low` is the offset of its oldest record, and `high` is the offset that the next record will
 * get.
 */
export interface PartitionBounds {
  partition: number;
  low: bigint;
  high: bigint;
}

export interface TopicState {
  log: string;
  bounds: PartitionBounds[];
  /** The leader epoch of each partition, which increases with each election. Empty for brokers before Kafka 2.8. */
  leaderEpochs: ReadonlyMap<number, number>;
}

export interface TopicReader {
  stateOf(topic: string): Promise<TopicState>;
  logOf(topic: string): Promise<string>;
}

/** The time limit for a lookup in milliseconds. The 3 s limit of `append` does not apply to lookups. */
const lookUpTimeoutMs = 5000;
/**
 * How many milliseconds brokers may take to propagate a new topic. Looking up a topic that does not exist takes this
 * long.
 */
const newTopicTimeoutMs = 2000;

export function createTopicReader(sessions: Pick<KafkaSessions, 'use'>): TopicReader {
  /** Runs a request. Retries while a topic is so new that it has no leaders or the broker does not know it yet. */
  async function request<T>(call: (admin: Admin) => Promise<T>, what: string): Promise<T> {
    const giveUpAt = performance.now() + newTopicTimeoutMs;
    for (let failures = 1; ; failures += 1) {
      try {
        return await sessions.use(({ admin }) => call(admin), lookUpTimeoutMs, what);
      } catch (error) {
        if (!isLeaderMissing(error) || performance.now() > giveUpAt) throw error;
        await sleep(Math.min(25 * 2 ** failures, 250));
      }
    }
  }

  async function identify(admin: Admin, topic: string): Promise<Pick<TopicState, 'log' | 'leaderEpochs'>> {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    const partitions = topics.find(({ name }) => name === topic)?.partitions ?? [];
    const identity = findTopicIdentity(partitions[0]);
    if (identity === null) {
      const { clusterId } = await admin.describeCluster();
      return { log: `kafka/${clusterId}`, leaderEpochs: new Map() };
    }
    const epochs = partitions.map((one) => [one.partitionId, findTopicIdentity(one)?.leaderEpoch ?? 0] as const);
    return { log: `kafka/${identity.clusterId}/${identity.topicId}`, leaderEpochs: new Map(epochs) };
  }

  return {
    stateOf: (topic) =>
      request(async (admin) => {
        // The order of the requests matters: when kafkajs loads a topic's metadata for the first time, it discards the
        // metadata of all other topics.
        const offsets = await admin.fetchTopicOffsets(topic);
        const identity = await identify(admin, topic);
        const bounds = offsets.map(({ partition, low, high }) => ({ partition, low: BigInt(low), high: BigInt(high) }));
        return { ...identity, bounds };
      }, 'reading offsets'),
    async logOf(topic) {
      return (await request((admin) => identify(admin, topic), 'reading the identity of a topic')).log;
    },
  };
}
