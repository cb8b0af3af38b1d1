import { randomUUID } from 'node:crypto';
import { createTestEnvironment, createTestTenant, type TestTenant } from '@millrace/testing';
import { readAllPages, startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import {
  createMonths,
  type StoredEvent,
  type StoredPerson,
  storeEvent,
  storePerson,
} from '../../testing/stored-data.ts';

let api: TestApi;
let tenant: TestTenant;
let path: string;
beforeAll(async () => {
  api = await startTestApi();
  await createMonths(api.database.sql, '2026-08', '2026-11');
});
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
  path = `/api/projects/${tenant.projectId}/events/`;
});
afterAll(() => api.stop());

const event = (fields?: StoredEvent) => storeEvent(api.database.sql, tenant.projectId, fields);
const person = (fields: StoredPerson) => storePerson(api.database.sql, tenant.projectId, fields);
const get = async (query = '') => (await api.get(path + query, tenant.personalApiKey)).body;
const uuids = async (query = '') => (await get(query)).results.map((row: { uuid: string }) => row.uuid);

test('returns an event as it was stored, with its current person', async () => {
  const personId = await person({ distinctIds: ['new', 'main', 'old'], main: 'main', properties: { plan: 'pro' } });
  const uuid = await event({
    event: 'checkout',
    distinctId: 'old',
    timestamp: '2026-11-10T12:00:00.250Z',
    properties: { amount: 12.5, nested: { deep: [null, 'ü'] }, $lib: 'web' },
    elementsChain: 'a.button',
    personProperties: { plan: 'free' },
  });
  expect(await get()).toEqual({
    next: null,
    results: [
      {
        id: uuid,
        uuid,
        event: 'checkout',
        distinct_id: 'old',
        timestamp: '2026-11-10T12:00:00.250000Z',
        properties: { amount: 12.5, nested: { deep: [null, 'ü'] }, $lib: 'web' },
        elements: [expect.objectContaining({ order: 0, tag_name: 'a', attr_class: ['button'] })],
        elements_chain: 'a.button',
        person: { uuid: personId, distinct_ids: ['main', 'new', 'old'], properties: { plan: 'pro' } },
      },
    ],
  });
});

test('returns a single event with the times when it was received and stored', async () => {
  const uuid = await event({ timestamp: '2026-11-10T12:00:00.250Z' });
  const { body: shown } = await api.get(`${path}${uuid}`, tenant.personalApiKey);
  const [stored] = await api.database.sql.query('SELECT captured_at, created_at FROM event WHERE uuid = $1', [uuid]);
  const [listed] = (await get()).results;
  const times = [stored?.captured_at, stored?.created_at].map((time) =>
    (time as Date).toISOString().replace('Z', '000Z'),
  );
  expect(shown).toEqual({ ...listed, captured_at: times[0], stored_at: times[1] });
});

test('returns the person that was stored with an event if its distinct ID no longer has a person', async () => {
  const personId = randomUUID();
  await event({ distinctId: 'anonymous', personId, personProperties: { a: 1 } });
  const [row] = (await get()).results;
  expect(row.person).toEqual({ uuid: personId, distinct_ids: ['anonymous'], properties: { a: 1 } });
});

test('returns an empty page for a project without events, and for a time without partitions', async () => {
  expect(await get()).toEqual({ next: null, results: [] });
  expect(await get('?before=1999-01-01')).toEqual({ next: null, results: [] });
});

test('returns at most 100 distinct IDs of a person, beginning with the main ID', async () => {
  const distinctIds = Array.from({ length: 150 }, (_, index) => `id-${index}`);
  await person({ distinctIds, main: 'id-149' });
  await event({ distinctId: 'id-7' });
  const [row] = (await get()).results;
  expect(row.person.distinct_ids).toEqual(['id-149', ...distinctIds.slice(0, 99)]);
});

