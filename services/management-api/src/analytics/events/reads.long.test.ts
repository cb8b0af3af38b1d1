import {
  connectClickHouse,
  copyEvents,
  createClickHouseEngine,
  createEventStore,
  createTables,
} from '@millrace/insights';
import {
  createTestTenant,
  installClickHouseOrNull,
  startClickHouse,
  type TestClickHouse,
  type TestTenant,
} from '@millrace/testing';
import { readAllPages, startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createMonths, type StoredEvent, storeEvent, storePerson } from '../../testing/stored-data.ts';

/**
 * Compares two APIs that use the same database. The API that reads events from ClickHouse must return the same as the
 * API that reads from PostgreSQL, even after PostgreSQL has deleted the events.
 */
const modules = await installClickHouseOrNull();
const allTimes = { from: new Date(0), until: new Date('2299-01-01Z') };

(modules === null ? describe.skip : describe)('events read from ClickHouse', () => {
  let clickhouse: TestClickHouse;
  let client: ReturnType<typeof connectClickHouse>;
  let onPostgres: TestApi;
  let api: TestApi;
  let tenant: TestTenant;
  let ada: string;
  let known: string;
  beforeAll(async () => {
    clickhouse = await startClickHouse(String(modules));
    client = connectClickHouse(clickhouse.url);
    onPostgres = await startTestApi();
    const { databaseUrl } = onPostgres;
    await createTables(client, { url: databaseUrl });
    const externalEventStore = { events: createEventStore(createClickHouseEngine(client)), maxMs: 15_000 };
    api = await startTestApi({ externalEventStore }, { databaseUrl });
    const month = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 7);
    await createMonths(api.database.sql, '2026-08', [month(0), '2026-11'].sort().at(-1) ?? '');
    tenant = await createTestTenant(api.database);
    await api.database.sql.query("UPDATE environment SET timezone = 'Europe/Berlin' WHERE id = $1", [
      tenant.environmentId,
    ]);
    [ada, known] = await storeAll();
    await copyEvents(client, { url: databaseUrl }, allTimes);
  });
  afterAll(async () => {
    await api?.stop();
    await onPostgres?.stop();
    await client?.close();
    await clickhouse?.stop();
  });

  /** @returns the UUIDs of a person and of an event */
  async function storeAll(): Promise<[string, string]> {
    const { sql } = api.database;
    const store = (event: StoredEvent) => storeEvent(sql, tenant.environmentId, event);
    const person = await storePerson(sql, tenant.environmentId, {
      distinctIds: ['ada', 'ada-phone'],
      properties: { plan: 'pro', since: '2026-01-01' },
    });
    await sql.query(`UPDATE person_distinct_id SET version = 1 WHERE project_id = $1 AND distinct_id = 'ada-phone'`, [
      tenant.environmentId,
    ]);
    const uuid = await store({
      distinctId: 'ada',
      personId: person,
      timestamp: '2026-08-03T10:00:00.250Z',
      elementsChain: 'a.button',
    });
    // Store an event under another person, as before a merge.
    await store({
      distinctId: 'ada-phone',
      timestamp: '2026-10-24T22:00:00Z',
      properties: { browser: 'Chrome', amount: 12.5 },
    });
    await store({
      distinctId: 'ada-phone',
      timestamp: '2026-10-25T00:30:00Z',
      properties: { browser: 'chrome mobile', amount: '7' },
    });
    await store({
      distinctId: 'ada',
      personId: person,
      timestamp: '2026-10-25T01:30:00Z',
      event: 'buy',
      properties: { amount: 5, at: '2026-10-01T12:00:00Z' },
    });
    for (let n = 0; n < 5; n += 1) {
      await store({
        distinctId: 'unknown',
        personId: unlinked,
        timestamp: '2026-11-02T00:00:00Z',
        personProperties: { plan: 'free' },
        properties: { n, wide: 2 ** 60, deep: { a: [null, 'ü'] } },
      });
    }
    await store({
      distinctId: ' x ',
      event: " o'clock ",
      timestamp: '2026-11-05T23:59:59.999Z',
      properties: { browser: null, list: ['a'], amount: 0 },
    });
    await store({
      distinctId: 'ada',
      personId: person,
      event: '$identify',
      timestamp: '2026-08-02T00:00:00Z',
      properties: { $anon_distinct_id: 'ada-phone' },
    });
    return [person, uuid];
  }
  const unlinked = '0193f0c5-7a4e-5000-8000-000000000b0b';
  const at = (path: string) => `/api/projects/${tenant.projectId}/${path.replace('ADA', ada)}`;
  const both = async (path: string) => {
    const [one, other] = [
      await api.get(at(path), tenant.personalApiKey),
      await onPostgres.get(at(path), tenant.personalApiKey),
    ];
    const told = ({ status, body }: typeof one) => [
      status,
      body.results?.length,
      JSON.stringify(body).replaceAll(/127\.0\.0\.1:\d+/g, 'host'),
    ];
    expect(told(one)).toEqual(told(other));
    return one;
  };
  const filter = (filters: object[]) => `properties=${encodeURIComponent(JSON.stringify(filters))}`;

  test.each<[string, number]>([
    ['', 11],
    ['limit=3', 3],
    ['orderBy=timestamp', 11],
    ['event=buy', 1],
    ["event=%20o'clock%20", 1],
    ['distinct_id=%20x%20', 1],
    ['distinct_id=x', 0],
    ['person_id=ADA', 5],
    ['person_id=ADA&distinct_id=ada-phone', 2],
    ['person_id=ADA&distinct_id=other', 0],
    [`person_id=${unlinked}`, 5],
    [`person_id=${unlinked.toUpperCase()}`, 5],
    ['person_id=0193f0c5-7a4e-5000-8000-000000000c0c', 0],
    ['after=2026-10-24T22:00:00Z&before=2026-11-02', 2],
    ['after=2026-11-02', 1],
    ['before=1999-01-01', 0],
    [`${filter([{ key: 'browser', value: 'Chrome' }])}`, 1],
    [`${filter([{ key: 'browser', value: ['Chrome', 'chrome mobile'] }])}`, 2],
    [`${filter([{ key: 'browser', value: 'Chrome', operator: 'is_not' }])}`, 10],
    [`${filter([{ key: 'browser', value: 'CHROME', operator: 'icontains' }])}`, 2],
    [`${filter([{ key: 'browser', value: 'CHROME', operator: 'not_icontains' }])}`, 9],
    [`${filter([{ key: 'browser', value: '^chrome\\b', operator: 'regex' }])}`, 1],
    [`${filter([{ key: 'browser', value: '(?i)^chrome$', operator: 'not_regex' }])}`, 10],
    [`${filter([{ key: 'browser', operator: 'is_set' }])}`, 2],
    [`${filter([{ key: 'browser', operator: 'is_not_set' }])}`, 9],
    [`${filter([{ key: 'amount', value: 5, operator: 'gt' }])}`, 2],
    [`${filter([{ key: 'amount', value: '5.0', operator: 'exact' }])}`, 1],
    [`${filter([{ key: 'amount', value: 5, operator: 'lte' }])}`, 2],
    [`${filter([{ key: 'at', value: '2026-10-01', operator: 'is_date_exact' }])}`, 1],
    [`${filter([{ key: 'at', value: '2026-10-02', operator: 'is_date_before' }])}`, 1],
    [`${filter([{ key: 'at', value: '2026-10-02', operator: 'is_date_after' }])}`, 0],
    [`${filter([{ key: 'plan', value: 'pro', type: 'person' }])}`, 5],
    [`${filter([{ key: 'event', value: 'UY', operator: 'icontains', type: 'event_metadata' }])}`, 1],
    [`${filter([{ key: 'plan', value: 'free', type: 'person' }])}`, 5],
    [`${filter([{ key: 'plan', operator: 'is_not_set', type: 'person' }])}`, 1],
  ])('returns the same list of events as PostgreSQL: %s', async (query, count) => {
    const { status, body } = await both(`events/?${query}`);
    expect([status, body.results.length]).toEqual([200, count]);
  });

  test.each(['limit=2', 'limit=4&orderBy=timestamp', 'limit=1&person_id=ADA'])(
    'returns the same pages of events as PostgreSQL: %s',
    async (query) => {
      const path = at(`events/?${query}`);
      const read = (from: TestApi) => readAllPages<{ uuid: string }>(from, path, tenant.personalApiKey);
      const [seen, expected] = [await read(api), await read(onPostgres)];
      expect(seen.map(({ uuid }) => uuid)).toEqual(expected.map(({ uuid }) => uuid));
    },
  );

  test.each<[string, number]>([
    ['interval=day&after=2026-10-23T22:00:00Z&before=2026-10-27', 3],
    ['after=2026-10-25T00:00:00Z&before=2026-10-25T03:00:00Z', 2],
    ['interval=minute&after=2026-10-24T22:00:00Z&before=2026-10-25T01:30:00Z', 1],
    [`interval=day&after=2026-10-01&before=2026-11-20&${filter([{ key: 'plan', value: 'free', type: 'person' }])}`, 5],
    ['interval=day&after=2026-10-01&before=2026-11-20&person_id=ADA', 3],
    ['interval=day&before=1000-02-01', 0],
    ['interval=day&before=9999-12-31T23:59:59Z', 0],
  ])('returns the same event counts as PostgreSQL: %s', async (query, total) => {
    expect((await both(`events/counts?${query}`)).body.total).toBe(total);
  });

  test.each(['key=browser', 'key=amount&value=7', 'key=n&event_name=none', 'key=deep'])(
    'returns the same property values as PostgreSQL: %s',
    async (query) => {
      await both(`events/values?${query}`);
    },
  );

  test("returns the history of how a person's distinct IDs were merged", async () => {
    expect((await both(`persons/${ada}/merges`)).body.merges).toMatchObject([
      { other_distinct_id: 'ada-phone', is_joined: true },
    ]);
  });

  test.each([
    ['orderBy=event', 'orderBy'],
    ['cursor=x', 'cursor'],
    ['after=yesterday', 'after'],
    [filter([{ key: 'a', value: '(', operator: 'regex' }]), 'properties__0__value'],
    [filter([{ key: 'a', value: 'x', operator: 'gt' }]), 'properties__0__value'],
  ])('returns the same error as PostgreSQL: %s', async (query, attr) => {
    expect((await both(`events/?${query}`)).body.attr).toBe(attr);
  });

  test('counts events per definition, although PostgreSQL stores only the last few days', async () => {
    const other = await createTestTenant(api.database);
    const { sql } = api.database;
    const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
    for (const [event, days] of [
      ['buy', 0.5],
      ['buy', 2],
      ["o'clock", 3],
      ['buy', 31],
    ] as const) {
      await storeEvent(sql, other.environmentId, { event, distinctId: 'ada', timestamp: ago(days) });
    }
    await sql.query(
      `INSERT INTO event_definition (project_id, name, last_seen_at)
       SELECT $1, name, now() FROM unnest(ARRAY['buy', 'o''clock', 'never']) AS name`,
      [other.environmentId],
    );
    const { databaseUrl } = onPostgres;
    await copyEvents(client, { url: databaseUrl }, allTimes);
    await sql.query("DELETE FROM event WHERE project_id = $1 AND timestamp < now() - interval '1 day'", [
      other.environmentId,
    ]);
    const volumes = async (from: TestApi) => {
      const path = `/api/projects/${other.projectId}/event_definitions/?volumes=true`;
      const { body } = await from.get(path, other.personalApiKey);
      return body.results.map((one: { name: string; volume_30_day: number }) => [one.name, one.volume_30_day]);
    };
    expect(await volumes(api)).toEqual([
      ['buy', 2],
      ['never', 0],
      ["o'clock", 1],
    ]);
    expect(await volumes(onPostgres)).toContainEqual(['buy', 1]);
  });

  test('lists the properties of events with certain names', async () => {
    const names = ['amount', 'at', 'browser', 'deep', 'list', 'n', 'never', 'wide'];
    await api.database.sql.query(
      `INSERT INTO property_definition (project_id, type, name, last_seen_at)
       SELECT $1, 1, unnest($2::text[]), now()`,
      [tenant.environmentId, names],
    );
    const ofEvents = async (eventNames: string[], more = '&filter_by_event_names=true') => {
      const query = `event_names=${encodeURIComponent(JSON.stringify(eventNames))}${more}`;
      const { body } = await both(`property_definitions/?${query}`);
      return body.results
        .filter((one: { is_seen_on_filtered_events: boolean }) => one.is_seen_on_filtered_events)
        .map(({ name }: { name: string }) => name);
    };
    expect(await ofEvents(['buy'])).toEqual(['amount', 'at']);
    expect(await ofEvents([" o'clock "])).toEqual(['amount', 'browser', 'list']);
    expect(await ofEvents(['buy', " o'clock "])).toEqual(['amount', 'at', 'browser', 'list']);
    expect(await ofEvents(['buy'], '')).toEqual(['amount', 'at']);
    expect(await ofEvents(['never sent'])).toEqual([]);
    expect(await ofEvents(['never sent', '$identify'], '')).toEqual([]);
  });

  test('counts the same flag exposures and conversions as PostgreSQL', async () => {
    const other = await createTestTenant(api.database);
    const { sql } = api.database;
    await sql.query("UPDATE environment SET timezone = 'Europe/Berlin' WHERE id = $1", [other.environmentId]);
    const path = `/api/projects/${other.projectId}/feature_flags/`;
    const body = { key: 'checkout', filters: { groups: [{}] } };
    const { id } = (await api.send('POST', path, { key: other.personalApiKey, body })).body;
    for (const distinctIds of [['ada', 'ada-phone'], ['bob'], ['cleo']])
      await storePerson(sql, other.environmentId, { distinctIds });
    await sql.query('UPDATE person_distinct_id SET version = 1 WHERE project_id = $1', [other.environmentId]);
    const store = (event: string, distinctId: string, timestamp: string, properties = {}) =>
      storeEvent(sql, other.environmentId, { event, distinctId, timestamp, properties });
    const calls: [string, unknown, string][] = [
      ['ada', 'test', '2026-11-10T10:00:00Z'],
      ['ada-phone', 'test', '2026-11-11T10:00:00Z'],
      ['bob', true, '2026-11-10T22:59:59.999Z'],
      ['cleo', 'control', '2026-11-10T23:00:00Z'],
      ['cleo', 'test', '2026-11-11T12:00:00Z'],
      ['eve', undefined, '2026-11-12T12:00:00Z'],
    ];
    for (const [distinctId, response, timestamp] of calls) {
      await store('$feature_flag_called', distinctId, timestamp, {
        $feature_flag: 'checkout',
        $feature_flag_response: response,
      });
    }
    await store('$feature_flag_called', 'bob', '2026-11-10T10:00:00Z', {
      $feature_flag: 'another',
      $feature_flag_response: 'test',
    });
    await store('order', 'ada-phone', '2026-11-12T00:00:00Z');
    await store('order', 'bob', '2026-11-10T10:00:00Z');
    await copyEvents(client, { url: api.databaseUrl }, allTimes);
    for (const asked of ['', '&conversion_event=order', '&conversion_event=none', '&date_to=2026-11-11']) {
      const read = (from: TestApi) =>
        from.get(`${path}${id}/exposures/?date_from=2026-11-01${asked}`, other.personalApiKey);
      const { status, body: shown } = await read(api);
      expect([status, shown.persons, shown.date_to]).toEqual([
        200,
        asked.includes('date_to') ? 3 : 4,
        expect.any(String),
      ]);
      const { body: expected } = await read(onPostgres);
      expect({ ...shown, date_to: '' }).toEqual({ ...expected, date_to: '' });
    }
  });

  test('returns the requested number of events even if the records of their persons are large', async () => {
    const other = await createTestTenant(api.database);
    await storePerson(api.database.sql, other.environmentId, {
      distinctIds: ['large'],
      properties: { x: 'x'.repeat(900_000) },
    });
    for (let n = 0; n < 5; n += 1) await storeEvent(api.database.sql, other.environmentId, { distinctId: 'large' });
    await copyEvents(client, { url: api.databaseUrl }, allTimes);
    const path = `/api/projects/${other.projectId}/events/`;
    const { body } = await api.get(path, other.personalApiKey);
    expect([body.results.length, body.next]).toEqual([5, null]);
    const { body: part } = await api.get(`${path}?limit=3&offset=1`, other.personalApiKey);
    expect([part.results, part.next]).toEqual([body.results.slice(1, 4), expect.any(String)]);
    expect((await api.get(part.next, other.personalApiKey)).body.results).toEqual(body.results.slice(4));
  });

  test('still returns events that PostgreSQL has deleted, both in lists and individually', async () => {
    const shown = (await both(`events/${known}`)).body;
    const all = (await both('events/')).body.results;
    await api.database.sql.query('DELETE FROM event WHERE project_id = $1', [tenant.environmentId]);
    expect((await api.get(at('events/'), tenant.personalApiKey)).body.results).toEqual(all);
    expect((await api.get(at(`events/${known}`), tenant.personalApiKey)).body).toEqual(shown);
    expect((await api.get(at('events/0193f0c5-7a4e-7000-8000-0000000000ff'), tenant.personalApiKey)).status).toBe(404);
    expect((await onPostgres.get(at('events/'), tenant.personalApiKey)).body.results).toEqual([]);
  });
});
