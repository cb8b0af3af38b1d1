import type { BenchDatabase } from '../topic/bench-project.ts';
import type { Marker } from './stamped-requests.ts';

const lookEveryMs = 10;
/** A marker that is not visible so long after the last was due is given up. */
const patienceMs = 60_000;

/**
 * Follows markers until all are visible in the database. Looks every 10 ms, by primary key and only at those that are
 * due, so that looking does not slow down what is measured. A marker counts as visible when the answer that shows it
 * is here: the figures are too large by up to 10 ms and never too small.
 *
 * @param startedAtMs when the load started, on the wall clock.
 * @returns milliseconds from due to visible in the order of `markers`; Infinity for one that was given up.
 */
export async function watchMarkers(
  database: BenchDatabase,
  markers: readonly Marker[],
  startedAtMs: number,
): Promise<number[]> {
  const waited = markers.map(() => Number.POSITIVE_INFINITY);
  const indexes = new Map(markers.map(({ uuid }, index) => [uuid, index]));
  const pending = new Set(markers);
  const endsAfterMs = (markers.at(-1)?.dueAfterMs ?? 0) + patienceMs;
  while (pending.size > 0 && sinceStart() < endsAfterMs) {
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    const askedAfterMs = sinceStart();
    const due = [...pending].filter(({ dueAfterMs }) => dueAfterMs <= askedAfterMs);
    if (due.length === 0) continue;
    const visible = await findVisible(
      database,
      due.map(({ uuid }) => uuid),
    );
    const answeredAfterMs = sinceStart();
    for (const marker of due) {
      if (!visible.has(marker.uuid)) continue;
      waited[indexes.get(marker.uuid) ?? -1] = answeredAfterMs - marker.dueAfterMs;
      pending.delete(marker);
    }
  }
  return waited;

  function sinceStart(): number {
    return performance.timeOrigin + performance.now() - startedAtMs;
  }
}

async function findVisible(database: BenchDatabase, uuids: string[]): Promise<Set<string>> {
  // LATERAL with LIMIT: one look into an index for each, where a join may come to read a whole table.
  const rows = await database.query<{ uuid: string }>(
    `SELECT event.uuid
       FROM unnest($2::uuid[]) AS sought (uuid)
      CROSS JOIN LATERAL (SELECT i.timestamp FROM event_identity i
                           WHERE i.project_id = $1 AND i.uuid = sought.uuid LIMIT 1) AS identity
      CROSS JOIN LATERAL (SELECT e.uuid FROM event e
                           WHERE e.project_id = $1 AND e.timestamp = identity.timestamp AND e.uuid = sought.uuid
                           LIMIT 1) AS event`,
    [database.projectId, uuids],
  );
  return new Set(rows.map(({ uuid }) => uuid));
}