test('returns the events of another environment of the project if its ID is in the path', async () => {
  const staging = await createTestEnvironment(api.database, { projectId: tenant.projectId, name: 'Staging' });
  const uuid = await storeEvent(api.database.sql, staging.id);
  const { body } = await api.get(`/api/projects/${staging.id}/events`, tenant.personalApiKey);
  expect(body.results.map((row: { uuid: string }) => row.uuid)).toEqual([uuid]);
  expect(await uuids()).toEqual([]);
});

test('does not return events and persons of another project, even if they share a distinct ID', async () => {
  const other = await createTestTenant(api.database);
  await storeEvent(api.database.sql, other.projectId, { distinctId: 'shared' });
  const otherPerson = await storePerson(api.database.sql, other.projectId, {
    distinctIds: ['shared', 'theirs'],
    properties: { secret: 'theirs' },
  });
  const uuid = await event({ distinctId: 'shared' });
  const body = await get();
  expect(body.results).toHaveLength(1);
  expect(body.results[0].uuid).toBe(uuid);
  expect(body.results[0].person).toEqual({ uuid: expect.any(String), distinct_ids: ['shared'], properties: {} });
  expect(body.results[0].person.uuid).not.toBe(otherPerson);
  expect(await uuids(`?person_id=${otherPerson}`)).toEqual([]);
});

