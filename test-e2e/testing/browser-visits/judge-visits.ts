import type { Pool } from 'pg';
import type { ShopVisits } from './visit-shop.ts';

/** What happened to the events whose `capture` call has returned. */
export interface VisitsVerdict {
  stored: number;
  /** Number of missing events that the visitor's library counted as dropped. */
  dropped: number;
  /** Number of missing events that the library did not count as dropped. */
  lost: number;
  /** The visitors who lost events, for finding the cause. */
  losses: Loss[];
  /** Number of events that are stored more than once. */
  doubled: number;
}

interface Loss {
  distinctId: string;
  missing: number;
  reported: number;
  sent: number[];
}

/**
 * Compares captured events with stored events. A library may report more dropped events than are missing, because a
 * request without a response may have been stored before the library dropped its events.
 */
export async function compareVisits({ captured, sent }: ShopVisits, database: Pool): Promise<VisitsVerdict> {
  const stored = await countBy(database, 'SELECT uuid::text AS key, count(*)::int AS count FROM event GROUP BY uuid');
  const reported = await countBy(
    database,
    `SELECT distinct_id AS key, sum((properties->>'$lib_dropped_events')::int)::int AS count
     FROM event WHERE properties ? '$lib_dropped_events' GROUP BY distinct_id`,
  );
  const missing = new Map<string, string[]>();
  for (const [uuid, distinctId] of captured) {
    if (!stored.has(uuid)) missing.set(distinctId, [...(missing.get(distinctId) ?? []), uuid]);
  }
  const verdict: VisitsVerdict = { stored: captured.size, dropped: 0, lost: 0, losses: [], doubled: 0 };
  for (const [distinctId, uuids] of missing) {
    const count = uuids.length;
    const lost = Math.max(0, count - (reported.get(distinctId) ?? 0));
    verdict.stored -= count;
    verdict.lost += lost;
    verdict.dropped += count - lost;
    if (lost > 0) {
      const times = uuids.map((uuid) => sent.get(uuid) ?? 0);
      verdict.losses.push({ distinctId, missing: count, reported: count - lost, sent: times });
    }
  }
  verdict.doubled = [...stored.values()].filter((count) => count > 1).length;
  return verdict;
}

async function countBy(database: Pool, query: string): Promise<Map<string, number>> {
  const { rows } = await database.query<{ key: string; count: number }>(query);
  return new Map(rows.map(({ key, count }) => [key, count]));
}
