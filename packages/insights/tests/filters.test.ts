/** Cases insight-055 to insight-183 about filters, except for those in numbered-cases/. */

import { isAppError } from '@millrace/runtime';
import { createTestTenant } from '@millrace/testing';
import { runQuery } from '../src/index.ts';
import { type Dataset, storeDataset } from './case-world.ts';
import { ample, engines, type TestStore } from './test-store.ts';

const button =
  'button.big.primary:attr__class="big primary"attr__type="submit"text="Buy";div:attr_id="shop"nth-child="1"';
const link =
  'b:text="Buy now";a:attr__href="/buy?x=\\"1\\""href="/buy?x=\\"1\\"";a:attr__href="/outer"href="/outer";body';
const bare = 'p:href="/bare"';

const dataset: Dataset = {
  persons: [
    {
      distinct_ids: ['ann'],
      created_at: '2026-11-01T00:00Z',
      properties: { plan: 'pro', age: 40, email: 'ann@example.test' },
    },
    { distinct_ids: ['bob'], created_at: '2026-11-01T00:00Z', properties: { plan: 'pro', age: 20 } },
    { distinct_ids: ['cid'], created_at: '2026-11-01T00:00Z', properties: { plan: 'free', age: 30 } },
  ],
  groups: [{ type_index: 0, key: 'acme', created_at: '2026-11-01T00:00Z', properties: {} }],
  events: [
    {
      event: 'order',
      distinct_id: 'ann',
      timestamp: '2026-11-10T12:00Z',
      properties: { url: '/a/', $group_0: 'acme', n: 1 },
    },
    { event: 'order', distinct_id: 'bob', timestamp: '2026-11-10T13:00Z', properties: { url: '/a', n: 2 } },
    { event: 'order', distinct_id: 'cid', timestamp: '2026-11-11T12:00Z', properties: { url: '/b?#', n: 3 } },
    { event: 'pay', distinct_id: 'bob', timestamp: '2026-11-11T13:00Z', properties: { $group_0: 'acme' } },
    { event: 'order', distinct_id: 'ann', timestamp: '2026-11-12T12:00Z', properties: { url: '', n: 4 } },
  ],
};