describe('filters of the event list', () => {
  test('filters events by name, distinct ID and time, excluding both ends of the time range', async () => {
    const first = await event({ event: 'a', distinctId: 'x', timestamp: '2026-09-01T00:00:00Z' });
    const second = await event({ event: 'b', distinctId: 'x', timestamp: '2026-10-01T00:00:00Z' });
    const third = await event({ event: 'a', distinctId: 'y', timestamp: '2026-11-01T00:00:00Z' });
    expect(await uuids()).toEqual([third, second, first]);
    expect(await uuids('?event=a')).toEqual([third, first]);
    expect(await uuids('?distinct_id=x')).toEqual([second, first]);
    expect(await uuids('?distinct_id=x&event=a')).toEqual([first]);
    expect(await uuids('?after=2026-09-01')).toEqual([third, second]);
    expect(await uuids('?before=2026-11-01T00:00:00Z')).toEqual([second, first]);
    expect(await uuids('?after=2026-09-01&before=2026-11-01')).toEqual([second]);
    expect(await uuids('?after=2026-10-01T02:00:00%2B02:00')).toEqual([third]);
    expect(await uuids('?event=')).toEqual([]);
  });

  test('compares event names and distinct IDs exactly, including spaces', async () => {
    const uuid = await event({ distinctId: ' x ', event: " o'clock " });
    expect(await uuids('?distinct_id=%20x%20')).toEqual([uuid]);
    expect(await uuids('?distinct_id=x')).toEqual([]);
    expect(await uuids("?event=%20o'clock%20")).toEqual([uuid]);
  });

  test('filters events by person, and includes events from before a merge', async () => {
    const merged = randomUUID();
    const personId = await person({ distinctIds: ['user', 'anon'] });
    await api.database.sql.query(
      `UPDATE person_distinct_id SET version = 1 WHERE person_uuid = $1 AND distinct_id = 'anon'`,
      [personId],
    );
    const before = await event({ distinctId: 'anon', personId: merged, timestamp: '2026-09-01T00:00:00Z' });
    const after = await event({ distinctId: 'user', personId, timestamp: '2026-10-01T00:00:00Z' });
    await event({ distinctId: 'another person' });
    expect(await uuids(`?person_id=${personId}`)).toEqual([after, before]);
    expect(await uuids(`?person_id=${personId.toUpperCase()}`)).toEqual([after, before]);
    expect(await uuids(`?person_id=${personId}&distinct_id=anon`)).toEqual([before]);
    expect(await uuids(`?person_id=${personId}&distinct_id=other`)).toEqual([]);
    expect(await uuids(`?person_id=${merged}`)).toEqual([]);
  });

  test('filters events by their stored person if their distinct ID no longer has a person', async () => {
    const personId = randomUUID();
    const uuid = await event({ distinctId: 'anonymous', personId });
    expect(await uuids(`?person_id=${personId}`)).toEqual([uuid]);
    expect(await uuids(`?person_id=${randomUUID()}`)).toEqual([]);
  });

  test('filters events by a relative time', async () => {
    const hour = 3_600_000;
    const ago = async (hours: number) => event({ timestamp: new Date(Date.now() - hours * hour).toISOString() });
    const now = new Date();
    const month = (shift: number) =>
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + shift)).toISOString().slice(0, 7);
    await createMonths(api.database.sql, month(-1), month(0));
    const [recent, older] = [await ago(1), await ago(30)];
    expect(await uuids('?after=-1d')).toEqual([recent]);
    expect(await uuids('?after=-24h')).toEqual([recent]);
    expect(await uuids('?after=-30M')).toEqual([]);
    expect(await uuids('?after=-2w&before=-1d')).toEqual([older]);
    expect(await uuids('?after=-1m')).toEqual([recent, older]);
  });

  test('returns events in ascending order over several pages', async () => {
    const stored: string[] = [];
    for (const month of ['08', '09', '10', '11']) stored.push(await event({ timestamp: `2026-${month}-03T00:00:00Z` }));
    const personId = await person({ distinctIds: ['someone'] });
    for (const order of ['["timestamp"]', 'timestamp']) {
      for (const filter of ['', '&distinct_id=someone', `&person_id=${personId}`]) {
        const query = `?limit=3&orderBy=${encodeURIComponent(order)}${filter}`;
        const seen = await readAllPages<{ uuid: string }>(api, path + query, tenant.personalApiKey);
        expect(seen.map(({ uuid }) => uuid)).toEqual(stored);
      }
    }
    expect(await uuids('?orderBy=["-timestamp"]')).toEqual(stored.reverse());
  });

  test.each(['select', 'where', 'action_id'])('returns 400 for the unsupported parameter %s', async (name) => {
    const { status, body } = await api.get(`${path}?${name}=1`, tenant.personalApiKey);
    expect([status, body.code, body.attr]).toEqual([400, 'unsupported_parameter', name]);
    expect(body.detail).toMatch(/not supported|cannot be/);
  });

  test('accepts include_person, although the person is always included', async () => {
    const uuid = await event({});
    for (const value of ['true', 'false']) expect(await uuids(`?include_person=${value}`)).toEqual([uuid]);
  });

  test.each([
    ['orderBy=event', 'orderBy'],
    ['orderBy=["event"]', 'orderBy'],
    ['offset=50001', 'offset'],
    ['offset=-1', 'offset'],
    ['offset=1&cursor=eyJ0aW1lc3RhbXAiOjEsImlkIjoiMDAwMDAwMDAtMDAwMC00MDAwLTgwMDAtMDAwMDAwMDAwMDAxIn0', 'offset'],
    ['select=["event"]', 'select'],
    ['where=x', 'where'],
    ['format=csv', 'format'],
    ['after=yesterday', 'after'],
    ['before=2026-13-01', 'before'],
    ['after=', 'after'],
    ['after=-1', 'after'],
    ['after=-100000d', 'after'],
    ['before=-99999y', 'before'],
    ['after=%00', 'after'],
    ['person_id=42', 'person_id'],
    ['person_id=', 'person_id'],
    ['event=a%00b', 'event'],
    ['distinct_id=%00', 'distinct_id'],
    ['cursor=x', 'cursor'],
    ['cursor=', 'cursor'],
    [
      `cursor=${Buffer.from('{"timestamp":9e15,"id":"00000000-0000-0000-0000-000000000000"}').toString('base64url')}`,
      'cursor',
    ],
    [`cursor=${Buffer.from('{"timestamp":1,"id":"x"}').toString('base64url')}`, 'cursor'],
  ])('returns 400 naming the parameter for %s', async (query, attr) => {
    const { status, body } = await api.get(`${path}?${query}`, tenant.personalApiKey);
    expect([status, body.type, body.attr]).toEqual([400, 'validation_error', attr]);
  });
});

