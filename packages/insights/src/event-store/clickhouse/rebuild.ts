// The table of events made anew, beside the one that questions are asked of, and put in its place.

import type { ClickHouseClient } from '@clickhouse/client';
import type { Sql } from '@millrace/db';
import { sleep } from '@millrace/runtime';
import { beginRebuild, claimCopy, finishRebuild, noteRebuilt, oldestStored } from './copy-store.ts';
import { createSpan } from './span.ts';
import { copyEvents, createEvents, createTables, type ReadablePostgres } from './tables.ts';

export interface RebuildOptions {
  client: ClickHouseClient;
  postgres: ReadablePostgres;
  sql: Sql;
  /** Goes on although PostgreSQL has fewer events of some months. */
  mayLose: boolean;
  /** Called after each portion. @param share of the time that is through, from 0 to 1 */
  onProgress(until: Date, share: number): void;
}

/** Months of which PostgreSQL has fewer events than ClickHouse: a new table would lack them. */
export class CoversLess extends Error {
  readonly months: { month: string; here: number; there: number }[];

  constructor(months: CoversLess['months']) {
    super('PostgreSQL has fewer events than ClickHouse.');
    this.name = 'CoversLess';
    this.months = months;
  }
}

/** Transactions that began before are over by then. */
const settleMs = 60_000;
/** Longer than exchanging two names takes. */
const exchangeSeconds = 60;
const pauseMs = 500;

/**
 * Fills a table from PostgreSQL and exchanges it for the one there is; questions are answered from the old one until then. One that was broken
 * off goes on where it was. Meanwhile what is deleted in PostgreSQL stays in ClickHouse (`event_store_removal`), so that the new table loses it too.
 * @throws CoversLess unless `mayLose`
 */
export async function rebuildEvents({ client, postgres, sql, mayLose, onProgress }: RebuildOptions): Promise<void> {
  await createTables(client, postgres);
  if (!mayLose) {
    const months = await monthsWithFewer(client, sql);
    if (months.length > 0) throw new CoversLess(months);
  }
  const begun = await beginRebuild(sql);
  if (begun === null) await client.command({ query: 'DROP TABLE IF EXISTS events_rebuilt' });
  await client.command({ query: createEvents('events_rebuilt') });
  const first = await oldestStored(sql);
  // What is stored since is copied by the worker, from there on.
  const end = Date.now() - settleMs;
  const span = createSpan();
  for (let from = begun ?? first; first !== null && from !== null && from.getTime() < end; ) {
    const until = new Date(Math.min(end, from.getTime() + span.ms));
    const stored = { from, until };
    await span.measure(() => copyEvents(client, postgres, stored, 'events_rebuilt'));
    from = until;
    await noteRebuilt(sql, until);
    onProgress(until, (until.getTime() - first.getTime()) / (end - first.getTime()));
  }
  // A portion that is under way goes to the old table, and would count as copied.
  while ((await claimCopy(sql, exchangeSeconds)) === undefined) await sleep(pauseMs);
  await client.command({ query: 'EXCHANGE TABLES events AND events_rebuilt' });
  await finishRebuild(sql);
  await client.command({ query: 'DROP TABLE events_rebuilt' });
}

async function monthsWithFewer(client: ClickHouseClient, sql: Sql): Promise<CoversLess['months']> {
  const result = await client.query({
    query: 'SELECT toString(toYYYYMM(timestamp)) AS month, count() AS events FROM events FINAL GROUP BY 1 ORDER BY 1',
    format: 'JSONEachRow',
  });
  const there = await result.json<{ month: string; events: string }>();
  const rows = await sql.query<{ month: string; events: string }>(
    `SELECT to_char(timestamp AT TIME ZONE 'UTC', 'YYYYMM') AS month, count(*) AS events FROM event GROUP BY 1`,
  );
  const here = new Map(rows.map(({ month, events }) => [month, Number(events)]));
  return there
    .map(({ month, events }) => ({ month, here: here.get(month) ?? 0, there: Number(events) }))
    .filter((one) => one.here < one.there);
}
