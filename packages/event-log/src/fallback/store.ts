// SQL for the fallback's state: its phase, and the processes that append to it.

import type { Transaction } from '@millrace/db/sql';
import { AppendRejected } from '../postgres/store.ts';

/** The consumer group whose offsets in `consumer_offset` show how much of the fallback has been copied. */
export const drainGroup = 'millrace.fallback';

interface Appender {
  topic: string;
  appenderId: string;
  reachesKafka: boolean;
  settledEpoch: bigint;
  /** After this many milliseconds without a heartbeat, an appender is considered dead. */
  leaseMs: number;
}

/** Stores this process's heartbeat and state. Writes only the process's own row, so that processes cannot deadlock. */
export async function storeAppenderHeartbeat(tx: Transaction, appender: Appender): Promise<void> {
  await tx.query('INSERT INTO event_log_fallback (topic) VALUES ($1) ON CONFLICT DO NOTHING', [appender.topic]);
  await tx.query(
    `INSERT INTO event_log_appender (topic, appender_id, reaches_kafka, settled_epoch, expires_at)
     VALUES ($1, $2, $3, $4, clock_timestamp() + $5 * interval '1 millisecond')
     ON CONFLICT (topic, appender_id) DO UPDATE SET reaches_kafka = excluded.reaches_kafka,
       settled_epoch = excluded.settled_epoch, expires_at = excluded.expires_at`,
    [appender.topic, appender.appenderId, appender.reachesKafka, String(appender.settledEpoch), appender.leaseMs],
  );
}

/**
 * Removes this appender, which has no append in flight and must not start any. Also removes the rows of crashed
 * processes.
 */
export async function removeAppender(tx: Transaction, topic: string, appenderId: string): Promise<void> {
  await tx.query(
    `DELETE FROM event_log_appender WHERE topic = $1 AND appender_id IN (
       SELECT appender_id FROM event_log_appender
       WHERE topic = $1 AND (appender_id = $2 OR expires_at < now() - interval '1 hour')
       FOR UPDATE SKIP LOCKED
     )`,
    [topic, appenderId],
  );
}

export async function readFallback(tx: Transaction, topic: string): Promise<FallbackView> {
  const [row] = await tx.query<{
    phase: FallbackPhase;
    epoch: string;
    age_ms: string;
    is_settled: boolean;
    all_reach_kafka: boolean;
    backlog: string;
  }>(
    `SELECT f.phase, f.epoch, extract(epoch FROM clock_timestamp() - f.changed_at) * 1000 AS age_ms,
       coalesce(bool_and(a.settled_epoch >= f.epoch), true) AS is_settled,
       coalesce(bool_and(a.reaches_kafka), true) AS all_reach_kafka,
       (SELECT coalesce(sum(p.next_offset - coalesce(o.next_offset, 0)), 0)
        FROM event_log_partition p
        LEFT JOIN consumer_offset o ON o.topic = p.topic AND o.partition = p.partition AND o."group" = $2
          AND o.log = 'postgres/' || p.log_id
        WHERE p.topic = $1) AS backlog
     FROM event_log_fallback f
     LEFT JOIN event_log_appender a ON a.topic = f.topic AND a.expires_at > clock_timestamp()
     WHERE f.topic = $1
     GROUP BY f.topic`,
    [topic, drainGroup],
  );
  if (row === undefined) throw new Error(`the state of the fallback log ${topic} is missing from the database`);
  return {
    phase: row.phase,
    epoch: BigInt(row.epoch),
    ageMs: Number(row.age_ms),
    isSettled: row.is_settled,
    allReachKafka: row.all_reach_kafka,
    backlog: Number(row.backlog),
  };
}

/** Waits for appends in flight (see `assertFallbackOpen`), and blocks new appends until the transaction ends. */
export async function lockFallback(tx: Transaction, topic: string): Promise<void> {
  await tx.query('SELECT 1 FROM event_log_fallback WHERE topic = $1 FOR UPDATE', [topic]);
}

/** Changes the phase. Does nothing if another process has changed it in the meantime. */
export async function changeFallbackPhase(
  tx: Transaction,
  topic: string,
  from: FallbackView,
  to: FallbackPhase,
): Promise<void> {
  await tx.query(
    `UPDATE event_log_fallback SET phase = $2, epoch = epoch + $3, changed_at = clock_timestamp()
     WHERE topic = $1 AND phase = $4 AND epoch = $5`,
    [topic, to, to === 'opening' ? 1 : 0, from.phase, String(from.epoch)],
  );
}

/**
 * Checks that the fallback is open. Must be the first statement in the transaction of every append to the fallback. Its
 * lock guarantees that the fallback closes only after the append is committed and visible, or rolled back.
 * @throws AppendRejected if the fallback is closed
 */
export async function assertFallbackOpen(tx: Transaction, topic: string): Promise<void> {
  const [row] = await tx.query<{ phase: FallbackPhase }>(
    'SELECT phase FROM event_log_fallback WHERE topic = $1 FOR SHARE',
    [topic],
  );
  if (row?.phase !== 'open' && row?.phase !== 'closing') throw new AppendRejected('the fallback log is closed');
}

/**
 * The fallback's phases, which are the same in all processes:
 *
 * - `closed`: all gateways append to Kafka.
 * - `opening`: gateways start no appends, and finish those in flight to Kafka.
 * - `open`: all gateways append to PostgreSQL. Consumers copy the records to Kafka as soon as it accepts them.
 * - `closing`: nearly all records are copied to Kafka. New appends wait until the last ones are copied.
 */
export type FallbackPhase = 'closed' | 'opening' | 'open' | 'closing';

export interface FallbackView {
  phase: FallbackPhase;
  epoch: bigint;
  /** The age of the current phase, according to the database clock. */
  ageMs: number;
  /** Whether all live appenders have finished the Kafka appends that they started in earlier epochs. */
  isSettled: boolean;
  allReachKafka: boolean;
  backlog: number;
}

/**
 * The minimum duration of the open phase in milliseconds. It is short, so that gateways soon return to Kafka, but long
 * enough that an unstable Kafka does not cause constant changes.
 */
const shortestOpenMs = 1000;
/**
 * Closing starts when this many records remain to be copied. They can be copied in a fraction of a second, during which
 * all appends wait.
 */
const closingBacklog = 1000;
/** How many milliseconds the closing phase may take. After that, Kafka is considered unavailable again. */
const longestClosingMs = 2000;

/**
 * Returns the next phase, or the current phase if nothing changes.
 * @param wantsOpen whether this process has been without Kafka for `openAfterMs`
 */
export function chooseNextPhase(view: FallbackView, wantsOpen: boolean): FallbackPhase {
  switch (view.phase) {
    case 'closed':
      return wantsOpen ? 'opening' : 'closed';
    case 'opening':
      return view.isSettled ? 'open' : 'opening';
    case 'open':
      return view.allReachKafka && view.ageMs >= shortestOpenMs && view.backlog <= closingBacklog ? 'closing' : 'open';
    case 'closing':
      if (view.backlog === 0) return 'closed';
      return view.ageMs > longestClosingMs ? 'open' : 'closing';
  }
}
