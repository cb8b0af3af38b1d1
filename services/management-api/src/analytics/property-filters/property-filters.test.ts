import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createMonths, storeEvent, storePerson } from '../../testing/stored-data.ts';

/**
 * These tests check how lists combine the filters in `properties`, and which filters they reject.
 * `filter-cases.test.ts` covers the operators.
 */
let api: TestApi;
let tenant: TestTenant;
let path: string;
beforeAll(async () => {
  api = await startTestApi();
  await createMonths(api.database.sql, '2026-11', '2026-11');
  tenant = await createTestTenant(api.database);
  path = `/api/projects/${tenant.projectId}`;
  await storePerson(api.database.sql, tenant.projectId, {
    distinctIds: ['ada'],
    properties: { plan: 'pro', seats: 5 },
  });
  for (const [index, [event, properties]] of Object.entries(stored).entries()) {
    const timestamp = new Date(Date.UTC(2026, 10, 10, 12, 0, index)).toISOString();
    const distinctId = event === 'number' ? 'ada' : 'unknown';
    await storeEvent(api.database.sql, tenant.projectId, {
      event,
      properties,
      timestamp,
      distinctId,
      personProperties: { plan: 'stand-in' },
    });
  }
});
afterAll(() => api.stop());

/** Event properties by event name. Each event has a different type of value. */
const stored: Record<string, Record<string, unknown>> = {
  text: { p: 'Chrome' },
  other: { p: 'chrome mobile' },
  number: { p: 5 },
  digits: { p: '5' },
  decimal: { p: 12.5 },
  true: { p: true },
  null: { p: null },
  absent: { q: 1 },
  object: { p: { Chrome: 1 } },
  list: { p: ['Chrome'] },
  day: { p: '2026-11-05' },
  time: { p: '2026-11-05T23:30:00-01:00' },
  seconds: { p: 1_793_836_800 },
  milliseconds: { p: 1_793_836_800_000 },
  nonsense: { p: '2026-02-31' },
};
const all = Object.keys(stored);
const without = (...names: string[]) => all.filter((name) => !names.includes(name));

const ask = (list: string, filters: unknown) =>
  api.get(
    `${path}/${list}/?properties=${encodeURIComponent(typeof filters === 'string' ? filters : JSON.stringify(filters))}`,
    tenant.personalApiKey,
  );
async function found(...filters: unknown[]): Promise<string[]> {
  const { status, body } = await ask('events', filters);
  expect([status, body.detail]).toEqual([200, undefined]);
  return body.results.map((row: { event: string }) => row.event).sort();
}

test('uses the operator `exact` and the type `event` by default, and combines property filters with AND', async () => {
  expect(await found({ key: 'p', value: 'Chrome' })).toEqual(['text']);
  expect(await found({ key: 'p', operator: 'is_set' }, { key: 'p', value: '5' })).toEqual(['digits', 'number']);
  expect((await ask('events', '')).body.results).toHaveLength(all.length);
  expect((await ask('events', [])).body.results).toHaveLength(all.length);
});

test('filters events by name with the filter type event_metadata', async () => {
  const name = (operator: string, value: unknown) => ({ key: 'event', type: 'event_metadata', operator, value });
  expect(await found(name('icontains', 'DIG'))).toEqual(['digits']);
  expect(await found(name('icontains', 'm'), name('is_not', 'number'))).toEqual(['decimal', 'milliseconds', 'time']);
  expect(await found(name('exact', ['day', 'time']))).toEqual(['day', 'time']);
  const { status, body } = await ask('events', [{ ...name('exact', 'x'), key: 'uuid' }]);
  expect([status, body.attr]).toEqual([400, 'properties__0__key']);
  expect((await ask('persons', [name('exact', 'x')])).status).toBe(400);
});

test("compares the current person's properties or, without a current person, the person properties in the event", async () => {
  expect(await found({ key: 'plan', value: 'pro', type: 'person' })).toEqual(['number']);
  expect(await found({ key: 'plan', value: 'stand-in', type: 'person' })).toEqual(without('number').sort());
  expect(await found({ key: 'plan', value: 'pro' })).toEqual([]);
});

test('returns every event that matches a property filter on exactly one page', async () => {
  const filter = encodeURIComponent('[{"key":"p","operator":"is_set"}]');
  const seen: string[] = [];
  for (
    let next: string | null = `${path}/events/?limit=4&orderBy=["timestamp"]&properties=${filter}`;
    next !== null;
  ) {
    const { body } = await api.get(next, tenant.personalApiKey);
    seen.push(...body.results.map((row: { event: string }) => row.event));
    next = body.next;
  }
  expect(seen).toEqual(without('null', 'absent'));
});