describe('pages of the event list', () => {
  test('returns 100 events by default or for an invalid limit, and at most 10,000 for a large limit', async () => {
    await api.database.sql.query(
      `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
       SELECT $1, timestamptz '2026-11-01Z' + n * interval '1 second', gen_random_uuid(), 'e', 'd', gen_random_uuid(), '{}', now()
         FROM generate_series(1, 10001) AS n`,
      [tenant.projectId],
    );
    for (const [query, length] of [
      ['', 100],
      ['?limit=1', 1],
      ['?limit=0', 100],
      ['?limit=-5', 100],
      ['?limit=abc', 100],
      ['?limit=1000', 1000],
      ['?limit=10000', 10_000],
      ['?limit=99999999999999999999', 10_000],
    ] as const) {
      const body = await get(query);
      expect([query, body.results.length, typeof body.next]).toEqual([query, length, 'string']);
    }
  });

  test('returns an absolute `next` URL with the same path and filters, or null on the last page', async () => {
    for (const uuid of ['1', '2', '3'])
      await event({ uuid: `00000000-0000-4000-8000-00000000000${uuid}`, event: 'a b' });
    const first = (await api.get(`${path.slice(0, -1)}?limit=2&event=a%20b&format=json`, tenant.personalApiKey)).body;
    expect(first.next).toMatch(
      new RegExp(
        `^${api.url}/api/projects/${tenant.projectId}/events\\?cursor=[\\w-]+&event=a\\+b&format=json&limit=2$`,
      ),
    );
    const second = (await api.get(first.next, tenant.personalApiKey)).body;
    expect([second.results.length, second.next]).toEqual([1, null]);
  });

  test('returns every event on exactly one page, across months and equal times, while new events are stored', async () => {
    const stored: string[] = [];
    for (let index = 0; index < 60; index += 1) {
      const day = String(1 + (index % 5)).padStart(2, '0');
      // Several events have the same time, so their order depends on the UUID.
      stored.push(await event({ timestamp: `2026-${['08', '09', '10', '11'][index % 4]}-${day}T00:00:00Z` }));
    }
    for (const query of ['', '&distinct_id=someone']) {
      const seen: string[] = [];
      for (let next: string | null = `${path}?limit=7${query}`; next !== null; ) {
        const { body } = await api.get(next, tenant.personalApiKey);
        seen.push(...body.results.map((row: { uuid: string }) => row.uuid));
        next = body.next;
        await event({ timestamp: new Date(Date.UTC(2026, 10, 20) + seen.length).toISOString() });
        await event({ timestamp: `2026-08-0${1 + (seen.length % 5)}T00:00:00.500Z`, event: 'late' });
      }
      expect(new Set(seen).size).toBe(seen.length);
      expect(stored.filter((uuid) => !seen.includes(uuid))).toEqual([]);
    }
  });

  test('skips the number of events given by `offset`, and continues after the page with `next`', async () => {
    const stored: string[] = [];
    for (let index = 0; index < 60; index += 1) {
      const day = String(1 + (index % 5)).padStart(2, '0');
      stored.push(await event({ timestamp: `2026-${['08', '09', '10', '11'][index % 4]}-${day}T00:00:00Z` }));
    }
    for (const filter of ['', '&distinct_id=someone', '&orderBy=timestamp']) {
      const whole = (await get(`?limit=100${filter}`)).results.map(({ uuid }: { uuid: string }) => uuid);
      expect(new Set(whole)).toEqual(new Set(stored));
      const seen: string[] = [];
      for (let offset = 0; offset < 70; offset += 7) {
        const page = await get(`?limit=7&offset=${offset}${filter}`);
        seen.push(...page.results.map(({ uuid }: { uuid: string }) => uuid));
        expect(page.next === null).toBe(offset >= 56);
      }
      expect(seen).toEqual(whole);
      const { next } = await get(`?limit=7&offset=20${filter}`);
      expect(next).not.toContain('offset');
      const behind = (await api.get(next, tenant.personalApiKey)).body;
      expect(behind.results.map(({ uuid }: { uuid: string }) => uuid)).toEqual(whole.slice(27, 34));
    }
  });

  test('sorts events by time and UUID, newest first', async () => {
    const rows: { timestamp: string; uuid: string }[] = [];
    for (let index = 0; index < 20; index += 1) {
      const timestamp = `2026-11-0${1 + (index % 3)}T00:00:00Z`;
      rows.push({ timestamp, uuid: await event({ timestamp }) });
    }
    const expected = rows.sort((a, b) => (a.timestamp + a.uuid < b.timestamp + b.uuid ? 1 : -1)).map((row) => row.uuid);
    const seen = await readAllPages<{ uuid: string }>(api, `${path}?limit=3`, tenant.personalApiKey);
    expect(seen.map((row) => row.uuid)).toEqual(expected);
  });

  test('runs the same number of SQL statements for an event page of any size', async () => {
    for (let index = 0; index < 30; index += 1) {
      const personId = await person({ distinctIds: [`p${index}`, `q${index}`] });
      await event({ distinctId: `p${index}`, personId });
    }
    const cost = (query: string) => api.statementsOf(() => get(query));
    expect([await cost('?limit=1'), await cost('?limit=30')]).toEqual([6, 6]);
    // For a person without distinct IDs, the search reads time ranges, each twice as long as the previous one.
    expect(await cost(`?person_id=${randomUUID()}`)).toBeLessThanOrEqual(20);
  });
});

