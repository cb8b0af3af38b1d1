import type { Logger } from '@millrace/runtime';
import { type Consumer, type EachBatchHandler, type ISocketFactory, Kafka } from 'kafkajs';
import { backoffMs, sleep } from '../consume/backoff.ts';
import type { KafkaLogOptions } from './kafka-options.ts';
import { clientConfig } from './kafka-session.ts';
import { keptMembership } from './kafkajs-internals/kept-membership.ts';

const defaults = { sessionTimeoutMs: 6000, heartbeatIntervalMs: 1000, fetchWaitMs: 200 };
const requestTimeoutMs = 5000;
/** Limit of the pauses between attempts to reach brokers: so much time may be lost after the brokers are back. */
const longestPauseMs = 1000;

/**
 * An answer is decoded in one go, which blocks the process: megabytes of small records took longer than the session on
 * a busy machine right after start. A larger record comes alone.
 */
const fetchLimits = { maxBytesPerPartition: 512 * 1024, maxBytes: 1024 * 1024 } as const;

/** Between kafkajs's own repetitions. After the last of them the consumer is started again. */
const pauses = { retries: 5, initialRetryTime: 100, maxRetryTime: longestPauseMs, factor: 0.2, multiplier: 2 } as const;

/** The kafkajs consumer of a group. */
export function createGroupClient(
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

interface RunOptions {
  topic: string;
  group: string;
  logger: Logger;
  signal: AbortSignal;
}

/** Connects, subscribes and runs; tried again until it works or the signal aborts. */
export async function runUntilStopped(
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
        // Fetched records are put into a buffer at once (waiting-records.ts), one partition after the other.
        partitionsConsumedConcurrently: 1,
        eachBatch,
      });
    } catch (error) {
      logger.warn('a consumer could not start yet', { topic, group, error });
      await sleep(Math.min(backoffMs(failures), longestPauseMs), signal);
    }
  }
}
