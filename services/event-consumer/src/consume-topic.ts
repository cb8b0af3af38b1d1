// Joins the consumer groups of the configured topics, and creates a batch handler for each group.

import { consumerGroup, type EventTopic, publisherGroup, type TopicNames } from '@millrace/contracts';
import type { SqlDatabase } from '@millrace/db/sql';
import { type EventLog, type LogConsumer, readOffset } from '@millrace/event-log';
import { type Logger, type Stoppable, sleep } from '@millrace/runtime';
import type { Tracing } from '@millrace/runtime/tracing';
import type { BatchWork } from './batch.ts';
import { type ConsumerConfig, configuredTopics } from './config.ts';
import { createBatchHandler } from './consume.ts';
import { describeFailure } from './failures.ts';
import type { FormerLogReader } from './former-log.ts';
import type { ConsumeMetrics, RecordStep } from './metrics.ts';
import { type PublishTopicDeps, publishTopic } from './output/publish.ts';
import { type ProcessBatchDeps, processBatch } from './process-batch.ts';
import { findTraceId, withBatchTracing } from './trace-batches.ts';

interface ConsumeTopicDeps {
  log: Pick<EventLog, 'consume'>;
  database: Pick<SqlDatabase, 'sql'>;
  process: ProcessBatchDeps;
  tracing: Tracing | null;
  topics: TopicNames;
  topicPrefix: string;
  maxBatchRecords: number;
  maxBatchBytes: number;
  logger: Logger;
  metricsOf(topic: EventTopic): ConsumeMetrics;
  /** Tracks the load of live events. All topics of the process share it. */
  liveLoad: LiveLoadTracker;
  releaseLocks(): Promise<void>;
  onFatal(error: Error): void;
}

/** The maximum delay in milliseconds for a batch of historical events while this process is busy with live events. */
const maxYieldMs = 250;

function processWork({ process, tracing }: Pick<ConsumeTopicDeps, 'process' | 'tracing'>) {
  if (tracing === null) return { process: (work: BatchWork) => processBatch(work, process), traceIdOf: () => null };
  const processTraced = (work: BatchWork, startStepTimer: () => RecordStep) =>
    processBatch(work, { ...process, startStepTimer });
  return { process: withBatchTracing(tracing, processTraced, process.startStepTimer), traceIdOf: findTraceId };
}

/** Joins a topic's consumer group, with its own stored offsets and one handler for all partitions. */
export function consumeTopic(
  { topic, partitionConcurrency }: { topic: EventTopic; partitionConcurrency: number },
  deps: ConsumeTopicDeps,
): Promise<LogConsumer> {
  const group = consumerGroup(topic, deps.topicPrefix);
  const { liveLoad } = deps;
  const handleBatch = createBatchHandler({
    group,
    ...processWork(deps),
    logger: deps.logger,
    metrics: deps.metricsOf(topic),
    releaseLocks: deps.releaseLocks,
    sleep,
  });
  return deps.log.consume({
    topic: deps.topics[topic],
    group,
    maxBatchRecords: deps.maxBatchRecords,
    maxBatchBytes: deps.maxBatchBytes,
    partitionConcurrency,
    startOffset: (partition, log) =>
      readOffset(deps.database.sql, { topic: deps.topics[topic], partition, group, log }),
    async handler(batch, context) {
      if (topic === 'live') return liveLoad.during(() => handleBatch(batch, context));
      // Live events have priority, so historical events wait for them. Overflow events do not wait, because they are
      // live events of busy keys.
      if (topic === 'historical') await liveLoad.untilIdle(maxYieldMs, context.signal);
      return handleBatch(batch, context);
    },
    onFatal: deps.onFatal,
  });
}

export type TopicReaderDeps = Omit<ConsumeTopicDeps, 'log'> & Pick<PublishTopicDeps, 'database' | 'published'>;

/**
 * Returns the readers of all topics in a log.
 * @param chosen the log that published events are appended to, which can differ from the log that is read
 */
