import type { Logger } from '@millrace/runtime';
import {
  type Consumer,
  type ConsumerCrashEvent,
  type ConsumerGroupJoinEvent,
  type EachBatchPayload,
  type ISocketFactory,
  Kafka,
} from 'kafkajs';
import { backoffMs, sleep } from '../consume/backoff.ts';
import type { ConsumeMetrics } from '../consume/consume-metrics.ts';
import { createTruncation } from '../consume/truncation.ts';
import type { ConsumeOptions, LogConsumer } from '../port/event-log.ts';
import { withDeadline } from '../port/with-deadline.ts';
import { type AssignedPartition, createAssignedPartition } from './assigned-partition.ts';
import { createKafkaCommits } from './kafka-commits.ts';
import type { KafkaLogOptions } from './kafka-options.ts';
import { clientConfig } from './kafka-session.ts';
import { isBrokerAway } from './kafkajs-internals/is-broker-away.ts';
import { keptMembership } from './kafkajs-internals/kept-membership.ts';
import { createTrackedSockets } from './kafkajs-internals/tracked-sockets.ts';
import { createPartitionReader } from './partition-reader.ts';
import { createStartPositions } from './start-positions.ts';
import type { TopicReader } from './topic-state.ts';
import { createWaitingRecords } from './waiting-records.ts';

export interface KafkaConsumerDeps {
  options: KafkaLogOptions;
  logger: Logger;
  metrics: ConsumeMetrics;
  topics: TopicReader;
}

const defaults = { sessionTimeoutMs: 6000, heartbeatIntervalMs: 1000, fetchWaitMs: 200 };
const requestTimeoutMs = 5000;
/** `stop` waits this long for the batches in hand; the handlers were told to begin nothing new. */
const drainTimeoutMs = 10_000;
const leaveTimeoutMs = 5000;
const rejoinPauseMs = 500;
/** Limit of the pauses between attempts to reach brokers: so much time may be lost after the brokers are back. */
const longestPauseMs = 1000;
/**
 * How often the identity of the topic is asked for. A topic that was deleted and created again at once shows in nothing
 * else.
 */
const identityCheckMs = 1000;

