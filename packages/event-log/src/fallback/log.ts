// An event log that appends to PostgreSQL while Kafka is unavailable, and copies these records to Kafka afterwards.

import type { SqlDatabase } from '@millrace/db/sql';
import {
  AppError,
  ConfigError,
  integerSetting,
  isAppError,
  type Logger,
  type Metrics,
  withDeadline,
} from '@millrace/runtime';
import { Type } from 'typebox';
import { defaultBrokerRecordBytes } from '../append/transport.ts';
import type { AppendRecord, EventLog } from '../log.ts';
import { createPostgresLog } from '../postgres/log.ts';
import { assertFallbackOpen } from './store.ts';
import { createFallbackSwitch, type FallbackSwitch } from './switch.ts';

interface FallbackLogOptions {
  /** The Kafka log. Closing the fallback log closes it too. */
  kafka: EventLog;
  /** The appending process's database, which must have a `queryTimeoutMs`. */
  database: SqlDatabase;
  /**
   * The name of the PostgreSQL topic that stores the records. It must be the same for all gateways and consumers of an
   * installation.
   */
  topic: string;
  partitions: number;
  /** The fallback opens when Kafka has been unavailable for this many milliseconds. */
  openAfterMs: number;
  logger: Logger;
  metrics?: Metrics;
}

/**
 * The name of the record header that contains the Kafka topic. The fallback stores the records of all topics in one
 * PostgreSQL topic.
 */
export const topicHeader = 'millrace-topic';

/**
 * How many milliseconds an append waits for the end of a phase change before it is rejected. Waiting and appending
 * together must take less than 3 s.
 */
const holdMs = 400;
const firstViewMs = 1000;
const longestAppendMs = 2900;

/**
 * Creates a log that appends to PostgreSQL while Kafka is unavailable, and keeps each key's order when it switches to
 * PostgreSQL and back.
 *
 * **Order.** At any time, all gateways of an installation append to the same log. A PostgreSQL row says whether that
 * log is Kafka or the fallback, and each gateway reads the row twice a second. A gateway that has been without Kafka
 * for `openAfterMs` announces the fallback. The fallback opens once every live gateway has confirmed that it has no
 * append to Kafka in flight. Everything that Kafka has acknowledged was therefore appended before the first record of
 * the fallback.
 *
 * Consumers copy the fallback to Kafka, partition by partition and in order, as soon as Kafka accepts records
 * (`drainFallback`). When few records are left to copy, new appends wait until those are copied. Only then does the
 * fallback close and gateways append to Kafka again, so new records follow the copies. Every append to the fallback
 * checks in its own transaction that the fallback is open, while it holds a lock for which closing the fallback waits.
 * A gateway that has not noticed a phase change therefore cannot append.
 *
 * Consumers apply the same rules with and without the fallback. They read only Kafka, which contains each key's records
 * in order.
 *
 * **Duplicates.** A record can be copied twice, for example if a consumer crashes after Kafka's acknowledgement and
 * before it stores its offset. The consumer drops the duplicate, because it has the same event identity as the first
 * copy. The first copy is in the right order.
 *
 * **Why events are not processed from PostgreSQL directly.** Kafka may contain acknowledged events that no consumer has
 * read. Whether it does cannot be determined while Kafka is unavailable, and all later events of the same keys have to
 * wait for these events.
 *
 * **Limits.** Events accepted during an outage are durable immediately, but become visible only when Kafka is available
 * again. Until the fallback is open (after `openAfterMs`, plus up to 3 s for in-flight requests), clients get 503. A
 * single gateway that cannot reach Kafka moves all gateways to PostgreSQL for as long as its outage lasts.
 *
 * When the fallback opens, the other gateways do not wait for a gateway that is frozen for more than 3 s, or for a
 * gateway that can reach Kafka but has not reached PostgreSQL for more than 3 s. Until such a gateway notices the
 * change, events of the same key that are sent through it and through another gateway at the same time can be
 * reordered. If PostgreSQL is down too, the fallback is not available. Either all gateways or none must use the
 * fallback.
 */
export function createFallbackLog(options: FallbackLogOptions): EventLog {
  const { kafka, topic, logger, database } = options;
  const postgres = createPostgresLog({ database, logger, guard: (tx) => assertFallbackOpen(tx, topic) });
  const outage = createKafkaOutage(kafka.isHealthy);
  const taken = options.metrics?.counter(
    'millrace_log_fallback_records_total',
    'Records written to the fallback log in PostgreSQL',
    [],
  );
  const isOpen = options.metrics?.gauge(
    'millrace_log_fallback_open',
    '1 while records go to the fallback log in PostgreSQL, 0 otherwise',
    [],
  );
  let onTheWayToKafka = 0;
  const fallbackSwitch = createFallbackSwitch({
    topic,
    database,
    logger,
    prepare: () => postgres.ensureTopics([{ topic, partitions: options.partitions }]),
    reachesKafka: kafka.isHealthy,
    kafkaOutageMs: outage.durationMs,
    isSettled: () => onTheWayToKafka === 0,
    openAfterMs: options.openAfterMs,
    changed(phase) {
      isOpen?.set({}, phase === 'closed' ? 0 : 1);
      if (phase === 'closed') outage.over();
    },
  });

  function append(records: AppendRecord[]): Promise<void> {
    if (fallbackSwitch.phase() === 'closed') return appendToKafka(records);
    return inTime(appendWhereDue(records));
  }

  async function appendToKafka(records: AppendRecord[]): Promise<void> {
    onTheWayToKafka += 1;
    try {
      await kafka.append(records);
      outage.succeeded();
    } catch (error) {
      if (isAppError(error, 'unavailable')) outage.failed();
      throw error;
    } finally {
      onTheWayToKafka -= 1;
      if (onTheWayToKafka === 0 && fallbackSwitch.phase() === 'opening') fallbackSwitch.checkNow();
    }
  }

  async function appendWhereDue(records: AppendRecord[]): Promise<void> {
    if (fallbackSwitch.phase() === 'unknown') await fallbackSwitch.nextChange(firstViewMs);
    for (let holds = 0; fallbackSwitch.phase() === 'opening' || fallbackSwitch.phase() === 'closing'; holds += 1) {
      if (holds > 0) throw changingError();
      await fallbackSwitch.nextChange(holdMs);
    }
    if (fallbackSwitch.phase() === 'open') return appendToPostgres(records);
    return appendToKafka(records);
  }

  async function appendToPostgres(records: AppendRecord[]): Promise<void> {
    if (records.some(({ value }) => value.length > maxFallbackBytes)) throw tooLargeNowError();
    const appending = postgres.append(records.map((record) => toFallback(record, topic)));
    const isAppended = await settlesBeforeClosed(appending, fallbackSwitch);
    if (isAppended) {
      taken?.inc({}, records.length);
      return;
    }
    // It is unknown whether the fallback contains the records. If it does, they will be copied to Kafka, and the
    // consumer will drop the copies that the client sends again.
    appending.catch(() => {});
    return appendToKafka(records);
  }

  return {
    append,
    ensureTopics: kafka.ensureTopics,
    consume: kafka.consume,
    endOffsets: kafka.endOffsets,
    isHealthy: () => (fallbackSwitch.phase() === 'open' ? postgres.isHealthy() : kafka.isHealthy()),
    async close() {
      await Promise.all([kafka.close(), postgres.close()]);
      await fallbackSwitch.stop();
    },
  };
}