export function createTopicReaders(
  config: ConsumerConfig,
  { read, chosen }: { read: Pick<EventLog, 'consume'>; chosen: Pick<EventLog, 'append'> },
  deps: TopicReaderDeps,
): FormerLogReader[] {
  const { topicPrefix } = config;
  return [
    ...configuredTopics(config).map(({ topic, partitionConcurrency }) => ({
      topic: deps.topics[topic],
      group: consumerGroup(topic, topicPrefix),
      join: () => consumeTopic({ topic, partitionConcurrency }, { ...deps, log: read }),
    })),
    ...publishedTopics(config).map((topic) => ({
      topic: deps.topics[topic],
      group: publisherGroup(topic, topicPrefix),
      join: () =>
        publishTopic(topic, {
          ...deps,
          log: { consume: read.consume, append: chosen.append },
          projects: deps.process.projects,
        }),
    })),
  ];
}

export function publishedTopics(config: ConsumerConfig): EventTopic[] {
  return config.publishProcessed === 'on' ? configuredTopics(config).map(({ topic }) => topic) : [];
}

interface StartConsumingOptions {
  log: Pick<EventLog, 'ensureTopics'>;
  topics: TopicNames;
  topicPartitions: number;
  /** Resolves when reading can start. Never rejects. */
  before?: Promise<void>;
  joins: (() => Promise<LogConsumer>)[];
  logger: Logger;
}

interface RunningConsumers extends Stoppable {
  isReady(): boolean;
}

const firstDelayMs = 250;
const longestDelayMs = 5000;

/**
 * Creates the topics and joins the groups in the background, and retries until the log is available. The process
 * already runs and responds to health checks. Stopping waits for in-flight batches.
 */
export function startConsuming({
  log,
  topics,
  topicPartitions,
  before,
  joins,
  logger,
}: StartConsumingOptions): RunningConsumers {
  const stopping = new AbortController();
  const consumers: LogConsumer[] = [];
  let isReady = false;

  async function start(): Promise<void> {
    const wanted = Object.values(topics).map((topic: string) => ({ topic, partitions: topicPartitions }));
    await untilDone('topics', () => log.ensureTopics(wanted));
    await Promise.race([before, aborted(stopping.signal)]);
    for (const join of joins) {
      await untilDone('group', async () => {
        consumers.push(await join());
      });
    }
    if (stopping.signal.aborted) return;
    await Promise.race([Promise.all(consumers.map(({ ready }) => ready)), aborted(stopping.signal)]);
    isReady = !stopping.signal.aborted;
    if (isReady) logger.info('consuming', { groups: consumers.length });
  }

  async function untilDone(what: string, attempt: () => Promise<void>): Promise<void> {
    for (let delayMs = firstDelayMs; !stopping.signal.aborted; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
      try {
        return await attempt();
      } catch (error) {
        logger.warn('could not start consuming the event log; retrying', { what, delayMs, ...describeFailure(error) });
        await sleep(delayMs, stopping.signal);
      }
    }
  }

  const started = start();
  return {
    isReady: () => isReady,
    async stop() {
      isReady = false;
      stopping.abort();
      await started;
      await Promise.all(consumers.map((consumer) => consumer.stop()));
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

interface LiveLoadTracker {
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when no batch of live events is in flight, after `maxMs`, or when the signal aborts. */
  untilIdle(maxMs: number, signal: AbortSignal): Promise<void>;
}

export function createLiveLoadTracker(): LiveLoadTracker {
  let inHand = 0;
  let idle: (() => void)[] = [];
  return {
    async during(work) {
      inHand += 1;
      try {
        return await work();
      } finally {
        inHand -= 1;
        if (inHand === 0) for (const resolve of idle.splice(0)) resolve();
      }
    },
    async untilIdle(maxMs, signal) {
      if (inHand === 0) return;
      const over = new AbortController();
      // Do not use `AbortSignal.any`, which would leak memory because the signal exists for a long time.
      const stop = () => over.abort();
      signal.addEventListener('abort', stop);
      if (signal.aborted) stop();
      let resolveIdle: () => void = () => {};
      const isIdle = new Promise<void>((resolve) => {
        resolveIdle = resolve;
        idle.push(resolve);
      });
      await Promise.race([isIdle, sleep(maxMs, over.signal)]);
      over.abort();
      signal.removeEventListener('abort', stop);
      idle = idle.filter((resolve) => resolve !== resolveIdle);
    },
  };
}
