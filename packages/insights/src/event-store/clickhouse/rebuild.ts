// The table of events made anew, beside the one that questions are asked of, and put in its place.

import type { ClickHouseClient } from '@clickhouse/client';
import type { Sql } from '@millrace/db';
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

const store = 'clickhouse rebuild';

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
  const [begun] = await sql.query<{ copied_until: Date | null }>(
    `INSERT INTO event_store_copy (store) VALUES ($1) ON CONFLICT (store) DO UPDATE SET store = excluded.store RETURNING copied_until`,
    [store],
  );
  const isNew = begun === undefined || begun.copied_until === null;
  if (isNew) await client.command({ query: 'DROP TABLE IF EXISTS events_rebuilt' });
  await client.command({ query: createEvents('events_rebuilt') });
  // What was stored since is copied by the worker, from there on.
  const [bounds] = await sql.query<{ first: Date | null; end: Date }>(
    `SELECT min(created_at) AS first, now() - interval '1 minute' AS end FROM event`,
  );
  if (bounds?.first) {
    const first = bounds.first.getTime();
    const end = bounds.end.getTime();
    const span = createSpan();
    for (let from = begun?.copied_until?.getTime() ?? first; from < end; ) {
      const to = Math.min(end, from + span.ms);
      const [after, before] = [from, to].map((time) => `'${new Date(time).toISOString()}'`);
      await span.measure(() =>
        copyEvents(client, postgres, {
          where: `created_at >= ${after} AND created_at < ${before}`,
          into: 'events_rebuilt',
        }),
      );
      from = to;
      await sql.query('UPDATE event_store_copy SET copied_until = $2 WHERE store = $1', [store, new Date(to)]);
      onProgress(new Date(to), (to - first) / (end - first));
    }
  }
  await client.command({ query: 'EXCHANGE TABLES events AND events_rebuilt' });
  await sql.query(
    `WITH done AS (DELETE FROM event_store_copy WHERE store = $1 RETURNING copied_until)
     INSERT INTO event_store_copy (store, copied_until) SELECT 'clickhouse', copied_until FROM done
     ON CONFLICT (store) DO UPDATE SET copied_until = least(event_store_copy.copied_until, excluded.copied_until)`,
    [store],
  );
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
