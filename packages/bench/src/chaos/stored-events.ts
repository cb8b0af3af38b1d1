import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';

/** How often each uuid is stored whose distinct id begins so. */
async function storedEvents(database: Pool, name: string): Promise<Map<string, number>> {
  const { rows } = await database.query<{ uuid: string; count: number }>(
    'SELECT uuid::text, count(*)::int AS count FROM event WHERE starts_with(distinct_id, $1) GROUP BY uuid',
    [name],
  );
  return new Map(rows.map(({ uuid, count }) => [uuid, count]));
}

/** Events of a phase that were stored in an earlier transaction than one that was sent, and acknowledged, before them. */
export async function misorderedEvents(database: Pool, name: string): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM (
       SELECT created_at, lag(created_at) OVER (PARTITION BY distinct_id ORDER BY (properties->>'number')::int) AS before
       FROM event WHERE starts_with(distinct_id, $1)
     ) AS pairs WHERE created_at < before`,
    [`${name}-`],
  );
  return rows[0]?.count ?? 0;
}

const lookEveryMs = 1000;

/**
 * Waits until all of them are stored, or until nothing more has been stored for `patienceMs`: what is missing then is
 * lost.
 * @param options.name what their distinct ids begin with, so that only those are looked at
 */
export async function awaitStored(
  database: Pool,
  uuids: ReadonlySet<string>,
  { patienceMs = 30_000, name = '' }: { patienceMs?: number; name?: string } = {},
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
    await sleep(lookEveryMs);
  }
}
