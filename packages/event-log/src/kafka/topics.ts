import { sleep } from '@millrace/runtime';
import type { Admin } from 'kafkajs';
import { isWithoutLeader } from './kafkajs-internals/errors.ts';
import { topicIdentityOf } from './kafkajs-internals/metadata.ts';
import type { KafkaSessions } from './session.ts';

/** The offsets a partition has: from `low` on, `high` is the next to be written. */
export interface PartitionBounds {
  partition: number;
  low: bigint;
  high: bigint;
}

/** What a topic is, and where its partitions stand. */
export interface TopicState {
  /** Identity of the log: see `LogBatch.log`. */
  log: string;
  bounds: PartitionBounds[];
  /** How often each partition has got a leader; empty from brokers before Kafka 2.8. */
  leaderEpochs: ReadonlyMap<number, number>;
}

export interface TopicReader {
  stateOf(topic: string): Promise<TopicState>;
  /** The identity alone. */
  logOf(topic: string): Promise<string>;
}

/** Looking things up is not bound to the 3 s of `append`. */
const lookUpTimeoutMs = 5000;
/** How long the brokers may take to agree on a new topic. A topic that does not exist is waited for as long. */
const newTopicTimeoutMs = 2000;

/** Asks brokers about topics. */
export function createTopicReader(sessions: Pick<KafkaSessions, 'use'>): TopicReader {
  /** A new topic has no leaders yet, or the broker that was asked does not know it yet: it is asked again. */
  async function ask<T>(question: (admin: Admin) => Promise<T>, what: string): Promise<T> {
    const giveUpAt = performance.now() + newTopicTimeoutMs;
    for (let failures = 1; ; failures += 1) {
      try {
        return await sessions.use(({ admin }) => question(admin), lookUpTimeoutMs, what);
      } catch (error) {
        if (!isWithoutLeader(error) || performance.now() > giveUpAt) throw error;
        await sleep(Math.min(25 * 2 ** failures, 250));
      }
    }
  }

  async function identify(admin: Admin, topic: string): Promise<Pick<TopicState, 'log' | 'leaderEpochs'>> {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    const partitions = topics.find(({ name }) => name === topic)?.partitions ?? [];
    const identity = topicIdentityOf(partitions[0]);
    if (identity === null) {
      const { clusterId } = await admin.describeCluster();
      return { log: `kafka/${clusterId}`, leaderEpochs: new Map() };
    }
    const epochs = partitions.map((one) => [one.partitionId, topicIdentityOf(one)?.leaderEpoch ?? 0] as const);
    return { log: `kafka/${identity.clusterId}/${identity.topicId}`, leaderEpochs: new Map(epochs) };
  }

  return {
    stateOf: (topic) =>
      ask(async (admin) => {
        // In this order: the metadata of a topic that kafkajs does not know yet replaces what it knows of all others.
        const offsets = await admin.fetchTopicOffsets(topic);
        const identity = await identify(admin, topic);
        const bounds = offsets.map(({ partition, low, high }) => ({ partition, low: BigInt(low), high: BigInt(high) }));
        return { ...identity, bounds };
      }, 'reading offsets'),
    async logOf(topic) {
      return (await ask((admin) => identify(admin, topic), 'reading the identity of a topic')).log;
    },
  };
}
