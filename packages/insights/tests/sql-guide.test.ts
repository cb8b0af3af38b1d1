// Runs the guide's queries exactly as written, on events of the sample shop.

import { readFileSync } from 'node:fs';
import { createTestTenant } from '@millrace/testing';
import { readProjectSettings } from '../src/records-store.ts';
import { createParser, type SqlParser } from '../src/sql/parse.ts';
import { runSql } from '../src/sql/run.ts';
import { ample, engines, type TestStore } from './test-store.ts';

const guide = readFileSync(new URL('../../../docs/guides/useful-sql-queries.md', import.meta.url), 'utf8');
const queries = [...guide.matchAll(/^### (\d+\. .*)$[\s\S]*?^```sql\n([\s\S]*?)^```$/gm)].map(
  ([, title = '', text = '']): [string, string] => [title, text],
);

test('the SQL guide contains twenty queries', () => {
  expect(queries.map(([title]) => Number.parseInt(title, 10))).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
});

const now = Date.parse('2026-11-20T12:00:00Z');
const hour = 3_600_000;

/** Three visitors over three weeks. The first visitor orders twice. */
const visits = [0, 1, 2].flatMap((visitor) =>
  [0, 7, 15].flatMap((days) => {
    const at = now - (days * 24 + visitor) * hour - hour;
    const page = { $current_url: 'https://shop.example/pens', $pathname: '/pens' };
    const properties = { $session_id: `s${visitor}-${days}`, ...page, $browser: 'Firefox' };
    const event = (name: string, minutes: number, more: object = {}) => ({
      ...{ name, at: at + minutes * 60_000, visitor, properties: { ...properties, ...more } },
    });
    const isOrder = visitor === 0 && days > 0;
    return [
      event('$pageview', 0, { utm_source: 'news', $referrer: 'https://news.example/today' }),
      ...(visitor < 2 ? [event('product viewed', 5), event('$pageview', 6)] : []),
      ...(isOrder ? [event('product added', 7), event('order placed', 9, { total: '12.50', currency: 'EUR' })] : []),
    ];
  }),
);

describe.each(engines)('queries from the SQL guide on $name', (engine) => {
  let store: TestStore;
  let parser: SqlParser;
  let projectId: number;
  beforeAll(async () => {
    store = await engine.open();
    ({ environmentId: projectId } = await createTestTenant(store.database));
    const person = (visitor: number) => `10000000-0000-4000-8000-00000000000${visitor}`;
    for (const visitor of [0, 1, 2]) {
      const id = person(visitor);
      await store.database.sql.query(
        `INSERT INTO person (project_id, uuid, main_distinct_id, properties, is_identified, created_at) VALUES ($1, $2, $3, $4, true, now())`,
        [projectId, id, `v${visitor}`, { email: `v${visitor}@example.com` }],
      );
      await store.database.sql.query(
        'INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid, version) VALUES ($1, $2, $3, 0)',
        [projectId, `v${visitor}`, id],
      );
    }
    for (const { name, at, visitor, properties } of visits)
      await store.database.sql.query(
        `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, person_properties, person_mode, properties,
                            elements_chain, captured_at, created_at)
         VALUES ($1, $2, gen_random_uuid(), $3, $4, $5, '{}', 0, $6, '', $2, $2)`,
        [projectId, new Date(at), name, `v${visitor}`, person(visitor), properties],
      );
    parser = createParser();
    await parser.parse('SELECT 1');
  });
  afterAll(async () => {
    await parser.stop();
    await store.stop();
  });

  const run = async (text: string) =>
    runSql(
      { sql: store.database.sql, events: store.events, parser },
      { projectId, settings: await readProjectSettings(store.database.sql, projectId), now, text },
      ample(),
    );

  test.each(queries)('%s', async (_, text) => {
    expect((await run(text)).results).not.toEqual([]);
  });

  test.each([
    ['7. Top pages', [['/pens', 5, 3]]],
    [
      '8. Traffic sources',
      [
        ['news.example', 3],
        ['direct', 2],
      ],
    ],
    [
      '13. Revenue per day',
      [
        ['2026-11-05', 1, 12.5, 12.5],
        ['2026-11-13', 1, 12.5, 12.5],
      ],
    ],
    ['15. Funnel by hand', [[2, 1, 1]]],
    ['18. Orders by the first traffic source', [['news', 2, 25]]],
    ['20. Missing properties', [[2, 0, 0]]],
  ])('returns the correct numbers for %s', async (title, expected) => {
    const text = queries.find(([one]) => one === title)?.[1] ?? '';
    expect((await run(text)).results).toEqual(expected);
  });
});
