// The event log in PostgreSQL. It does not require Kafka and is suitable for small installations.

import type { SqlDatabase, Transaction } from '@millrace/db/sql';
import { AppError, type Logger, type Metrics, sleep, withDeadline } from '@millrace/runtime';
import { createAppender } from '../append/append.ts';
import {
  type AppendSettings,
  type AppendTransport,
  computeSendTimeout,
  toAppendSettings,
} from '../append/transport.ts';
import { createConsumeMetrics } from '../consume/metrics.ts';
import type { EventLog } from '../log.ts';
import { createReachability, type Reachability } from '../reachability.ts';
import { consumeFromPostgres } from './consumer.ts';
import { AppendRejected, appendBatches, createTopic, readConsumedOffsets, readEnds, trimPartition } from './store.ts';

export interface PostgresLogOptions extends Partial<AppendSettings> {
  /**
   * The database. It must have a `queryTimeoutMs`, because its pool would otherwise lose connections that get no
   * response.
   */
  database: SqlDatabase;
  logger: Logger;
  metrics?: Metrics;
  /** The interval for polling appends by other processes and group changes, in milliseconds. The default is 100. */
  pollIntervalMs?: number;
  /** A consumer loses its partitions after this many milliseconds without a heartbeat. The default is 4000. */
  leaseMs?: number;
  /** Records that all known groups have read are deleted after this many hours. The default is 24. */
  retentionHours?: number;
  trimIntervalMs?: number;
  /** Consumer groups that are no longer used. Records are not kept for them. */
  retiredGroups?: readonly string[];
  /** Called first in the transaction of every append. If it throws `AppendRejected`, nothing is appended. */
  guard?: (tx: Transaction) => Promise<void>;
}

const lookUpTimeoutMs = 5000;

/**
 * Creates the log in PostgreSQL, for a single machine or a small installation. The log uses tables in the main database
 * and needs no broker.
 */
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
  const sendTimeoutMs = computeSendTimeout(settings);
  const reachability = createReachability(logger, true, async () => {
    await withDeadline(database.sql.query('SELECT 1'), sendTimeoutMs, 'probing');
  });
  const pipeline = createAppender({
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

  async function inTime<T>(work: Promise<T>): Promise<T> {
    try {
      return await withDeadline(work, lookUpTimeoutMs, 'querying the event log');
    } catch (cause) {
      throw new AppError('unavailable', 'The event log does not respond.', { cause, retryAfterSeconds: 2 });
    }
  }

  return {
    async ensureTopics(topics) {
      for (const { topic, partitions } of topics) {
        await inTime(database.transaction((tx) => createTopic(tx, topic, partitions)));
      }
    },
    append: pipeline.append,
    consume: async (consume) =>
      consumeFromPostgres({ database, logger, metrics: consumeMetrics, pollIntervalMs, leaseMs, onAppended }, consume),
    async endOffsets(topic) {
      const ends = await inTime(readEnds(database.sql, topic));
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

/** Writes all batches of a request in one transaction, so that many `append` calls share one commit. */
function createPostgresTransport(deps: {
  database: SqlDatabase;
  reachability: Reachability;
  sendTimeoutMs: number;
  announce(topics: Iterable<string>): void;
  guard: ((tx: Transaction) => Promise<void>) | undefined;
}): AppendTransport {
  const { database, sendTimeoutMs } = deps;

  async function bounded<T>(work: Promise<T>, what: string): Promise<T> {
    try {
      const result = await withDeadline(work, sendTimeoutMs, what);
      deps.reachability.succeeded();
      return result;
    } catch (error) {
      if (!(error instanceof AppendRejected)) deps.reachability.failed(error);
      throw error;
    }
  }

  return {
    async leadersOf(topic) {
      const ends = await bounded(readEnds(database.sql, topic), 'reading the partitions of a topic');
      if (ends.length === 0) throw new Error(`the topic ${topic} does not exist`);
      // Report the same leader for all partitions, so that a process has one transaction at a time. Batches then get
      // larger under load.
      return ends.map(() => 0);
    },

    async send(batches) {
      await bounded(
        database.transaction(async (tx) => {
          await deps.guard?.(tx);
          await appendBatches(tx, batches, sendTimeoutMs);
        }),
        'appending records',
      );
      deps.announce(new Set(batches.map(({ topic }) => topic)));
      return batches.map(() => null);
    },
  };
}

/** The number of rows deleted per transaction, which is small enough not to delay writers noticeably. */
const stepRecords = 2000;
const pauseMs = 50;

interface Trimmer {
  trim(): Promise<void>;
  stop(): void;
}

interface TrimSettings {
  retentionHours: number;
  /**
   * Records of topics without a group, such as dead letters, are deleted after this many hours. The default is 30 days.
   */
  unreadRetentionHours?: number;
  intervalMs: number;
  retiredGroups?: readonly string[];
}

/** Deletes old records that all groups have read, in small steps in the background. */
export function createTrimmer(
  database: SqlDatabase,
  logger: Logger,
  { retentionHours, unreadRetentionHours = 30 * 24, intervalMs, retiredGroups = [] }: TrimSettings,
): Trimmer {
  const stopping = new AbortController();

  async function trim(): Promise<void> {
    for (const passed of await readConsumedOffsets(database.sql, retiredGroups)) {
      const hours = passed.isRead ? retentionHours : unreadRetentionHours;
      let deleted = stepRecords;
      while (deleted === stepRecords && !stopping.signal.aborted) {
        deleted = await database.transaction((tx) => trimPartition(tx, passed, hours, stepRecords));
        if (deleted === stepRecords) await sleep(pauseMs, stopping.signal);
      }
    }
  }

  let isTrimming = false;
  const timer = setInterval(async () => {
    if (isTrimming) return;
    isTrimming = true;
    try {
      await trim();
    } catch (error) {
      logger.debug('could not delete old records; retrying later', { error });
    }
    isTrimming = false;
  }, intervalMs);
  timer.unref();

  return {
    trim,
    stop() {
      clearInterval(timer);
      stopping.abort();
    },
  };
}
