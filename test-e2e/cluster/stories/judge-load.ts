import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';

/** The events of a test story from the clients' point of view. */
export interface ClientLoad {
  sent: Set<string>;
  /** Events in requests that received status 200. */
  acknowledged: Set<string>;
  /** Number of requests without a response or with a status other than 200. */
  refused: number;
  /** For each client, the time at which it last received status 200 (`performance.now()`). */
  lastAcknowledgedAt: number[];
  /** The longest time between two responses with status 200 to the same client. */
  longestGapMs: number;
  stop(): Promise<void>;
}

const recoveryPatienceMs = 60_000;

/** Waits until every client has received status 200, and returns how long this took. */
export async function measureRecovery(load: ClientLoad): Promise<number> {
  const from = performance.now();
  while (load.lastAcknowledgedAt.some((at) => at < from)) {
    if (performance.now() - from > recoveryPatienceMs) return Number.POSITIVE_INFINITY;
    await sleep(20);
  }
  return Math.max(...load.lastAcknowledgedAt.map((at) => Math.max(0, at - from)));
}

export interface LoadVerdict {
  acknowledged: number;
  refused: number;
  /** Number of stored events, including events that were sent but not acknowledged. */
  stored: number;
  /** Number of acknowledged events that are not stored. */
  lost: number;
  /** Number of events that are stored more than once. */
  doubled: number;
  /**
   * Number of events that took effect before an event that precedes them in the same request, or before an event that
   * was acknowledged before they were sent. Only events with the same distinct ID are compared.
   */
  misordered: number;
}

/**
 * Compares the acknowledged events with the stored events. Must be called after the load has stopped.
 * @param name the prefix of the load's distinct IDs
 */
export async function compareEvents(
  { sent, acknowledged, refused }: ClientLoad,
  database: Pool,
  { name, patienceMs }: { name: string; patienceMs: number },
): Promise<LoadVerdict> {
  const stored = await awaitStored(database, acknowledged, { name: `${name}-`, patienceMs });
  const countOf = (uuids: ReadonlySet<string>, matches: (times: number) => boolean) =>
    [...uuids].filter((uuid) => matches(stored.get(uuid) ?? 0)).length;
  return {
    acknowledged: acknowledged.size,
    refused,
    stored: countOf(sent, (times) => times > 0),
    lost: countOf(acknowledged, (times) => times === 0),
    doubled: countOf(sent, (times) => times > 1),
    misordered: await misorderedEvents(database, name),
  };
}

export const isLoadIntact = ({ lost, doubled, misordered }: LoadVerdict): boolean => lost + doubled + misordered === 0;

/** Counts the stored rows of each event whose distinct ID begins with `name`. */
async function storedEvents(database: Pool, name: string): Promise<Map<string, number>> {
  const { rows } = await database.query<{ uuid: string; count: number }>(
    'SELECT uuid::text, count(*)::int AS count FROM event WHERE starts_with(distinct_id, $1) GROUP BY uuid',
    [name],
  );
  return new Map(rows.map(({ uuid, count }) => [uuid, count]));
}

/**
 * Counts events that were stored in an earlier transaction than an event that was acknowledged before they were sent.
 */
async function misorderedEvents(database: Pool, name: string): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM (
       SELECT created_at, lag(created_at) OVER (PARTITION BY distinct_id ORDER BY (properties->>'number')::int) AS before
       FROM event WHERE starts_with(distinct_id, $1)
     ) AS pairs WHERE created_at < before`,
    [`${name}-`],
  );
  return rows[0]?.count ?? 0;
}

const checkEveryMs = 1000;

/**
 * Waits until all events are stored, or until no further event has been stored for `patienceMs`, which means that the
 * missing events are lost.
 * @param options.name the prefix of the events' distinct IDs
 */
async function awaitStored(
  database: Pool,
  uuids: ReadonlySet<string>,
  { patienceMs, name }: { patienceMs: number; name: string },
): Promise<Map<string, number>> {
  let best = -1;
  let improvedAt = performance.now();
  for (;;) {
    const stored = await storedEvents(database, name).catch(() => new Map<string, number>());
    const found = [...uuids].filter((uuid) => stored.has(uuid)).length;
    if (found === uuids.size) return stored;
    if (found > best) {
      best = found;
      improvedAt = performance.now();
    }
    if (performance.now() - improvedAt > patienceMs) return stored;
    await sleep(checkEveryMs);
  }
}
