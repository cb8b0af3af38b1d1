// Processes the remaining records of the event log that was configured before the current one.

import type { SqlDatabase } from '@millrace/db/sql';
import {
  countUnreadRecords,
  type EventLog,
  type LogConsumer,
  readConsumedKafkaLogs,
  type TopicGroup,
} from '@millrace/event-log';
import { type Logger, type Metrics, type Stoppable, sleep } from '@millrace/runtime';
import { describeFailure } from './failures.ts';

/** A consumer group, with a function that joins it to read the PostgreSQL log. */
export interface FormerLogReader extends TopicGroup {
  join(): Promise<LogConsumer>;
}

export interface FormerLogDrain extends Stoppable {
  /**
   * Resolves when all records have been read or when reading makes no progress, so that callers never wait
   * indefinitely.
   */
  begun(): Promise<void>;
}

const lookEveryMs = 5000;
const busyLookEveryMs = 250;
/** Reading is considered stuck if the number of unread records has not decreased for this many milliseconds. */
const patienceMs = 20_000;
/**
 * How many milliseconds the former log must stay empty before reading ends. Gateways may still append to it for a
 * while, because they are reconfigured after the consumers.
 */
const restMs = 10_000;

/**
 * Processes the remaining records of the PostgreSQL log after a switch to Kafka, in the same consumer groups as before
 * the switch. Checks repeatedly, because gateways are reconfigured after the consumers and append to the PostgreSQL log
 * until then.
 */
export function drainFormerLog({
  database,
  readers,
  logger,
  metrics,
}: {
  database: Pick<SqlDatabase, 'sql'>;
  readers: readonly FormerLogReader[];
  logger: Logger;
  metrics: Metrics;
}): FormerLogDrain {
  const stopping = new AbortController();
  const remaining = metrics.gauge(
    'millrace_log_former_log_records',
    'Unread records in an event log that is no longer configured',
    ['topic', 'group'],
  );
  const joined = new Map<FormerLogReader, LogConsumer>();
  let announceBegun: () => void = () => {};
  const firstCheck = new Promise<void>((resolve) => {
    announceBegun = resolve;
  });
  const backlog = createBacklogWatch();

  async function look(): Promise<void> {
    const unread = await countUnreadRecords(database.sql, readers);
    let total = 0;
    for (const reader of readers) {
      const records = unread.find(({ topic, group }) => topic === reader.topic && group === reader.group)?.records ?? 0;
      total += records;
      if (records > 0 || joined.has(reader)) remaining.set({ topic: reader.topic, group: reader.group }, records);
      if (records > 0 && !joined.has(reader)) {
        const { topic, group } = reader;
        logger.warn('processing unread records in the event log in PostgreSQL, which was configured earlier', {
          topic,
          group,
          records,
        });
        joined.set(reader, await reader.join());
      }
    }
    backlog.note(total);
    if (total === 0) announceBegun();
    else if (backlog.isStuck()) {
      logger.error('no progress with the unread records in the event log in PostgreSQL, which was configured earlier', {
        records: total,
      });
      announceBegun();
    }
    if (backlog.hasRested()) await leave();
  }

  async function leave(): Promise<void> {
    const consumers = [...joined.values()];
    if (consumers.length > 0 && !stopping.signal.aborted)
      logger.info('processed all unread records in the event log in PostgreSQL, which was configured earlier');
    joined.clear();
    backlog.reset();
    await Promise.all(consumers.map((consumer) => consumer.stop()));
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await look();
      } catch (error) {
        logger.debug('could not read the event log in PostgreSQL', describeFailure(error));
        // PostgreSQL is unavailable, so reading the current log must wait for it anyway.
        announceBegun();
      }
      await sleep(joined.size > 0 ? busyLookEveryMs : lookEveryMs, stopping.signal);
    }
  }

  const running = run();
  return {
    begun: () => firstCheck,
    async stop() {
      stopping.abort();
      announceBegun();
      await running;
      await leave();
    },
  };
}

function createBacklogWatch() {
  let fewest = Number.POSITIVE_INFINITY;
  let movedAt = performance.now();
  let emptySince: number | null = null;
  return {
    note(records: number): void {
      emptySince = records > 0 ? null : (emptySince ?? performance.now());
      if (records < fewest) movedAt = performance.now();
      fewest = Math.min(fewest, records);
    },
    /** Returns true each time `patienceMs` have passed without progress. */
    isStuck(): boolean {
      if (performance.now() - movedAt <= patienceMs) return false;
      movedAt = performance.now();
      return true;
    },
    hasRested: () => emptySince !== null && performance.now() - emptySince > restMs,
    reset(): void {
      fewest = Number.POSITIVE_INFINITY;
    },
  };
}

/** A former log is reported if it was last read within this number of days. */
const days = 30;

/**
 * Reports Kafka logs that were read before but are no longer read. This process cannot count their unread records. A
 * PostgreSQL log is not reported, because `drainFormerLog` processes its remaining records.
 */
export async function reportFormerLogs({
  database,
  log,
  readers,
  logger,
}: {
  database: Pick<SqlDatabase, 'sql'>;
  /** Null if the current log is not a Kafka log. */
  log: Pick<EventLog, 'endOffsets'> | null;
  readers: readonly TopicGroup[];
  logger: Logger;
}): Promise<void> {
  const read = await readConsumedKafkaLogs(database.sql, readers, days);
  for (const { topic, group, log: id, readAt } of read) {
    const ends = log === null ? [] : await log.endOffsets(topic);
    if (ends.some((end) => end.log === id)) continue;
    logger.warn(
      'consumers previously read a different event log. Its unread records are processed once that log is configured again. If the log no longer exists, run: millrace offsets forget',
      { topic, group, log: id, lastReadAt: readAt.toISOString() },
    );
  }
}
