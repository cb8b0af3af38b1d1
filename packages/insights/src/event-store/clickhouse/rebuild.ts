// Rebuilds the events table next to the current table, and then swaps the two tables.

import type { ClickHouseClient } from '@clickhouse/client';
import type { Sql } from '@millrace/db';
import { sleep } from '@millrace/runtime';
import {
  beginRebuild,
  claimCopy,
  finishRebuild,
  readCopiedUntil,
  readOldestStoredAt,
  saveRebuiltUntil,
} from './copy-store.ts';
import { restartPersonCopy } from './person-copy.ts';
import { createCopySpan } from './span.ts';
import {
  copyEvents,
  createRebuiltEvents,
  createTables,
  deleteEventsSince,
  type ReadablePostgres,
  swapEventsTables,
} from './tables.ts';

export interface RebuildOptions {
  client: ClickHouseClient;
  postgres: ReadablePostgres;
  sql: Sql;
  /** Whether to continue even if PostgreSQL has fewer events than ClickHouse for some months. */
  mayLose: boolean;
  /** Called after each portion. @param share the completed share of the time range, from 0 to 1 */
  onProgress(until: Date, share: number): void;
}

/**
 * Thrown if PostgreSQL has fewer events than ClickHouse for some months, because a rebuild would drop the missing
 * events.
 */
export class RebuildLosesEvents extends Error {
  readonly months: { month: string; here: number; there: number }[];

  constructor(months: RebuildLosesEvents['months']) {
    super('PostgreSQL has fewer events than ClickHouse.');
    this.name = 'RebuildLosesEvents';
    this.months = months;
  }
}

/** The lease lasts longer than it takes to swap two tables. */
const exchange = { leaseSeconds: 60, settleSeconds: 0 };
const pauseMs = 500;

/**
 * Fills a new table from PostgreSQL and swaps it with the current one, which serves queries until then. Continues an
 * interrupted rebuild. Requests to remove events (`event_store_removal`) are processed after the rebuild, so that they
 * also affect the new table. The delivery worker copies the persons again.
 * @throws RebuildLosesEvents unless `mayLose`
 */
export async function rebuildEvents({ client, postgres, sql, mayLose, onProgress }: RebuildOptions): Promise<void> {
  await createTables(client, postgres);
  if (!mayLose) {
    const months = await monthsWithFewer(client, sql);
    if (months.length > 0) throw new RebuildLosesEvents(months);
  }
  await restartPersonCopy(sql);
  const continueFrom = await beginRebuild(sql);
  if (continueFrom === null) await client.command({ query: 'DROP TABLE IF EXISTS events_rebuilt' });
  await createRebuiltEvents(client);
  if (continueFrom !== null) await deleteEventsSince(client, continueFrom, 'events_rebuilt');
  const first = await readOldestStoredAt(sql);
  const span = createCopySpan();
  for (let from = continueFrom ?? first; first !== null && from !== null; ) {
    // The time up to which the worker has copied events. No transaction can still store events before this time. The
    // worker copies newer events after the rebuild.
    const end = (await readCopiedUntil(sql)).events;
    if (end === null || from >= end) break;
    const stored = { from, until: new Date(Math.min(end.getTime(), from.getTime() + span.ms)) };
    await span.measure(() => copyEvents(client, postgres, stored, 'events_rebuilt'));
    from = stored.until;
    await saveRebuiltUntil(sql, from);
    onProgress(from, (from.getTime() - first.getTime()) / (end.getTime() - first.getTime()));
  }
  // Wait until no portion is being copied. Otherwise, its events would be recorded as copied, but only be in the old
  // table.
  while ((await claimCopy(sql, exchange)) === undefined) await sleep(pauseMs);
  await swapEventsTables(client);
  await finishRebuild(sql);
  await client.command({ query: 'DROP TABLE events_rebuilt' });
}

async function monthsWithFewer(client: ClickHouseClient, sql: Sql): Promise<RebuildLosesEvents['months']> {
  const result = await client.query({
    query: 'SELECT toString(toYYYYMM(timestamp)) AS month, count() AS events FROM events GROUP BY 1 ORDER BY 1',
    clickhouse_settings: { final: 1 },
    format: 'JSONEachRow',
  });
  const copied = await result.json<{ month: string; events: string }>();
  const rows = await sql.query<{ month: string; events: string }>(
    `SELECT to_char(timestamp AT TIME ZONE 'UTC', 'YYYYMM') AS month, count(*) AS events FROM event GROUP BY 1`,
  );
  const here = new Map(rows.map(({ month, events }) => [month, Number(events)]));
  return copied
    .map(({ month, events }) => ({ month, here: here.get(month) ?? 0, there: Number(events) }))
    .filter((one) => one.here < one.there);
}
