import { createTestTenant } from '@millrace/testing';
import fc from 'fast-check';
import { runQuery } from '../src/index.ts';
import { storeDataset, uuidOf } from './case-world.ts';
import { type NaiveBreakdown, naiveOverview, naiveTable, type WebEvent } from './naive-web.ts';
import { ample, engines, type TestStore } from './test-store.ts';

const beginning = Date.parse('2026-03-02T00:00:00Z');
const dayMs = 86_400_000;
const persons = ['p0', 'p1', 'p2', 'p3'];

const pageEvent = fc.record({
  event: fc.constantFrom('$pageview', '$pageview', '$pageview', '$screen', '$autocapture', '$pageleave', 'ordered'),
  person: fc.constantFrom(...persons),
  /** The same session can contain events of several persons. */
  session: fc.option(fc.constantFrom('s0', 's1', 's2', 's3', 's4', 's5', 's6', 's7'), { freq: 8 }),
  /** Milliseconds after the start of the event's session. */
  at: fc.oneof(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: dayMs - 1 })),
  path: fc.option(fc.constantFrom('/', '/docs', '/größe'), { freq: 8 }),
  source: fc.option(fc.constantFrom('news', 'ads')),
  browser: fc.option(fc.constantFrom('Condor', 'Falcon'), { freq: 6 }),
});
const asked = fc.record({
  first: fc.integer({ min: 0, max: 3 }),
  days: fc.integer({ min: 1, max: 3 }),
  browser: fc.option(fc.constantFrom('Condor', 'Falcon')),
  entryPath: fc.option(fc.constantFrom('/', '/docs')),
  by: fc.constantFrom<NaiveBreakdown[]>('Page', 'InitialPage', 'ExitPage', 'InitialUTMSource', 'Browser'),
});
const given = fc.record({
  events: fc.uniqueArray(pageEvent, { selector: ({ at }) => at, minLength: 20, maxLength: 60 }),
  /** Start of each session, in hours. */
  starts: fc.array(fc.integer({ min: 0, max: 72 }), { minLength: 8, maxLength: 8 }),
  questions: fc.array(asked, { minLength: 4, maxLength: 4 }),
});

describe.each(engines)('random web queries on $name', (engine) => {
  let store: TestStore;
  beforeAll(async () => {
    store = await engine.open();
  });
  afterAll(() => store.stop());

  test('returns the same results as the reference implementation for random web queries', async () => {
    await fc.assert(
      fc.asyncProperty(given, async ({ events, starts, questions }) => {
        const { environmentId: projectId } = await createTestTenant(store.database);
        const startOf = (session: string | null) => (starts[Number(session?.slice(1) ?? 0)] ?? 0) * 3_600_000;
        const stored = events.map(
          ({ at, ...event }): WebEvent => ({
            ...event,
            time: beginning + startOf(event.session) + at,
            person: uuidOf(projectId, event.person),
          }),
        );
        await storeDataset(store.database.sql, projectId, {
          persons: [],
          events: events.map(({ event, person, session, path, source, browser }, at) => ({
            ...{ event, distinct_id: person, timestamp: new Date(stored[at]?.time ?? 0).toISOString() },
            properties: { $session_id: session, $pathname: path, utm_source: source, $browser: browser },
          })),
        });
        for (const { first, days, by, ...filters } of questions) {
          const [from, to] = [beginning + first * dayMs, beginning + (first + days) * dayMs];
          const day = (time: number) => new Date(time).toISOString().slice(0, 10);
          const range = {
            dateRange: { date_from: day(from), date_to: day(to - dayMs) },
            properties: [
              ...(filters.browser === null ? [] : [{ key: '$browser', value: filters.browser, type: 'event' }]),
              ...(filters.entryPath === null
                ? []
                : [{ key: '$entry_pathname', value: filters.entryPath, type: 'session' }]),
            ],
          };
          const run = async (query: object) => {
            const deps = { sql: store.database.sql, events: store.events };
            const asking = { projectId, query: { ...range, ...query }, now: beginning + 5 * dayMs };
            return (await runQuery(deps, asking, ample())).results;
          };
          const numbers = (await run({ kind: 'WebOverviewQuery' })) as { value: number | null }[];
          expect(numbers.map(({ value }) => rounded(value))).toEqual(
            naiveOverview(stored, { from, to, ...filters }).map(rounded),
          );
          const rows = (await run({ kind: 'WebStatsTableQuery', breakdownBy: by, includeBounceRate: true })) as [
            string | null,
            [number, null],
            [number, null],
            [number | null, null],
          ][];
          expect(rows.map(([value, [visitors], [views], [rate]]) => [value, visitors, views, rounded(rate)])).toEqual(
            naiveTable(stored, { from, to, ...filters }, by).map((row) => [...row.slice(0, 3), rounded(row[3])]),
          );
        }
      }),
      { numRuns: 25, endOnFailure: true },
    );
  });
});

const rounded = (value: unknown) => (typeof value === 'number' ? Math.round(value * 1e6) / 1e6 : value);
