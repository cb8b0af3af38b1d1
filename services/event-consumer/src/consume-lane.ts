import { consumerGroup, type Lane, type TopicNames } from '@millrace/contracts';
import type { SqlDatabase } from '@millrace/db/sql';
import { type EventLog, type LogConsumer, readStartOffset } from '@millrace/event-log';
import type { Logger } from '@millrace/runtime';
import type { Tracing } from '@millrace/tracing';
import { sleepUntilAborted } from './async/sleep-until-aborted.ts';
import type { BatchWork } from './batch-work.ts';
import { createBatchHandler } from './consume.ts';
import type { ConsumeMetrics } from './consume-metrics.ts';
import type { LiveLoad } from './live-load.ts';
import { type ProcessBatchDeps, processBatch } from './process-batch.ts';
import type { StepTimer } from './step-timer.ts';
import { traceBatches, traceIdOf } from './trace-batches.ts';

export interface ConsumeLaneDeps {
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

/** Processes a batch, and goes on with the traces of its records. */
function processWork({ process, tracing }: Pick<ConsumeLaneDeps, 'process' | 'tracing'>) {
  if (tracing === null) return { process: (work: BatchWork) => processBatch(work, process), traceIdOf: () => null };
  const processTraced = (work: BatchWork, step: StepTimer) => processBatch(work, { ...process, step });
  return { process: traceBatches(tracing, processTraced, process.step), traceIdOf };
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
    sleep: sleepUntilAborted,
  });
  return deps.log.consume({
    topic: deps.topics[lane],
    group,
    maxBatchRecords: deps.maxBatchRecords,
    maxBatchBytes: deps.maxBatchBytes,
    partitionConcurrency,
    startOffset: (topic, partition, view) => readStartOffset(deps.database.sql, { topic, partition, group }, view),
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
