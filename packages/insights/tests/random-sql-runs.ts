import { isDeepStrictEqual } from 'node:util';
import { isAppError } from '@millrace/runtime';
import type { EventStore } from '../src/index.ts';
import { readProjectSettings } from '../src/records-store.ts';
import { createParser } from '../src/sql/parse.ts';
import { runSql } from '../src/sql/run.ts';
import { randomSql } from './random-sql.ts';
import { randomValues } from './random-sql-expressions.ts';
import { createSqlWorld } from './sql-world.ts';
import { ample, type TestStore } from './test-store.ts';

const filters = {
  dateRange: { date_from: '2026-03-01', date_to: '2026-03-31' },
  properties: [{ key: 'amount', value: 100, operator: 'lt', type: 'event' }],
};

interface Runs {
  store: TestStore;
  engines: readonly EventStore[];
  seed: number;
  count: number;
}

/** Runs random queries. Returns the queries that fail or whose results differ between the engines. */
export async function differentSql({ store, engines, seed, count }: Runs): Promise<unknown[]> {
  const { projectId, now } = await createSqlWorld(store.database);
  const { sql } = store.database;
  const settings = await readProjectSettings(sql, projectId);
  // A first query makes ClickHouse copy the events before several queries run at the same time.
  for (const events of engines) await events.earliest({ projectId, events: null }, ample());
  const parser = createParser();
  const different: unknown[] = [];
  let next = seed;
  const work = async () => {
    while (next < seed + count && different.length < 10) {
      const own = next++;
      const { text, isOrdered } = randomSql(own);
      const run = (events: EventStore) =>
        runSql(
          { sql, events, parser },
          { projectId, settings, now, text, values: randomValues, filters },
          ample(),
        ).then(
          ({ results, ...response }) => ({ ...response, results: comparable(results, isOrdered) }),
          (error: unknown) => (isAppError(error, 'invalid') ? { refused: error.message } : { failed: String(error) }),
        );
      const [first, ...others] = await Promise.all(engines.map(run));
      if (first === undefined || 'failed' in first || others.some((other) => !isDeepStrictEqual(first, other)))
        different.push({ seed: own, text, first, others });
    }
  };
  await Promise.all([work(), work(), work()]);
  await parser.stop();
  return different;
}

/**
 * Rounds numbers, including those in strings, because the last digits of sums depend on the order of addition. Sorts
 * rows, unless the query determines their order.
 */
function comparable(results: unknown[][], isOrdered: boolean): unknown[] {
  const rounded = (value: unknown): unknown => {
    if (typeof value === 'string' && /^-?\d+\.\d{9,}$/.test(value)) return String(rounded(Number(value)));
    return Array.isArray(value) ? value.map(rounded) : typeof value === 'number' ? Number(value.toPrecision(9)) : value;
  };
  const rows = results.map((row) => JSON.stringify(rounded(row)));
  return (isOrdered ? rows : rows.sort()).map((row): unknown => JSON.parse(row));
}