/**
 * Resolves with false as soon as the fallback closes, and otherwise with the outcome of `appending`. Leaves no timer or
 * listener behind.
 */
async function settlesBeforeClosed(appending: Promise<void>, fallbackSwitch: FallbackSwitch): Promise<boolean> {
  const appended = new AbortController();
  async function closed(): Promise<boolean> {
    while (fallbackSwitch.phase() !== 'closed' && !appended.signal.aborted)
      await fallbackSwitch.nextChange(longestAppendMs, appended.signal);
    return false;
  }
  try {
    return await Promise.race([appending.then(() => true), closed()]);
  } finally {
    appended.abort();
  }
}

function toFallback(record: AppendRecord, topic: string): AppendRecord {
  return { ...record, topic, headers: { ...record.headers, [topicHeader]: record.topic } };
}

/** Applies the time limit of `append`, which includes waiting for a phase change. */
async function inTime(appending: Promise<void>): Promise<void> {
  try {
    await withDeadline(appending, longestAppendMs, 'appending');
  } catch (cause) {
    if (isAppError(cause)) throw cause;
    throw new AppError('unavailable', 'The event log did not respond in time.', { cause, retryAfterSeconds: 2 });
  }
}

/**
 * The maximum size of a record in the fallback, in bytes. If Kafka did not accept the record afterwards, copying would
 * stop, and Kafka's limits cannot be read during an outage. Every topic with default limits accepts a record of this
 * size with the additional topic header.
 */
const maxFallbackBytes = defaultBrokerRecordBytes - 4096;

function tooLargeNowError(): AppError {
  return new AppError(
    'unavailable',
    'The event log cannot accept an event of this size at the moment. Retry the request.',
    {
      retryAfterSeconds: 30,
    },
  );
}

function changingError(): AppError {
  return new AppError('unavailable', 'The event log is switching to another server. Retry the request.', {
    retryAfterSeconds: 1,
  });
}

/** After this many milliseconds without another failed append, earlier failures no longer count as an outage. */
const failureCountsMs = 5000;

/**
 * Measures how long Kafka has been unavailable, based on the results of appends. A broker that responds but rejects all
 * records (because it has too few replicas) counts as unavailable too. Without traffic, the health check decides.
 */
function createKafkaOutage(isHealthy: () => boolean) {
  let failingSince: number | null = null;
  let failedAt = 0;

  return {
    failed(): void {
      failedAt = performance.now();
      failingSince ??= failedAt;
    },
    succeeded(): void {
      failingSince = null;
    },
    over(): void {
      failingSince = null;
    },
    /** Returns for how many milliseconds Kafka has been unavailable, or 0 if Kafka is available. */
    durationMs(): number {
      const now = performance.now();
      if (!isHealthy()) failingSince ??= now;
      else if (now - failedAt > failureCountsMs) failingSince = null;
      return failingSince === null ? 0 : now - failingSince;
    },
  };
}

/** The fallback log settings, which must be the same for all gateways and consumers. */
export const fallbackConfigFields = {
  eventLogFallback: Type.Union([Type.Literal('none'), Type.Literal('postgres')], {
    default: 'none',
    description:
      'where the gateway writes events while Kafka is unavailable. Must be the same for all gateways and consumers',
  }),
  eventLogFallbackAfterMs: integerSetting(
    10_000,
    'how long Kafka must be unavailable before the gateway uses EVENT_LOG_FALLBACK, in milliseconds',
    { min: 500 },
  ),
} as const;

/**
 * Returns whether a fallback is configured.
 * @throws ConfigError if a fallback is configured without Kafka
 */
export function isFallbackEnabled(config: {
  eventLog: 'kafka' | 'postgres';
  eventLogFallback: 'none' | 'postgres';
}): boolean {
  if (config.eventLogFallback === 'none') return false;
  if (config.eventLog === 'kafka') return true;
  throw new ConfigError(['EVENT_LOG_FALLBACK can be used only with EVENT_LOG=kafka']);
}

export function fallbackTopic(topicPrefix: string): string {
  return `${topicPrefix}events.fallback`;
}
