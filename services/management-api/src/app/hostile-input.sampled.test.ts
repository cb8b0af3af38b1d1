import { createTestTenant, sampleOf, storySize, type TestTenant } from '@millrace/testing';
import fc from 'fast-check';
import { declaredRoutes } from '../testing/declared-routes.ts';
import { startTestApi, type TestApi } from '../testing/start-test-api.ts';
import { createMonths, storeEvent, storeGroup, storePerson, storeWarning } from '../testing/stored-data.ts';

/** Tests that the API responds to any URL with a result or a client error, and never with data of other tenants. */
let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
  tenant = await createTestTenant(api.database);
  const { sql } = api.database;
  await createMonths(sql, '2026-11', '2026-11');
  const other = await createTestTenant(api.database);
  for (const { projectId, text } of [
    { projectId: tenant.projectId, text: 'ours' },
    { projectId: other.projectId, text: 'theirs' },
  ]) {
    await storeEvent(sql, projectId, { event: text, distinctId: text });
    await storePerson(sql, projectId, { distinctIds: [text] });
    await storeGroup(sql, projectId, { type: text, index: 0, key: text });
    await storeWarning(sql, projectId, { type: text });
  }
});
afterAll(() => api.stop());

const lists = declaredRoutes().filter(
  ({ method, path, query }) =>
    method === 'GET' &&
    /:project_id(\/\w+)*$/.test(path) &&
    // Skip routes that return 404 for unknown names, that require all fields, or whose responses never end.
    !/\/(groups\/(find|members)|event_definitions\/by_name|persons\/cohorts)$|\/live\//.test(path) &&
    Object.keys(query.properties).length > 0,
);
const nasty = [
  "' OR '1'='1",
  "'; DROP TABLE event; --",
  '$1',
  '%',
  '_',
  '\\',
  '\u0000',
  'a\u0000b',
  '\ufeff\u202e\u{1F4A9}',
  'ı İ ß ǆ',
  '\ud7ff\ue000',
  '{"$ne":null}',
  '__proto__',
  'constructor',
  '1e309',
  '-0',
  '99999999999999999999999999',
  '0x10',
  '2026-11-10T12:00:00+99:99',
  '+275760-09-13T00:00:00.000Z',
  '9999-12-31T23:59:59-23:59',
  'x'.repeat(6000),
];

const seen = new Set<string>();
let turn = 0;
/**
 * Returns all hostile strings for the first parameter with a given name and schema. For further parameters with the
 * same name and schema, `npm test` uses a sample.
 */
function textsFor(field: string, schema: unknown): string[] {
  const key = `${field} ${JSON.stringify(schema)}`;
  const isFirst = !seen.has(key);
  seen.add(key);
  return isFirst ? nasty : sampleOf(nasty, { count: 4, turn: turn++ });
}

describe.each(
  lists.map(({ path, query: { properties, required = [] } }) => ({
    path,
    fields: Object.keys(properties),
    texts: Object.entries(properties).map(([name, schema]) => [name, textsFor(name, schema)] as const),
    required: required.filter((name) => !Object.hasOwn(properties[name] ?? {}, 'default')),
  })),
)('$path', ({ path, fields, texts, required }) => {
  const address = (query: string) => `${path.replace(':project_id', String(tenant.projectId))}?${query}`;

  test.each(texts)('%s', async (field, values) => {
    // Send the strings one by one, because a key can have only a few searches in flight.
    for (const text of values) {
      const others = required.filter((name) => name !== field).map((name) => `${name}=x`);
      const query = [`${field}=${encodeURIComponent(text)}`, ...others].join('&');
      const { status, body } = await api.get(address(query), tenant.personalApiKey);
      expect([field, text, [200, 400].includes(status)]).toEqual([field, text, true]);
      if (status === 400) expect(body.attr).toBe(field);
      expect(JSON.stringify(body.results ?? [])).not.toContain('theirs');
    }
  });

  test('returns no server error for invalid UTF-8, repeated names and empty names in a query', async () => {
    for (const query of ['search=%ff%fe', 'event=%C0%80', '&&=&=x', 'limit=1&limit=2&limit', 'cursor[]=1', '%', '#']) {
      const { status } = await api.get(address(query), tenant.personalApiKey);
      expect([query, [200, 400].includes(status)]).toEqual([query, true]);
    }
  });

  test('returns no server error for any value of any query parameter', async () => {
    const value = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.string({ unit: 'grapheme', maxLength: 30 }),
    );
    const query = fc.dictionary(fc.constantFrom(...fields), value, { maxKeys: 4 });
    await fc.assert(
      fc.asyncProperty(query, async (given) => {
        const { status, body } = await api.get(address(String(new URLSearchParams(given))), tenant.personalApiKey);
        return [200, 400].includes(status) && !JSON.stringify(body.results ?? []).includes('theirs');
      }),
      { numRuns: storySize(10, 50) },
    );
  });

  test('returns no server error for any well-formed cursor', async () => {
    const position = fc.record({
      timestamp: fc.oneof(
        fc.integer(),
        fc.maxSafeInteger(),
        fc.constantFrom(-210866803200000, 8.64e15, -62135596800001),
      ),
      id: fc.oneof(fc.uuid(), fc.bigInt().map(String), fc.string()),
      index: fc.integer({ min: 0, max: 4 }),
      key: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\u0000', 'a\u0000b')),
    });
    await fc.assert(
      fc.asyncProperty(position, async (given) => {
        const cursor = Buffer.from(JSON.stringify(given)).toString('base64url');
        const { status } = await api.get(address(`cursor=${cursor}`), tenant.personalApiKey);
        return [200, 400].includes(status);
      }),
      { numRuns: storySize(10, 50) },
    );
  });
});