test('filters persons by their properties and distinct IDs', async () => {
  const names = async (...filters: unknown[]) => (await ask('persons', filters)).body.results.length;
  expect(await names({ key: 'plan', value: ['pro'], operator: 'exact', type: 'person' })).toBe(1);
  expect(await names({ key: 'seats', value: 4, operator: 'gt' })).toBe(1);
  expect(await names({ key: 'seats', value: 5, operator: 'gt' })).toBe(0);
  expect(await names({ key: 'distinct_id', value: 'ada' })).toBe(1);
  expect(await names({ key: 'distinct_id', value: 'ada', operator: 'is_not' })).toBe(0);
  const { status, body } = await ask('persons', [{ key: 'plan', value: 'pro', type: 'event' }]);
  expect([status, body.attr]).toEqual([400, 'properties__0__type']);
});

const good = { key: 'p', value: 'x' };
test.each<[unknown, string]>([
  ['[', 'properties'],
  ['nonsense', 'properties'],
  ['{"$browser":"Chrome"}', 'properties'],
  [new Array(21).fill(good), 'properties'],
  // Only the database detects that this regular expression is invalid.
  [[{ ...good, operator: 'regex', value: '\\p{L}' }], 'properties__0__value'],
  [[null], 'properties__0'],
  [[good, 'x'], 'properties__1'],
  [[{ value: 'x' }], 'properties__0__key'],
  [[{ key: '', value: 'x' }], 'properties__0__key'],
  [[{ key: 'a\0b', value: 'x' }], 'properties__0__key'],
  [[{ key: 5, value: 'x' }], 'properties__0__key'],
  [[{ key: 'p' }], 'properties__0__value'],
  [[{ key: 'p', value: null }], 'properties__0__value'],
  [[{ key: 'p', operator: 'gt', value: [] }], 'properties__0__value'],
  [[{ key: 'p', value: ['a', null] }], 'properties__0__value__1'],
  [[{ key: 'p', value: 'a\0' }], 'properties__0__value'],
  ['[{"key":"p","value":"\\ud800"}]', 'properties__0__value'],
  [[good, { ...good, operator: 'like' }], 'properties__1__operator'],
  [[{ ...good, operator: 'toString' }], 'properties__0__operator'],
  [[{ ...good, type: 'cohort' }], 'properties__0__type'],
  [[{ ...good, negation: true }], 'properties__0__negation'],
  [[{ ...good, operator: 'gt' }], 'properties__0__value'],
  [[{ ...good, operator: 'gt', value: '1e999999' }], 'properties__0__value'],
  [[{ ...good, operator: 'is_date_before', value: 'yesterday' }], 'properties__0__value'],
  [[{ ...good, operator: 'icontains', value: 'x'.repeat(1001) }], 'properties__0__value'],
  [[{ ...good, operator: 'not_icontains', value: ['y', 'x'.repeat(1001)] }], 'properties__0__value__1'],
  ...[
    '',
    '(',
    'a|b)',
    '*a',
    '***=a',
    '(a)\\1',
    'a(?=b)',
    'a(?<!b)',
    '(?s)a',
    '(?:a{1,100}){1,100}',
    'a{2,1}',
    'x'.repeat(201),
    '[a',
  ].map((value) => [[{ ...good, operator: 'regex', value }], 'properties__0__value'] as [unknown, string]),
])('returns 400 with the position and field of the invalid filter for %j', async (filters, attr) => {
  const { status, body } = await ask('events', filters);
  expect([status, body.type, body.attr]).toEqual([400, 'validation_error', attr]);
});

test.each(['persons', 'groups', 'cohorts', 'event_definitions', 'property_definitions'])(
  'accepts at most 1000 characters as the search string for %s',
  async (name) => {
    const search = (length: number) => api.get(`${path}/${name}/?search=${'x'.repeat(length)}`, tenant.personalApiKey);
    expect(await search(1000)).toMatchObject({ status: 200, body: { results: [] } });
    expect(await search(1001)).toMatchObject({
      status: 400,
      body: {
        code: 'max_length',
        attr: 'search',
        detail: 'Ensure this field has no more than 1000 characters.',
      },
    });
  },
);
