import type { SqlDatabase, Transaction } from '@millrace/db/sql';
import { AppError } from '@millrace/errors';
import type { Logger, Metrics } from '@millrace/runtime';
import { createAppendPipeline } from '../append/append-pipeline.ts';
import { type AppendSettings, sendTimeoutOf, toAppendSettings } from '../append/append-settings.ts';
import { createConsumeMetrics } from '../consume/consume-metrics.ts';
import type { EventLog } from '../port/event-log.ts';
import { createReachability } from '../port/reachability.ts';
import { withDeadline } from '../port/with-deadline.ts';
import { createTopic, readEnds } from './event-log-store.ts';
import { consumeFromPostgres } from './postgres-consumer.ts';
import { createPostgresTransport } from './postgres-transport.ts';
import { createTrimmer } from './trimmer.ts';

export interface PostgresLogOptions extends Partial<AppendSettings> {
  /** With a `queryTimeoutMs`, or a connection whose answer never comes is lost to the pool. */
  database: SqlDatabase;
  logger: Logger;
  metrics?: Metrics;
  /** How often appends of other processes, and changes in a group, are looked for; 100 unless told. */
  pollIntervalMs?: number;
  /** A consumer that is silent for this long has lost its partitions; 4000 unless told. */
  leaseMs?: number;
  /** Records that every known group has passed are kept this long; 24 unless told. */
  retentionHours?: number;
  trimIntervalMs?: number;
  /** Groups that were switched off: records are not kept for them. */
  retiredGroups?: readonly string[];
  /** Done first in the transaction of every append; nothing is appended when it throws `AppendRefused`. */
  guard?: (tx: Transaction) => Promise<void>;
}

const lookUpTimeoutMs = 5000;

/** The embedded log, in tables of the same database: no broker to install, fit for one machine or a small install. */
export function createPostgresLog(options: PostgresLogOptions): EventLog {
  const { database, logger } = options;
  const settings = toAppendSettings(options);
  const {
    pollIntervalMs = 100,
    leaseMs = 4000,
    retentionHours = 24,
    trimIntervalMs = 60_000,
    retiredGroups = [],
  } = options;
  const appended = new Map<string, Set<() => void>>();
  const sendTimeoutMs = sendTimeoutOf(settings);
  const reachability = createReachability(logger, true, async () => {
    await withDeadline(database.sql.query('SELECT 1'), sendTimeoutMs, 'probing');
  });
  const pipeline = createAppendPipeline({
    settings,
    transport: createPostgresTransport({ database, reachability, sendTimeoutMs, announce, guard: options.guard }),
    logger,
    metrics: options.metrics,
  });
  const consumeMetrics = createConsumeMetrics(options.metrics);
  const trimmer = createTrimmer(database, logger, { retentionHours, intervalMs: trimIntervalMs, retiredGroups });

  function announce(topics: Iterable<string>): void {
    for (const topic of topics) for (const wake of appended.get(topic) ?? []) wake();
  }

  function onAppended(topic: string, wake: () => void): () => void {
    const listeners = appended.get(topic) ?? new Set();
    appended.set(topic, listeners.add(wake));
    return () => listeners.delete(wake);
  }

  async function answer<T>(work: Promise<T>): Promise<T> {
    try {
      return await withDeadline(work, lookUpTimeoutMs, 'asking the event log');
    } catch (cause) {
      throw new AppError('unavailable', 'The event log does not answer.', { cause, retryAfterSeconds: 2 });
    }
  }

  return {
    async ensureTopics(topics) {
      for (const { topic, partitions } of topics) {
        await answer(database.transaction((tx) => createTopic(tx, topic, partitions)));
      }
    },
    append: pipeline.append,
    consume: async (consume) =>
      consumeFromPostgres({ database, logger, metrics: consumeMetrics, pollIntervalMs, leaseMs, onAppended }, consume),
    async endOffsets(topic) {
      const ends = await answer(readEnds(database.sql, topic));
      if (ends.length === 0) throw new AppError('unavailable', `The event log has no topic ${topic}.`);
      return ends;
    },
    isHealthy: reachability.isHealthy,
    async close() {
      await pipeline.close(settings.appendTimeoutMs);
      trimmer.stop();
      reachability.stop();
    },
  };
}
