// Measures how fast a consumer stores the events of a topic.

import { randomUUID } from 'node:crypto';
import type { CapturedEvent } from '@millrace/contracts';
import { createServiceSettings } from '../harness/bench.ts';
import type { BenchDatabase } from '../harness/bench-database.ts';
import { measureCpu } from '../harness/measure-cpu.ts';
import { startMeasuredProcess } from '../harness/measured-process.ts';

export type DrainMeasurement = Awaited<ReturnType<typeof measureDrain>>;

export interface FilledTopic {
  prefix: string;
  count: number;
  /** The last event of each partition. A consumer that has stored these events has stored all events. */
  lastEvents: CapturedEvent[];
}

/**
 * Starts a compiled consumer, which drains a full topic into a database. The measurement begins with the first stored
 * rows, or after `warmUp` events. It therefore excludes the startup and the rows that were stored before.
 */
export async function measureDrain(
  file: string,
  { prefix, count, lastEvents }: FilledTopic,
  { database, warmUp, settings }: { database: BenchDatabase; warmUp: number; settings: Record<string, string> },
) {
  const [clock] = await database.query<{ now: string }>('SELECT clock_timestamp()::text AS now');
  const since = clock?.now ?? '';
  const consumer = await startMeasuredProcess(file, {
    DATABASE_URL: database.url,
    ...createServiceSettings(prefix),
    NAIVE_PROJECT_ID: String(database.projectId),
    NAIVE_GROUP: `${prefix}naive-${randomUUID()}`,
    ...settings,
  });
  try {
    await waitUntilStored(database, async () => (await countRows(database, since)).rows > warmUp);
    const done = (await countRows(database, since)).rows;
    // Look up only the last events, because counting a large table repeatedly would slow down the consumer.
    const cost = await measureCpu([consumer], database, () =>
      waitUntilStored(database, async () => (await countStored(database, lastEvents)) === lastEvents.length),
    );
    const measured = count - done;
    return {
      eventsPerSecond: measured / cost.seconds,
      cpuMicrosPerEvent: (cost.cpuMicros[0] ?? Number.NaN) / measured,
      databaseMicrosPerEvent: cost.databaseMicros / measured,
      maxRssBytes: cost.maxRssBytes[0] ?? Number.NaN,
      sent: count,
      ...(await countRows(database, since)),
    };
  } finally {
    await consumer.stop();
  }
}

/** Checks the database ten times per second. @throws Error if the database does not grow for a minute */
async function waitUntilStored(database: BenchDatabase, isStored: () => Promise<boolean>): Promise<void> {
  let lastSize = '';
  let lastGrowthAt = performance.now();
  while (!(await isStored())) {
    const [row] = await database.query<{ size: string }>('SELECT pg_database_size(current_database()) AS size');
    if (row?.size !== lastSize) lastGrowthAt = performance.now();
    lastSize = row?.size ?? '';
    if (performance.now() - lastGrowthAt > 60_000) throw new Error('Nothing was stored for 60 s.');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Counts rows since a time, with an index on the storage time, which is fast even for a large table. */
async function countRows(database: BenchDatabase, since: string): Promise<{ rows: number; uuids: number }> {
  const [row] = await database.query<{ rows: number; uuids: number }>(
    `SELECT count(*)::int AS rows, count(DISTINCT (project_id, uuid))::int AS uuids
       FROM event WHERE created_at >= $1::timestamptz`,
    [since],
  );
  return row ?? { rows: 0, uuids: 0 };
}

async function countStored(database: BenchDatabase, events: readonly CapturedEvent[]): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `SELECT count(*)::int AS count
       FROM unnest($1::timestamptz[], $2::uuid[], $3::text[]) AS sought (timestamp, uuid, token)
       JOIN environment ON environment.api_token = sought.token
      CROSS JOIN LATERAL (SELECT 1 FROM event
                           WHERE event.project_id = environment.id AND event.timestamp = sought.timestamp
                             AND event.uuid = sought.uuid LIMIT 1) AS stored`,
    [events.map(({ timestamp }) => timestamp), events.map(({ uuid }) => uuid), events.map(({ token }) => token)],
  );
  return row?.count ?? 0;
}
