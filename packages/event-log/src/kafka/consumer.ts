// Consumes a Kafka topic as a member of a consumer group.

import { createDeferred, type Logger, sleep, withDeadline } from '@millrace/runtime';
import type { Consumer, ConsumerCrashEvent, EachBatchPayload } from 'kafkajs';
import type { ConsumeMetrics } from '../consume/metrics.ts';
import { createTruncationReporter } from '../consume/truncation.ts';
import type { ConsumeOptions, LogConsumer } from '../log.ts';
import type { KafkaLogOptions } from './config.ts';
import { createAssignment, createGroupClient, runConsumer } from './group.ts';
import { createTrackedSockets } from './kafkajs-internals/connection.ts';
import { isBrokerUnreachable } from './kafkajs-internals/errors.ts';
import {
  type AssignedPartition,
  createOffsetCommitter,
  createRecordBuffer,
  type OffsetCommitter,
} from './partitions.ts';
import { createStartPositions } from './positions.ts';
import { createPartitionReader } from './reader.ts';
import type { TopicReader } from './topics.ts';

/** How many milliseconds `stop` waits for in-flight batches, whose handlers have already received the abort signal. */
const drainTimeoutMs = 10_000;
const leaveTimeoutMs = 5000;
const rejoinPauseMs = 500;
/**
 * How often the topic's ID is checked, in milliseconds. Without the check, a topic that is deleted and immediately
 * created again would go unnoticed.
 */
const identityCheckMs = 1000;

/** Consumes a topic with a kafkajs consumer. This package manages the consumer's assignment, positions and failures. */
export function consumeFromKafka(
  deps: {
    options: KafkaLogOptions;
    logger: Logger;
    metrics: ConsumeMetrics;
    topics: TopicReader;
  },
  consume: ConsumeOptions,
): LogConsumer {
  const { options, logger, topic, group } = { ...deps, ...consume };
  const stopping = new AbortController();
  const sockets = createTrackedSockets(options.socketFactory, () => assignment.restartAll());
  const consumer = createGroupClient(options, group, sockets.socketFactory, stopping.signal);
  const commits = createOffsetCommitter(consumer, topic, logger);
  const waiting = createRecordBuffer(consumer, topic);
  const truncation = createTruncationReporter({ ...deps, consume });
  const positions = createStartPositions({ ...deps, consume, consumer, waiting, truncation });
  const assignment = createAssignment({ ...deps, consume, waiting, positions, stopping: stopping.signal });
  const { interruptAll } = assignment;
  const reader = createPartitionReader({ ...deps, consume, positions, waiting, commits, truncation, interruptAll });
  const { promise: ready, resolve: announceJoined } = createDeferred<void>();
  let stopped: Promise<void> | undefined;

  async function eachBatch(payload: EachBatchPayload): Promise<void> {
    const partition = assignment.get(payload.batch.partition);
    return partition === undefined ? sleep(20) : reader.read(partition, payload);
  }

  function onCrash({ payload }: ConsumerCrashEvent): void {
    interruptAll();
    if (stopping.signal.aborted) return;
    if (payload.restart) {
      logger.warn('consumer was removed from its group; joining again', { topic, group, error: payload.error });
      return;
    }
    if (isBrokerUnreachable(payload.error)) {
      // kafkajs gives up permanently if it cannot find the coordinator. Restart the consumer, because brokers usually
      // become available again.
      logger.warn('consumer lost the connection to its brokers; restarting', { topic, group, error: payload.error });
      started = sleep(rejoinPauseMs, stopping.signal).then(start);
      return;
    }
    consume.onFatal(new Error(`The consumer of ${topic} stopped unexpectedly.`, { cause: payload.error }));
  }

  const start = () => runConsumer(consumer, eachBatch, { topic, group, logger, signal: stopping.signal });

  async function leave(): Promise<void> {
    stopping.abort();
    clearInterval(identityChecks);
    announceJoined();
    const held = assignment.all();
    interruptAll();
    // Pause all partitions. Otherwise, kafkajs would fetch the same records repeatedly while the in-flight batches
    // finish.
    positions.pauseAll();
    await leaveInOrder(held, { consumer, commits, topic, group, logger });
    sockets.retire('the consumer has stopped');
    for (const partition of assignment.endGeneration().keys()) assignment.forget(partition);
  }

  consumer.on('consumer.group_join', ({ payload }) => {
    assignment.beginGeneration(payload.memberAssignment[topic] ?? []);
    announceJoined();
  });
  consumer.on('consumer.rebalancing', interruptAll);
  consumer.on('consumer.crash', onCrash);
  consumer.on('consumer.network.request_timeout', ({ payload }) =>
    sockets.destroy('request timed out', payload.broker),
  );
  let started = start();
  const identityChecks = setInterval(assignment.checkIdentity, identityCheckMs).unref();
  return {
    ready,
    stop() {
      stopped ??= leave().then(() => withDeadline(started, leaveTimeoutMs, 'starting').catch(() => {}));
      return stopped;
    },
  };
}

interface Leaving {
  consumer: Consumer;
  commits: OffsetCommitter;
  topic: string;
  group: string;
  logger: Logger;
}

async function leaveInOrder(
  held: AssignedPartition[],
  { consumer, commits, topic, group, logger }: Leaving,
): Promise<void> {
  const inHand = Promise.all(held.map(({ delivery }) => delivery));
  await withDeadline(inHand, drainTimeoutMs, 'finishing the in-flight batches').catch((error: unknown) => {
    logger.warn('consumer stopped before its in-flight batches finished', { topic, group, error });
  });
  await commits.stop();
  await withDeadline(consumer.disconnect(), leaveTimeoutMs, 'leaving the group').catch((error: unknown) => {
    logger.debug('consumer closed the connection without leaving its group', { topic, group, error });
  });
}