describe.each(engines)('query filters on $name', (engine) => {
  let store: TestStore;
  let projectId: number;
  const cohorts = new Map<string, number>();
  beforeAll(async () => {
    store = await engine.open();
    projectId = (await createTestTenant(store.database)).environmentId;
    await storeDataset(store.database.sql, projectId, dataset);
    const person = (key: string, value: unknown, operator = 'exact') => ({ type: 'person', key, value, operator });
    const and = (...values: unknown[]) => ({ properties: { type: 'AND', values } });
    await addCohort('pro', and(person('plan', 'pro')));
    await addCohort(
      'young pro',
      and({ type: 'cohort', key: 'id', value: cohorts.get('pro') }, person('age', 30, 'lt')),
    );
    await addCohort('not pro', and({ type: 'cohort', key: 'id', value: cohorts.get('pro'), negation: true }));
    await addCohort('either', {
      properties: { type: 'OR', values: [person('age', 30), { ...person('plan', 'free'), negation: true }] },
    });
    await addCohort(
      'active',
      and({ type: 'behavioral', key: 'order', value: 'performed_event', event_type: 'events' }),
    );
    await addCohort('listed', null);
    await store.database.sql.query(
      `INSERT INTO cohort_member (project_id, cohort_id, person_uuid)
       SELECT $1, $2, uuid FROM person WHERE project_id = $1 AND main_distinct_id = 'cid'`,
      [projectId, cohorts.get('listed')],
    );
    for (const [chain, id] of [
      [button, 'ann'],
      [link, 'bob'],
      [bare, 'cid'],
    ] as const) {
      await store.database.sql.query(
        `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, elements_chain, captured_at)
         SELECT $1, '2026-11-10T12:00Z', gen_random_uuid(), '$autocapture', $2, uuid, '{}', $3, now()
           FROM person WHERE project_id = $1 AND main_distinct_id = $2`,
        [projectId, id, chain],
      );
    }
  });
  afterAll(() => store.stop());

  async function addCohort(name: string, filters: unknown): Promise<void> {
    const [row] = await store.database.sql.query<{ id: number }>(
      'INSERT INTO cohort (project_id, name, filters, is_static) VALUES ($1, $2, $3, $4) RETURNING id',
      [projectId, name, filters, filters === null],
    );
    cohorts.set(name, row?.id ?? 0);
  }

  const run = (query: Record<string, unknown>) =>
    runQuery(
      { sql: store.database.sql, events: store.events },
      {
        projectId,
        query: { dateRange: { date_from: '2026-11-10', date_to: '2026-11-12' }, ...query },
        now: Date.parse('2026-11-20T00:00Z'),
      },
      ample(),
    );
  const trend = (event: string, more: Record<string, unknown> = {}) =>
    run({ kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event }], ...more });
  const dataOf = async (event: string, properties: unknown) =>
    ((await trend(event, { properties })).results as { data: number[] }[])[0]?.data;

  test.each<[string, string, Record<string, unknown>, number[]]>([
    ['members of a dynamic cohort', 'pro', {}, [2, 0, 1]],
    ['in', 'pro', { operator: 'in' }, [2, 0, 1]],
    ['not_in', 'pro', { operator: 'not_in' }, [0, 1, 0]],
    ['members of a cohort that refers to another', 'young pro', {}, [1, 0, 0]],
    ['members of a cohort that excludes another', 'not pro', {}, [0, 1, 0]],
    ['members of either of two cohorts', 'either', {}, [2, 1, 1]],
    ['members of a static cohort', 'listed', {}, [0, 1, 0]],
    ['non-members of a static cohort', 'listed', { operator: 'not_in' }, [2, 0, 1]],
  ])('filters events by cohort: %s', async (_, name, filter, expected) => {
    expect(await dataOf('order', [{ type: 'cohort', key: 'id', value: cohorts.get(name), ...filter }])).toEqual(
      expected,
    );
  });

  test.each<[string, unknown, RegExp]>([
    [
      'insight-123: a cohort based on behavior',
      () => ({ type: 'cohort', key: 'id', value: cohorts.get('active') }),
      /^properties\.0\.value: Cohorts with behavioral filters/,
    ],
    [
      'insight-123: a missing cohort',
      () => ({ type: 'cohort', key: 'id', value: 999_999 }),
      /^properties\.0\.value: Cohort 999999 does not exist/,
    ],
    ['a group without its type', () => ({ type: 'group', key: 'a', value: 1 }), /^properties\.0\.group_type_index: /],
    ['an unknown field', () => ({ key: 'a', value: 1, foo: 1 }), /^properties\.0\.foo: /],
  ])('rejects %s with an error that contains its path', async (_, filter, message) => {
    const failure = await dataOf('order', [(filter as () => unknown)()]).catch((error: unknown) => error);
    expect(isAppError(failure, 'invalid') && failure.message).toMatch(message);
  });

  test.each<[string, Record<string, unknown>, number]>([
    ['a text', { key: 'text', value: 'Buy' }, 1],
    ['one of two texts', { key: 'text', value: ['Buy', 'Buy now'] }, 2],
    ['part of a text', { key: 'text', operator: 'icontains', value: 'BUY' }, 2],
    ['not the text', { key: 'text', operator: 'is_not', value: 'Buy' }, 2],
    ['a tag', { key: 'tag_name', value: 'div' }, 1],
    ['not the tag', { key: 'tag_name', operator: 'is_not', value: 'button' }, 2],
    ['the address of the innermost link', { key: 'href', value: '/buy?x="1"' }, 1],
    ['an address that is not in an attribute', { key: 'href', value: '/bare' }, 1],
    ['the address of an outer link never matches', { key: 'href', value: '/outer' }, 0],
    ['not the address of an outer link', { key: 'href', operator: 'is_not', value: '/outer' }, 3],
    ['part of an address', { key: 'href', operator: 'icontains', value: 'BUY' }, 1],
    ['pattern of an address', { key: 'href', operator: 'regex', value: '^/buy\\?' }, 1],
    ['an address is set', { key: 'href', operator: 'is_set' }, 2],
    ['no address is set', { key: 'href', operator: 'is_not_set' }, 1],
    ['a class', { key: 'selector', value: '.primary' }, 1],
    ['a tag with a class', { key: 'selector', value: 'button.big' }, 1],
    ['a missing class', { key: 'selector', value: '.bigger' }, 0],
    ['an ID', { key: 'selector', value: '#shop' }, 1],
    ['an attribute', { key: 'selector', value: '[type="submit"]' }, 1],
    ['a child', { key: 'selector', value: 'div > button' }, 1],
    ['a missing child', { key: 'selector', value: 'button > div' }, 0],
  ])('insight-122: filters autocaptured events by element: %s', async (_, filter, expected) => {
    const [first] = (await dataOf('$autocapture', [{ type: 'element', ...filter }])) ?? [];
    expect(first).toBe(expected);
  });

  test('insight-055: excludes test accounts', async () => {
    const list = [{ key: 'email', type: 'person', operator: 'not_icontains', value: '@example.test' }];
    await store.database.sql.query('UPDATE environment SET test_account_filters = $2 WHERE id = $1', [
      projectId,
      JSON.stringify(list),
    ]);
    const { results } = await trend('order', { filterTestAccounts: true });
    expect(results).toMatchObject([{ data: [1, 1, 0] }]);
  });

  const retention = (more: Record<string, unknown>, query: Record<string, unknown> = {}) => {
    const entity = { id: 'order', type: 'events' };
    return run({
      kind: 'RetentionQuery',
      retentionFilter: { totalIntervals: 3, targetEntity: entity, returningEntity: entity, ...more },
      ...query,
    });
  };
  const countsOf = (results: unknown) =>
    (results as { values: { count: number }[] }[]).map(({ values }) => values.map(({ count }) => count));

  test('insight-183: returns rows per breakdown value, largest first', async () => {
    const { results } = await retention({}, { breakdownFilter: { breakdown: 'plan', breakdown_type: 'person' } });
    const rows = results as { breakdown_value: string }[];
    expect(rows.map(({ breakdown_value: value }) => value)).toEqual(['pro', 'pro', 'pro', 'free', 'free', 'free']);
    expect(countsOf(rows).slice(3)).toEqual([
      [0, 0, 0],
      [1, 0, 0],
      [0, 0, 0],
    ]);
  });

  test('insight-203: lists the persons that a breakdown row counts', async () => {
    const entity = { id: 'order', type: 'events' };
    const dateRange = { date_from: '2026-11-10', date_to: '2026-11-12' };
    const source = {
      kind: 'RetentionQuery',
      dateRange,
      retentionFilter: { totalIntervals: 3, targetEntity: entity, returningEntity: entity },
    };
    const { results } = await runQuery(
      { sql: store.database.sql, events: store.events },
      {
        projectId,
        query: { kind: 'ActorsQuery', select: ['person'], source: { kind: 'InsightActorsQuery', source, interval: 0 } },
        now: Date.parse('2026-11-20T00:00Z'),
      },
      ample(),
    );
    expect((results as [{ distinct_ids: string[] }][]).map(([{ distinct_ids: ids }]) => ids[0]).sort()).toEqual([
      'ann',
      'bob',
    ]);
  });
});
