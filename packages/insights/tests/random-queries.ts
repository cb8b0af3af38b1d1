import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { runQuery } from '../src/index.ts';
import { filterHistory, naiveLifecycle, naiveRetention } from './naive-results.ts';
import { funnel, funnelOf, translateFunnel, translateFunnelOf } from './random-funnels.ts';
import { history, type StoredHistory, storeHistory } from './random-history.ts';
import {
  eventName,
  filters,
  interval,
  node,
  nowOf,
  range,
  rangeOf,
  type Translated,
  type ValueOf,
} from './random-parts.ts';
import { actors, formula, translateActors, translateFormula, translateTrend, trend } from './random-series.ts';
import { ample, type TestStore } from './test-store.ts';

const retention = fc.record({
  kind: fc.constant('retention' as const),
  target: eventName,
  returning: eventName,
  interval,
  isFirstTime: fc.boolean(),
  isCumulative: fc.boolean(),
  columns: fc.integer({ min: 1, max: 9 }),
  filters,
  range,
});

const lifecycle = fc.record({ kind: fc.constant('lifecycle' as const), event: eventName, interval, filters, range });

const randomQuery = fc.oneof({ weight: 3, arbitrary: trend }, formula, actors, funnel, funnelOf, retention, lifecycle);

function translate(chosen: ValueOf<typeof randomQuery>, stored: StoredHistory): Translated {
  switch (chosen.kind) {
    case 'trend':
      return translateTrend(chosen, stored);
    case 'formula':
      return translateFormula(chosen, stored);
    case 'actors':
      return translateActors(chosen, stored);
    case 'funnel':
      return translateFunnel(chosen, stored);
    case 'funnel of':
      return translateFunnelOf(chosen, stored);
    case 'retention': {
      const { target, returning, interval: period, filters: properties, columns, isFirstTime, isCumulative } = chosen;
      const { from, to, dateRange } = rangeOf(stored, chosen);
      const retentionFilter = {
        ...{ totalIntervals: columns, cumulative: isCumulative },
        ...{ targetEntity: entity(target), returningEntity: entity(returning) },
        period: `${period[0]?.toUpperCase()}${period.slice(1)}`,
        retentionType: isFirstTime ? 'retention_first_time' : 'retention_recurring',
      };
      return {
        query: { kind: 'RetentionQuery', dateRange, properties, retentionFilter },
        expected: naiveRetention(filterHistory(stored.memory, properties), { ...chosen, from, to }),
        read: (results: { values: { count: number }[] }[]) =>
          results.map(({ values }) => values.map(({ count }) => count)),
      };
    }
    case 'lifecycle': {
      const { event, interval: each, filters: properties } = chosen;
      const { from, to, dateRange } = rangeOf(stored, chosen);
      return {
        query: { kind: 'LifecycleQuery', dateRange, interval: each, properties, series: [node(event)] },
        expected: naiveLifecycle(filterHistory(stored.memory, properties), { ...chosen, from, to }),
        read: (results: { data: number[] }[]) => results.map(({ data }) => data),
      };
    }
    default:
      return chosen satisfies never;
  }
}

const entity = (id: string) => ({ id, type: 'events' });

/** Runs random queries on random histories, and compares each result with that of the reference implementation. */
export async function compareRandomQueries(
  store: () => TestStore,
  { histories, queries }: { histories: number; queries: number },
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      history,
      fc.array(randomQuery, { minLength: queries, maxLength: queries }),
      async (given, chosen) => {
        const stored = await storeHistory(store(), given);
        for (const one of chosen) {
          const { query, expected, read } = translate(one, stored);
          const deps = { sql: store().database.sql, events: store().events };
          const request = { projectId: stored.projectId, query, now: nowOf(stored) };
          const { results } = await runQuery(deps, request, ample());
          const actual = read(results as never[]);
          if (!isDeepStrictEqual(rounded(actual), rounded(expected))) {
            const texts = [query, actual, expected].map((value) => JSON.stringify(value));
            throw new Error(`${texts[0]}\nreturned ${texts[1]}\nexpected ${texts[2]}`);
          }
        }
      },
    ),
    { numRuns: histories, endOnFailure: true },
  );
}

/** Rounds numbers, because sums of doubles depend on their order. Also turns -0 into 0. */
function rounded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, rounded(one)]));
  return typeof value === 'number' ? Math.round(value * 1e6) / 1e6 + 0 : value;
}
