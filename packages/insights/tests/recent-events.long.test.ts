import { installClickHouseOrNull, startClickHouse, type TestClickHouse } from '@millrace/testing';
import { createClickHouseEngine } from '../src/event-store/clickhouse/engine.ts';
import { createTables } from '../src/event-store/clickhouse/tables.ts';
import { type ClickHouseClient, connectClickHouse, createEventStore, type EventListQuery } from '../src/index.ts';

const modules = await installClickHouseOrNull();

(modules === null ? describe.skip : describe)('the newest events in ClickHouse', () => {
  let server: TestClickHouse;
  let client: ClickHouseClient;
  beforeAll(async () => {
    server = await startClickHouse(String(modules));
    client = connectClickHouse(server.url);
    // The URL is wrong on purpose, because a list without conditions on persons must not read PostgreSQL.
    await createTables(client, { url: 'postgresql://reader:secret@127.0.0.1:9/none' });
    await client.command({ query: 'SYSTEM STOP MERGES events' });
  });
  afterAll(async () => {
    await client.close();
    await server.stop();
  });

  const insert = (seconds: number, count: number, { event = "'order'", distinctId = `'${seconds}'` } = {}) =>
    client.command({
      query: `INSERT INTO events (project_id, timestamp, uuid, event, distinct_id, properties)
              SELECT 1, now64(3) - INTERVAL ${seconds} SECOND, generateUUIDv4(), ${event}, ${distinctId}, '{}' FROM numbers(${count})`,
    });
  const readRows = async () => {
    const query = "SELECT value FROM system.events WHERE event = 'SelectedRows'";
    const [row] = await (await client.query({ query, format: 'JSONCompactEachRow' })).json<[string]>();
    return Number(row?.[0]);
  };
  /** Runs a list query. @returns how many events of each age in seconds were found, and whether all rows were read */
  async function list(query: Partial<EventListQuery>) {
    const store = createEventStore(createClickHouseEngine(client));
    const all = { projectId: 1, events: null, by: 'timestamp', from: 0, to: null, where: { all: [] } } as const;
    const page = { uuid: null, after: null, isOldestFirst: false, limit: 100, maxBytes: 1e7, ...query };
    const before = await readRows();
    const budget = { signal: new AbortController().signal, maxMs: 60_000, maxBytes: 1e7 };
    const { events } = await store.list({ ...all, ...page }, budget);
    const found: Record<string, number> = {};
    for (const { distinct_id: age } of events) found[age] = (found[age] ?? 0) + 1;
    return { found, readsAll: (await readRows()) - before > 50_000 };
  }

  test('finds recent events without reading the data parts that contain older events', async () => {
    await insert(7200, 50_000);
    await insert(1200, 100);
    await insert(0, 60);
    expect(await list({ limit: 50 })).toEqual({ found: { 0: 50 }, readsAll: false });
    expect(await list({ limit: 150 })).toEqual({ found: { 0: 60, 1200: 90 }, readsAll: false });
    expect(await list({ limit: 200 })).toEqual({ found: { 0: 60, 1200: 100, 7200: 40 }, readsAll: true });
  });

  test("finds a distinct ID's events without reading the data parts that do not contain the ID", async () => {
    // Each granule contains several event names, so the hashes of distinct IDs in the sorting key do not exclude any
    // granule.
    const event = "concat('event ', toString(number % 50))";
    await insert(5400, 50_000, { event, distinctId: 'toString(number)' });
    await insert(5400, 100, { event, distinctId: "concat('recent ', toString(number))" });
    expect(await list({ distinctIds: ['recent 7'] })).toEqual({ found: { 'recent 7': 1 }, readsAll: false });
  });
});
