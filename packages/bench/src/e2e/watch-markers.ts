// Waits until the given events appear in the database, and measures the delay of each event.

import type { BenchDatabase } from '../harness/bench-database.ts';
import type { Marker } from './stamped-requests.ts';

const checkEveryMs = 10;
/** How many milliseconds to wait for markers after the last one was due. */
const patienceMs = 60_000;

/**
 * Waits until all markers are visible in the database. Checks every 10 ms, by primary key and only for markers that are
 * due, so that the checks do not slow down the measured system. Delays are up to 10 ms too high and never too low.
 *
 * @param startedAtMs the time when the load started (Unix time)
 * @returns how many milliseconds after its due time each marker became visible, in the order of `markers`; Infinity for
 * a marker that did not appear
 */
export async function watchMarkers(
  database: BenchDatabase,
  markers: readonly Marker[],
  startedAtMs: number,
): Promise<number[]> {
  const visibleAfterMs = new Map<Marker, number>();
  const pending = new Set(markers);
  const endsAfterMs = (markers.at(-1)?.dueAfterMs ?? 0) + patienceMs;
  const sinceStart = () => performance.timeOrigin + performance.now() - startedAtMs;
  while (pending.size > 0 && sinceStart() < endsAfterMs) {
    await new Promise((resolve) => setTimeout(resolve, checkEveryMs));
    const due = [...pending].filter(({ dueAfterMs }) => dueAfterMs <= sinceStart());
    if (due.length === 0) continue;
    const visible = await findVisible(database, due);
    const now = sinceStart();
    for (const marker of due) {
      if (!visible.has(marker.uuid)) continue;
      visibleAfterMs.set(marker, now - marker.dueAfterMs);
      pending.delete(marker);
    }
  }
  return markers.map((marker) => visibleAfterMs.get(marker) ?? Number.POSITIVE_INFINITY);
}

async function findVisible(database: BenchDatabase, markers: readonly Marker[]): Promise<Set<string>> {
  // LATERAL with LIMIT makes PostgreSQL look up each marker in the index. A plain join might read a whole table.
  const rows = await database.query<{ uuid: string }>(
    `SELECT event.uuid
       FROM unnest($2::uuid[]) AS sought (uuid)
      CROSS JOIN LATERAL (SELECT i.timestamp FROM event_identity i
                           WHERE i.project_id = $1 AND i.uuid = sought.uuid LIMIT 1) AS identity
      CROSS JOIN LATERAL (SELECT e.uuid FROM event e
                           WHERE e.project_id = $1 AND e.timestamp = identity.timestamp AND e.uuid = sought.uuid
                           LIMIT 1) AS event`,
    [database.projectId, markers.map(({ uuid }) => uuid)],
  );
  return new Set(rows.map(({ uuid }) => uuid));
}
