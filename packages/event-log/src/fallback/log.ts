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
import { assertOpen } from './store.ts';
import { createFallbackSwitch, type FallbackSwitch } from './switch.ts';

interface FallbackLogOptions {
  /** Where records belong. It is closed with this log. */
  kafka: EventLog;
  /** Database of the appending process; with a `queryTimeoutMs`. */
  database: SqlDatabase;
  /** The fallback's topic: the same for all gateways and consumers of an installation. */
  topic: string;
  partitions: number;
  /** How long Kafka must be out before the fallback is opened. */
  openAfterMs: number;
  logger: Logger;
  metrics?: Metrics;
}

/** Header with the topic of a record: the fallback has one topic for all of them. */
export const topicHeader = 'millrace-topic';

/** How long an append waits while the log changes, before it is refused: waiting and appending must fit into 3 s. */
const holdMs = 400;
const firstViewMs = 1000;
const longestAppendMs = 2900;

/**
 * A log that appends to PostgreSQL while Kafka is out, and keeps the order of each key over the change and back.
 *
 * **Order.** All gateways of an installation append to one log at a time. One row in PostgreSQL says which; each of
 * them looks at twice a second. A gateway that has been without Kafka for `openAfterMs` announces the fallback; it is
 * open once every living gateway has confirmed that nothing of its own is on its way to Kafka any more. So whatever Kafka
 * has acknowledged was appended before the first record of the fallback. Consumers copy the fallback to Kafka, partition
 * by partition and in order, from the moment Kafka takes anything (`drainFallback`). When little is left, new appends are
 * held for a moment until the rest is copied; only then the fallback log is closed and gateways append to Kafka again. So
 * whatever Kafka gets afterwards lies behind the copies. Every append to the fallback checks in its own transaction that
 * the fallback is open, under a lock that closing waits for: a gateway with a stale state cannot append.
 * The consumers' rules know nothing of all this: for them there is one log, Kafka, in which each key has its order.
 *
 * **Once.** A copy may be made twice (a consumer dies between Kafka's acknowledgement and storing how far it is). The
 * event's identity makes it one event, and the first copy is in its place in the order.
 *
 * **Why not process from PostgreSQL directly.** Kafka may hold acknowledged events that no consumer has read. Nobody can
 * know while it is out, and everything later of their keys has to wait for them.
 *
 * **Limits.** Events taken during an outage are durable at once, but become visible only when Kafka is back. Until the
 * fallback is open (`openAfterMs`, and up to 3 s for requests under way) clients get 503. One gateway that alone cannot
 * reach Kafka takes all of them to PostgreSQL for as long as that lasts. A gateway that can reach Kafka but not
 * PostgreSQL for more than 3 s, or is frozen for as long, while another opens the fallback, is not waited for: until it
 * sees the change, events of a key that go through it and through another gateway at the same time may change places.
 * With PostgreSQL away as well there is no fallback. All gateways must run with the fallback, or none.
 */
export function createFallbackLog(options: FallbackLogOptions): EventLog {
  const { kafka, topic, logger, database } = options;
  const postgres = createPostgresLog({ database, logger, guard: (tx) => assertOpen(tx, topic) });
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
  const which = createFallbackSwitch({
    ...{ topic, database, logger },
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
    if (which.phase() === 'closed') return appendToKafka(records);
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
      if (onTheWayToKafka === 0 && which.phase() === 'opening') which.checkNow();
    }
  }

  async function appendWhereDue(records: AppendRecord[]): Promise<void> {
    if (which.phase() === 'unknown') await which.nextChange(firstViewMs);
    for (let holds = 0; which.phase() === 'opening' || which.phase() === 'closing'; holds += 1) {
      if (holds > 0) throw changingError();
      await which.nextChange(holdMs);
    }
    if (which.phase() === 'open') return appendToPostgres(records);
    return appendToKafka(records);
  }

  async function appendToPostgres(records: AppendRecord[]): Promise<void> {
    if (records.some(({ value }) => value.length > mostFallbackBytes)) throw tooLargeNowError();
    const appending = postgres.append(records.map((record) => toFallback(record, topic)));
    const isAppended = await settlesBeforeClosed(appending, which);
    if (isAppended) {
      taken?.inc({}, records.length);
      return;
    }
    // It is not known whether they are in the fallback. If they are, they have been copied, and the second copy has no
    // effect.
    appending.catch(() => {});
    return appendToKafka(records);
  }

  return {
    append,
    ensureTopics: kafka.ensureTopics,
    consume: kafka.consume,
    endOffsets: kafka.endOffsets,
    isHealthy: () => (which.phase() === 'open' ? postgres.isHealthy() : kafka.isHealthy()),
    async close() {
      await Promise.all([kafka.close(), postgres.close()]);
      await which.stop();
    },
  };
}

/** False as soon as the fallback log is closed; else what becomes of `appending`. Of neither is anything left waiting. */
async function settlesBeforeClosed(appending: Promise<void>, which: FallbackSwitch): Promise<boolean> {
  const over = new AbortController();
  async function closed(): Promise<boolean> {
    while (which.phase() !== 'closed' && !over.signal.aborted) await which.nextChange(longestAppendMs, over.signal);
    return false;
  }
  try {
    return await Promise.race([appending.then(() => true), closed()]);
  } finally {
    over.abort();
  }
}

function toFallback(record: AppendRecord, topic: string): AppendRecord {
  return { ...record, topic, headers: { ...record.headers, [topicHeader]: record.topic } };
}

/** The time limit of the port includes what is waited for before. */
async function inTime(appending: Promise<void>): Promise<void> {
  try {
    await withDeadline(appending, longestAppendMs, 'appending');
  } catch (cause) {
    if (isAppError(cause)) throw cause;
    throw new AppError('unavailable', 'The event log did not respond in time.', { cause, retryAfterSeconds: 2 });
  }
}

/**
 * What is in the fallback must fit into Kafka later, or nothing after it is copied, and Kafka cannot be asked now. Every
 * topic takes this much with the headers that are added here.
 */
const mostFallbackBytes = defaultBrokerRecordBytes - 4096;

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

/** A failure without another one within this time says nothing about the present. */
const failureCountsMs = 5000;

/**
 * How long Kafka has been out, judged by the results of appends: a broker that answers but accepts no records (too few
 * replicas) is out as well. Without traffic its health decides.
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
    /** 0 when it is not out. */
    durationMs(): number {
      const now = performance.now();
      if (!isHealthy()) failingSince ??= now;
      else if (now - failedAt > failureCountsMs) failingSince = null;
      return failingSince === null ? 0 : now - failingSince;
    },
  };
}

/** Settings of the log that stands in for Kafka: the same for all gateways and consumers. */
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

/** @throws ConfigError when there is no Kafka to stand in for. */
export function usesFallback(config: {
  eventLog: 'kafka' | 'postgres';
  eventLogFallback: 'none' | 'postgres';
}): boolean {
  if (config.eventLogFallback === 'none') return false;
  if (config.eventLog === 'kafka') return true;
  throw new ConfigError(['EVENT_LOG_FALLBACK can be used only with EVENT_LOG=kafka']);
}

/** One topic of the PostgreSQL log holds what waits for all topics of Kafka. */
export function fallbackTopic(topicPrefix: string): string {
  return `${topicPrefix}events.fallback`;
}
