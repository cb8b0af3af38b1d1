import { consumerGroup, type Lane, outputGroup, type TopicNames } from '@millrace/contracts';
import type { SqlDatabase } from '@millrace/db/sql';
import { type EventLog, type LogConsumer, readOffset } from '@millrace/event-log';
import { type Logger, type Stoppable, sleep } from '@millrace/runtime';
import type { Tracing } from '@millrace/runtime/tracing';
import type { BatchWork } from './batch.ts';
import { type ConsumerConfig, configuredLanes } from './config.ts';
import { createBatchHandler } from './consume.ts';
import { describeFailure } from './failures.ts';
import type { FormerLogReader } from './former-log.ts';
import type { ConsumeMetrics, Timed } from './metrics.ts';
import { type PublishLaneDeps, publishLane } from './output/publish.ts';
import { type ProcessBatchDeps, processBatch } from './process-batch.ts';
import { traceBatches, traceIdOf } from './trace-batches.ts';

interface ConsumeLaneDeps {
  log: Pick<EventLog, 'consume'>;
  database: Pick<SqlDatabase, 'sql'>;
  process: ProcessBatchDeps;
  /** Null: nothing is traced. */
  tracing: Tracing | null;
  topics: TopicNames;
  topicPrefix: string;
  maxBatchRecords: number;
  maxBatchBytes: number;
  logger: Logger;
  metricsOf(lane: Lane): ConsumeMetrics;
  /** One for all lanes of the process. */
  liveLoad: LiveLoad;
  /** One for all lanes of the process. */
  freeLocks(): Promise<void>;
  onFatal(error: Error): void;
}

/** While live events keep this process busy, a migration still gets one batch done in this time. */
const maxYieldMs = 250;

/** Processes a batch, and continues with the traces of its records. */
function processWork({ process, tracing }: Pick<ConsumeLaneDeps, 'process' | 'tracing'>) {
  if (tracing === null) return { process: (work: BatchWork) => processBatch(work, process), traceIdOf: () => null };
  const processTraced = (work: BatchWork, startTimer: () => Timed) => processBatch(work, { ...process, startTimer });
  return { process: traceBatches(tracing, processTraced, process.startTimer), traceIdOf };
}

/** Joins the consumer group of a lane: its topic, its own stored offsets, one handler for all its partitions. */
export function consumeLane(
  { lane, partitionConcurrency }: { lane: Lane; partitionConcurrency: number },
  deps: ConsumeLaneDeps,
): Promise<LogConsumer> {
  const group = consumerGroup(lane, deps.topicPrefix);
  const { liveLoad } = deps;
  const handleBatch = createBatchHandler({
    group,
    ...processWork(deps),
    logger: deps.logger,
    metrics: deps.metricsOf(lane),
    freeLocks: deps.freeLocks,
    sleep,
  });
  return deps.log.consume({
    topic: deps.topics[lane],
    group,
    maxBatchRecords: deps.maxBatchRecords,
    maxBatchBytes: deps.maxBatchBytes,
    partitionConcurrency,
    startOffset: (partition, log) => readOffset(deps.database.sql, { topic: deps.topics[lane], partition, group, log }),
    async handler(batch, context) {
      if (lane === 'live') return liveLoad.during(() => handleBatch(batch, context));
      // Somebody waits for live events, nobody for an import. Overflow events were live events, so they do not give way
      // either.
      if (lane === 'historical') await liveLoad.untilIdle(maxYieldMs, context.signal);
      return handleBatch(batch, context);
    },
    onFatal: deps.onFatal,
  });
}

/** What both kinds of readers need but the log. */
export type LaneDeps = Omit<ConsumeLaneDeps, 'log'> & Pick<PublishLaneDeps, 'database' | 'published'>;

/**
 * All that reads lanes in a log.
 * @param chosen what is published goes there, whichever log is read.
 */
export function laneReaders(
  config: ConsumerConfig,
  { read, chosen }: { read: Pick<EventLog, 'consume'>; chosen: Pick<EventLog, 'append'> },
  deps: LaneDeps,
): FormerLogReader[] {
  const { topicPrefix } = config;
  const lanes = configuredLanes(config);
  return [
    ...lanes.map((lane) => ({
      topic: deps.topics[lane.lane],
      group: consumerGroup(lane.lane, topicPrefix),
      join: () => consumeLane(lane, { ...deps, log: read }),
    })),
    ...publishedLanes(config).map((lane) => ({
      topic: deps.topics[lane],
      group: outputGroup(lane, topicPrefix),
      join: () =>
        publishLane(lane, {
          ...deps,
          log: { consume: read.consume, append: chosen.append },
          projects: deps.process.projects,
        }),
    })),
  ];
}

/** The lanes whose stored events are published. */
export function publishedLanes(config: ConsumerConfig): Lane[] {
  return config.publishProcessed === 'on' ? configuredLanes(config).map(({ lane }) => lane) : [];
}

interface StartLanesOptions {
  log: Pick<EventLog, 'ensureTopics'>;
  topics: TopicNames;
  topicPartitions: number;
  /** Work that comes before the lanes; it resolves in any case. */
  before?: Promise<void>;
  /** One function per lane; joins its group. */
  joins: (() => Promise<LogConsumer>)[];
  logger: Logger;
}

interface RunningLanes extends Stoppable {
  /** True once every lane has joined its group. */
  isReady(): boolean;
}

const firstDelayMs = 250;
const longestDelayMs = 5000;

/**
 * Creates the topics and joins the groups in the background, again and again until the log is there: the process comes
 * up, answers its health checks and waits. Stopping waits for the batches under way.
 */
export function startLanes({ log, topics, topicPartitions, before, joins, logger }: StartLanesOptions): RunningLanes {
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
    if (isReady) logger.info('consuming', { lanes: consumers.length });
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

/** Knows whether this process is busy with live events, so that other work can stand back. */
interface LiveLoad {
  /** Runs one batch of the live lane. */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves as soon as no live batch is in hand, after `maxMs` at the latest, or when the signal aborts. */
  untilIdle(maxMs: number, signal: AbortSignal): Promise<void>;
}

export function createLiveLoad(): LiveLoad {
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
      // `AbortSignal.any` would leave something behind in the long-lived signal with every wait.
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
