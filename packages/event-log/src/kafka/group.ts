// Keeps this process in a Kafka consumer group, which distributes its partitions among its members.

import { type Logger, sleep } from '@millrace/runtime';
import { type Consumer, type EachBatchHandler, type ISocketFactory, Kafka } from 'kafkajs';
import { backoffMs } from '../backoff.ts';
import type { ConsumeMetrics } from '../consume/metrics.ts';
import type { ConsumeOptions } from '../log.ts';
import type { KafkaLogOptions } from './config.ts';
import { createStableMemberAssigner } from './kafkajs-internals/membership.ts';
import { type AssignedPartition, createAssignedPartition, type RecordBuffer } from './partitions.ts';
import type { StartPositions } from './positions.ts';
import { clientConfig } from './session.ts';
import type { TopicReader } from './topics.ts';

const defaults = { sessionTimeoutMs: 6000, heartbeatIntervalMs: 1000, fetchWaitMs: 200 };
const requestTimeoutMs = 5000;
/**
 * The maximum delay in milliseconds between attempts to reach brokers. After the brokers are available again, recovery
 * can take this much longer.
 */
const longestPauseMs = 1000;

/**
 * The size limits of a fetch. kafkajs decodes a response without a pause, which blocks the process. On a busy machine
 * right after startup, decoding megabytes of small records took longer than the session timeout. A record larger than
 * this limit is fetched alone.
 */
const fetchLimits = { maxBytesPerPartition: 512 * 1024, maxBytes: 1024 * 1024 } as const;

/** The delays between retries in kafkajs. After the last retry, the consumer is restarted. */
const pauses = { retries: 5, initialRetryTime: 100, maxRetryTime: longestPauseMs, factor: 0.2, multiplier: 2 } as const;

export function createGroupClient(
  options: KafkaLogOptions,
  groupId: string,
  socketFactory: ISocketFactory,
  stopping: AbortSignal,
): Consumer {
  const kafka = new Kafka({
    ...clientConfig(options, options.brokers),
    requestTimeout: requestTimeoutMs,
    // This setting applies to finding brokers and coordinators. With kafkajs's defaults, up to 7 s would pass between
    // attempts.
    retry: pauses,
    socketFactory,
  });
  return kafka.consumer({
    groupId,
    partitionAssigners: [createStableMemberAssigner(stopping)],
    retry: {
      ...pauses,
      // Do not restart a consumer that fails while it is stopping.
      restartOnFailure: async () => !stopping.aborted,
    },
    sessionTimeout: options.sessionTimeoutMs ?? defaults.sessionTimeoutMs,
    rebalanceTimeout: 30_000,
    heartbeatInterval: options.heartbeatIntervalMs ?? defaults.heartbeatIntervalMs,
    maxWaitTimeInMs: options.fetchWaitMs ?? defaults.fetchWaitMs,
    minBytes: 1,
    ...fetchLimits,
    allowAutoTopicCreation: false,
  });
}

interface RunOptions {
  topic: string;
  group: string;
  logger: Logger;
  signal: AbortSignal;
}

/** Connects, subscribes and runs the consumer. Retries until the consumer runs or the signal aborts. */
export async function runConsumer(
  consumer: Consumer,
  eachBatch: EachBatchHandler,
  { topic, group, logger, signal }: RunOptions,
): Promise<void> {
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: [topic], fromBeginning: true });
      if (signal.aborted) return;
      return await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        // One partition at a time is enough, because fetched records are only added to a buffer (kafka/partitions.ts),
        // which takes almost no time.
        partitionsConsumedConcurrently: 1,
        eachBatch,
      });
    } catch (error) {
      logger.warn('could not start a consumer; retrying', { topic, group, error });
      await sleep(Math.min(backoffMs(failures), longestPauseMs), signal);
    }
  }
}

interface AssignmentDeps {
  consume: Pick<ConsumeOptions, 'topic' | 'group'>;
  logger: Logger;
  metrics: ConsumeMetrics;
  topics: TopicReader;
  waiting: RecordBuffer;
  positions: StartPositions;
  stopping: AbortSignal;
}

export function createAssignment({ consume, logger, metrics, topics, waiting, positions, stopping }: AssignmentDeps) {
  const { topic, group } = consume;
  const partitions = new Map<number, AssignedPartition>();

  /**
   * Looks up the positions of all partitions again, including partitions that the member already owned. Other members
   * may have advanced the stored offsets.
   */
  function beginGeneration(assigned: number[]): void {
    const before = endGeneration();
    for (const partition of before.keys()) {
      if (!assigned.includes(partition)) forget(partition);
    }
    if (!stopping.aborted) {
      for (const number of assigned) {
        const partition = createAssignedPartition(number);
        partitions.set(number, partition);
        void positions.beginFromStored(partition, before.get(number)?.delivery ?? null);
      }
    }
    logger.info('joined consumer group', { topic, group, partitions: assigned });
  }

  function endGeneration(): Map<number, AssignedPartition> {
    interruptAll();
    const held = new Map(partitions);
    partitions.clear();
    return held;
  }

  /** Notifies the handlers of a rebalance, so that they finish in-flight batches and start no new ones. */
  function interruptAll(): void {
    for (const partition of partitions.values()) {
      partition.abort.abort();
      waiting.clear(partition);
    }
  }

  /**
   * Looks up the stored offsets again, because a broker that became available again may have lost records or may be a
   * different broker.
   */
  function restartAll(): void {
    for (const partition of partitions.values()) void positions.resumeFromStored(partition, 0);
  }

  async function checkIdentity(): Promise<void> {
    if (partitions.size === 0) return;
    const log = await topics.logOf(topic).catch(() => null);
    for (const partition of partitions.values()) {
      if (log === null || partition.log === '' || partition.log === log) continue;
      logger.warn('topic was deleted and recreated', { topic, group, partition: partition.partition, log });
      void positions.resumeFromStored(partition, 0);
    }
  }

  function forget(partition: number): void {
    metrics.forgetLag(topic, group, partition);
    metrics.truncated(topic, group, partition, false);
  }

  return {
    get: (partition: number) => partitions.get(partition),
    all: () => [...partitions.values()],
    beginGeneration,
    endGeneration,
    interruptAll,
    restartAll,
    checkIdentity,
    forget,
  };
}