/** Joins the group. One kafkajs consumer, whose assignment, positions and failures are kept here. */
export function consumeFromKafka(deps: KafkaConsumerDeps, consume: ConsumeOptions): LogConsumer {
  const { options, logger } = deps;
  const { topic, group } = consume;
  const sockets = createTrackedSockets(options.socketFactory, beginAllAnew);
  const partitions = new Map<number, AssignedPartition>();
  const stopping = new AbortController();
  const consumer = createConsumer(options, group, sockets.socketFactory, stopping.signal);
  const commits = createKafkaCommits(consumer, topic, logger);
  const waiting = createWaitingRecords(consumer, topic);
  const truncation = createTruncation({ ...deps, consume });
  const positions = createStartPositions({ ...deps, consume, consumer, waiting, truncation });
  const reader = createPartitionReader({ ...deps, consume, positions, waiting, commits, truncation, interruptAll });
  let stopped: Promise<void> | undefined;
  let announceJoined: () => void = () => {};
  const ready = new Promise<void>((resolve) => {
    announceJoined = resolve;
  });

  /**
   * Whatever was assigned before: all positions are looked up again, because other members may have moved the stored
   * offsets.
   */
  function beginGeneration({ payload }: ConsumerGroupJoinEvent): void {
    const assigned = payload.memberAssignment[topic] ?? [];
    const before = endGeneration();
    for (const partition of before.keys()) {
      if (!assigned.includes(partition)) forget(partition);
    }
    if (!stopping.signal.aborted) {
      for (const number of assigned) {
        const partition = createAssignedPartition(number);
        partitions.set(number, partition);
        void positions.beginFromStored(partition, before.get(number)?.delivery ?? null);
      }
    }
    logger.info('joined a consumer group', { topic, group, partitions: assigned });
    announceJoined();
  }

  /** @returns what this member held. */
  function endGeneration(): Map<number, AssignedPartition> {
    interruptAll();
    const held = new Map(partitions);
    partitions.clear();
    return held;
  }

  /** The group is rebalancing: finish the batches in hand, begin nothing new. */
  function interruptAll(): void {
    for (const partition of partitions.values()) {
      partition.abort.abort();
      waiting.clear(partition);
    }
  }

  /** A broker that comes back may have lost records, or be another one: the stored offsets are looked up again. */
  function beginAllAnew(): void {
    for (const partition of partitions.values()) void positions.resumeFromStored(partition, 0);
  }

  async function checkIdentity(): Promise<void> {
    if (partitions.size === 0) return;
    const log = await deps.topics.logOf(topic).catch(() => null);
    for (const partition of partitions.values()) {
      if (log === null || partition.log === '' || partition.log === log) continue;
      logger.warn('the topic is another one than before', { topic, group, partition: partition.partition, log });
      void positions.resumeFromStored(partition, 0);
    }
  }

  async function eachBatch(payload: EachBatchPayload): Promise<void> {
    const partition = partitions.get(payload.batch.partition);
    if (partition === undefined) return sleep(20);
    return reader.read(partition, payload);
  }

  function onCrash({ payload }: ConsumerCrashEvent): void {
    interruptAll();
    if (stopping.signal.aborted) return;
    if (payload.restart) {
      logger.warn('a consumer lost its group and joins again', { topic, group, error: payload.error });
      return;
    }
    if (isBrokerAway(payload.error)) {
      // kafkajs gives up for good when it cannot find the coordinator, although brokers come back.
      logger.warn('a consumer lost its brokers and begins again', { topic, group, error: payload.error });
      started = sleep(rejoinPauseMs, stopping.signal).then(start);
      return;
    }
    consume.onFatal(new Error(`The consumer of ${topic} has ended.`, { cause: payload.error }));
  }

  async function start(): Promise<void> {
    for (let failures = 1; !stopping.signal.aborted; failures += 1) {
      try {
        await consumer.connect();
        await consumer.subscribe({ topics: [topic], fromBeginning: true });
        if (stopping.signal.aborted) return;
        return await consumer.run({
          autoCommit: false,
          eachBatchAutoResolve: false,
          // Fetched records are put into a buffer at once (waiting-records.ts), one partition after the other.
          partitionsConsumedConcurrently: 1,
          eachBatch,
        });
      } catch (error) {
        logger.warn('a consumer could not start yet', { topic, group, error });
        await sleep(Math.min(backoffMs(failures), longestPauseMs), stopping.signal);
      }
    }
  }

  async function leave(): Promise<void> {
    stopping.abort();
    clearInterval(identityChecks);
    announceJoined();
    const held = [...partitions.values()];
    interruptAll();
    // Otherwise kafkajs would fetch the same records again and again while the last batches end.
    positions.pauseAll();
    const inHand = Promise.all(held.map(({ delivery }) => delivery));
    await withDeadline(inHand, drainTimeoutMs, 'finishing the batches in hand').catch((error: unknown) => {
      logger.warn('a consumer stops with batches in hand', { topic, group, error });
    });
    await commits.stop();
    try {
      await withDeadline(consumer.disconnect(), leaveTimeoutMs, 'leaving the group');
    } catch (error) {
      logger.debug('a consumer left its group by breaking the connection', { topic, group, error });
    }
    sockets.retire('the consumer has stopped');
    for (const partition of endGeneration().keys()) forget(partition);
  }

  function forget(partition: number): void {
    deps.metrics.forgetLag(topic, group, partition);
    deps.metrics.truncated(topic, group, partition, false);
  }

  consumer.on('consumer.group_join', beginGeneration);
  consumer.on('consumer.rebalancing', interruptAll);
  consumer.on('consumer.crash', onCrash);
  consumer.on('consumer.network.request_timeout', ({ payload }) =>
    sockets.destroy('request timed out', payload.broker),
  );
  let started = start();
  const identityChecks = setInterval(checkIdentity, identityCheckMs).unref();
  return {
    ready,
    stop() {
      stopped ??= leave().then(() => withDeadline(started, leaveTimeoutMs, 'starting').catch(() => {}));
      return stopped;
    },
  };
}

/**
 * An answer is decoded in one go, which blocks the process: megabytes of small records took longer than the session on
 * a busy machine right after start. A larger record comes alone.
 */
const fetchLimits = { maxBytesPerPartition: 512 * 1024, maxBytes: 1024 * 1024 } as const;

/** Between kafkajs's own repetitions. After the last of them the consumer is started again. */
const pauses = { retries: 5, initialRetryTime: 100, maxRetryTime: longestPauseMs, factor: 0.2, multiplier: 2 } as const;

function createConsumer(
  options: KafkaLogOptions,
  groupId: string,
  socketFactory: ISocketFactory,
  stopping: AbortSignal,
): Consumer {
  const kafka = new Kafka({
    ...clientConfig(options, options.brokers),
    requestTimeout: requestTimeoutMs,
    // For finding brokers and coordinators; by itself kafkajs lets up to 7 s pass between two looks.
    retry: pauses,
    socketFactory,
  });
  return kafka.consumer({
    groupId,
    partitionAssigners: [keptMembership(stopping)],
    retry: {
      ...pauses,
      // A member that crashed while it was being stopped must not be started again.
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
