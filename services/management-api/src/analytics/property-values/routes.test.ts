import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createMonths, storeEvent, storePerson } from '../../testing/stored-data.ts';

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
  const { sql } = api.database;
  const now = Date.now();
  const month = (time: number) => new Date(time).toISOString().slice(0, 7);
  const old = now - 40 * 86_400_000;
  await createMonths(sql, month(old), month(now));
  tenant = await createTestTenant(api.database);
  const values: [string, unknown][] = [
    ['visit', 'Chrome'],
    ['visit', 'Chrome'],
    ['buy', 'chrome mobile'],
    ['buy', 'Firefox'],
    ['visit', 5],
    ['visit', true],
    ...[null, '', ['Chrome'], { a: 1 }, 'x'.repeat(401)].map((value): [string, unknown] => ['visit', value]),
  ];
  for (const [event, value] of values) {
    const timestamp = new Date(now - 60_000).toISOString();
    await storeEvent(sql, tenant.projectId, { event, timestamp, properties: { browser: value, other: 'not meant' } });
  }
  await storeEvent(sql, tenant.projectId, { timestamp: new Date(old).toISOString(), properties: { browser: 'Old' } });
  for (const [id, plan] of [
    ['a', 'free'],
    ['b', 'pro'],
    ['c', 'pro'],
  ] as const) {
    await storePerson(sql, tenant.projectId, { distinctIds: [id], properties: { plan } });
  }
  const other = await createTestTenant(api.database);
  const timestamp = new Date(now - 60_000).toISOString();
  await storeEvent(sql, other.projectId, { timestamp, properties: { browser: 'Theirs', plan: 'theirs' } });
  await storePerson(sql, other.projectId, { distinctIds: ['x'], properties: { plan: 'theirs' } });
});
afterAll(() => api.stop());

const ask = (path: string) => api.get(`/api/projects/${tenant.projectId}/${path}`, tenant.personalApiKey);
const names = async (path: string) => (await ask(path)).body.map(({ name }: { name: string }) => name);

test("lists an event property's string, number and boolean values of the last 30 days, most frequent first", async () => {
  expect(await names('events/values?key=browser')).toEqual(['Chrome', '5', 'Firefox', 'chrome mobile', 'true']);
  expect(await names('events/values?key=browser&value=CHROME')).toEqual(['Chrome', 'chrome mobile']);
  expect(await names('events/values?key=browser&value=')).toHaveLength(5);
  expect(await names('events/values?key=browser&event_name=buy')).toEqual(['Firefox', 'chrome mobile']);
  expect(await names('events/values?key=plan')).toEqual([]);
});

test.each([
  ['events/values?key=browser&event_name=buy', ['Firefox', 'chrome mobile']],
  ['persons/values/?key=plan', ['pro', 'free']],
])(
  'with envelope=true, returns property values in the format of newer PostHog versions: %s',
  async (path, expected) => {
    const results = expected.map((name) => ({ name }));
    expect((await ask(`${path}&envelope=true`)).body).toEqual({ results, refreshing: false });
    expect((await ask(`${path}&envelope=false`)).body).toEqual(results);
  },
);

test('lists the values of person properties', async () => {
  expect(await names('persons/values?key=plan')).toEqual(['pro', 'free']);
  expect(await names('persons/values/?key=plan&value=re')).toEqual(['free']);
});

test.each([
  ['events/values', 'key', 'required'],
  ['events/values?key=', 'key', 'blank'],
  [`persons/values?key=${'k'.repeat(401)}`, 'key', 'max_length'],
  [`persons/values?key=k&value=${'k'.repeat(1001)}`, 'value', 'max_length'],
  ['events/values?key=a%00', 'key', 'null_characters_not_allowed'],
])('returns 400 for the property values of %.60s, and names the parameter', async (path, attr, code) => {
  const { status, body } = await ask(path);
  expect([status, body.attr, body.code]).toEqual([400, attr, code]);
});