describe('pages of very large events', () => {
  const large = (index: number) => ({
    timestamp: `2026-11-10T12:00:0${index}Z`,
    properties: { text: String(index).repeat(5 * 1024 * 1024) },
  });

  test('returns the requested number of very large events', async () => {
    const stored: string[] = [];
    for (let index = 0; index < 8; index += 1) stored.push(await event(large(index)));
    const page = await get();
    expect([page.results.map(({ uuid }: { uuid: string }) => uuid), page.next]).toEqual([stored.reverse(), null]);
    const first = await get('?limit=5');
    const second = (await api.get(first.next, tenant.personalApiKey)).body;
    const uuids = [...first.results, ...second.results].map(({ uuid }) => uuid);
    expect([uuids, first.results.length, second.next]).toEqual([stored, 5, null]);
  });

  test('returns a full page even if an event is deleted while the page is being sent', async () => {
    const stored: string[] = [];
    for (let index = 0; index < 9; index += 1) stored.unshift(await event(large(index)));
    const response = await fetch(`${api.url}${path}?limit=6`, {
      headers: { authorization: `Bearer ${tenant.personalApiKey}` },
    });
    // The server has begun to send the page. Now delete an event near the end of the page.
    const deleted = stored[4];
    await api.database.sql.query('DELETE FROM event WHERE uuid = $1', [deleted]);
    const { results, next } = (await response.json()) as { results: { uuid: string }[]; next: string };
    expect(results.map(({ uuid }) => uuid)).toEqual(stored.filter((uuid) => uuid !== deleted).slice(0, 6));
    const rest = (await api.get(next, tenant.personalApiKey)).body;
    expect(rest.results.map(({ uuid }: { uuid: string }) => uuid)).toEqual(stored.slice(7));
  });

  test('returns the requested number of events even if their person record is very large', async () => {
    await person({ distinctIds: ['someone'], properties: { text: 'x'.repeat(1.5 * 1024 * 1024) } });
    const stored: string[] = [];
    for (let index = 0; index < 5; index += 1) stored.push(await event({ timestamp: `2026-11-10T12:00:0${index}Z` }));
    const { results, next } = await get();
    expect([results.map(({ uuid }: { uuid: string }) => uuid), next]).toEqual([stored.reverse(), null]);
  });
});
