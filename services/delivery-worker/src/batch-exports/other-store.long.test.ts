import {
  connectClickHouse,
  copyEvents,
  createClickHouseEngine,
  createEventStore,
  createTables,
  readEventFilters,
} from '@millrace/insights';
import { createTestTenant, installClickHouseOrNull, startClickHouse, type TestClickHouse } from '@millrace/testing';
import { storeEvents } from '../testing/stored-export.ts';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import type { ClaimedRun, EventRecord } from './destination.ts';
import { createCopiedUntil, readPages, readStoredPages } from './read.ts';
import { openCursor, selectEventsOfRun } from './store.ts';

/** Tests that an export contains the same rows whether it reads them from ClickHouse or from PostgreSQL. */
const modules = await installClickHouseOrNull();

(modules === null ? describe.skip : describe)('exports from ClickHouse', () => {
  let fixture: WorkerFixture;
  let clickhouse: TestClickHouse;
  let client: ReturnType<typeof connectClickHouse>;
  let environmentId: number;
  beforeAll(async () => {
    fixture = await startWorkerFixture();
    clickhouse = await startClickHouse(String(modules));
    client = connectClickHouse(clickhouse.url);
    await createTables(client, { url: fixture.databaseUrl });
    const { sql } = fixture.database;
    ({ environmentId } = await createTestTenant(fixture.database));
    await storeEvents(sql, environmentId, { count: 2500, from: '2026-11-10T10:00:00Z' });
    await storeEvents(sql, environmentId, {
      count: 10,
      from: '2026-11-10T10:10:00Z',
      event: 'large',
      properties: JSON.stringify({ x: 'x'.repeat(900_000) }),
    });
    await storeEvents(sql, environmentId, { count: 5, from: '2026-11-10T10:00:02Z', event: 'buy' });
    await copyEvents(client, { url: fixture.databaseUrl }, { from: new Date(0), until: new Date('2299-01-01Z') });
  });
  afterAll(async () => {
    await client?.close();
    await clickhouse?.stop();
    await fixture?.stop();
  });

  const run = (fields: Partial<ClaimedRun>): ClaimedRun => ({
    ...{ id: '', attempts: 1, by_stored_time: true, batch_export_id: '', organization_id: '' },
    data_interval_start: new Date('2026-11-10T10:00:00Z'),
    data_interval_end: new Date('2026-11-10T11:00:00Z'),
    ...{ environment_id: environmentId, model: 'events', filters: null, query: null, destination_type: 'S3' },
    ...{ destination_config: {}, destination_secrets: {}, ...fields },
  });

  test.each<[string, Partial<ClaimedRun>, number]>([
    ['reads events by the time they were stored', {}, 2515],
    [
      'reads events stored in a part of the interval',
      { data_interval_start: new Date('2026-11-10T10:05:00Z'), data_interval_end: new Date('2026-11-10T10:10:02Z') },
      304,
    ],
    [
      'reads events by their own time',
      {
        by_stored_time: false,
        data_interval_start: new Date('2010-01-01T00:00:02Z'),
        data_interval_end: new Date('2010-01-01T00:00:04Z'),
      },
      6,
    ],
    ['reads events with some names', { destination_config: { include_events: ['buy', 'large'] } }, 15],
    ['reads events with a property', { filters: [{ type: 'event', key: 'n', operator: 'gt', value: 0 }] }, 2505],
    [
      'reads events by properties of persons at ingestion',
      { filters: [{ type: 'person', key: 'plan', operator: 'is_not', value: 'free' }] },
      2515,
    ],
    ['reads events without some names', { destination_config: { exclude_events: ['page'], include_events: [] } }, 15],
    [
      'reads nothing from an interval without events',
      { data_interval_start: new Date('2026-11-10T12:00:00Z'), data_interval_end: new Date('2026-11-10T13:00:00Z') },
      0,
    ],
  ])('%s', async (_name, fields, count) => {
    const now = Date.now();
    const filters = fields.filters ?? [];
    const where = await readEventFilters(fixture.database.sql, { projectId: environmentId, filters, now });
    const expected = await fixture.database.transaction(async (tx) => {
      await openCursor(tx, run(fields), where);
      const rows: EventRecord[] = [];
      for await (const page of readPages<EventRecord>(tx)) rows.push(...page);
      return rows;
    });
    const [rows, sizes]: [EventRecord[], number[]] = [[], []];
    const events = createEventStore(createClickHouseEngine(client));
    for await (const page of readStoredPages(
      events,
      selectEventsOfRun(run(fields), where),
      new AbortController().signal,
    )) {
      rows.push(...page);
      sizes.push(page.reduce((sum, { properties }) => sum + properties.length, 0));
    }
    expect(rows).toHaveLength(count);
    expect(rows).toMatchObject(expected);
    // A page can exceed its target size of 4 MiB by one event.
    expect(Math.max(0, ...sizes)).toBeLessThan(6 * 1024 * 1024);
  });

  test('exports events only after they and their persons were copied to ClickHouse', async () => {
    const { sql } = fixture.database;
    const until = createCopiedUntil(sql, fixture.atOnce);
    expect(await until()).toBeNull();
    await sql.query("INSERT INTO event_store_copy (store, copied_until) VALUES ('clickhouse', '2026-11-10T10:30:00Z')");
    expect(await until()).toEqual(new Date('2026-11-10T10:30:00Z'));
    await sql.query("UPDATE event_store_copy SET copied_until = '2199-01-01'");
    await sql.query(
      "INSERT INTO event_store_copy (store, copied_until) VALUES ('clickhouse persons', '2026-11-10T10:20:00Z')",
    );
    expect(await until()).toEqual(new Date('2026-11-10T10:20:00Z'));
    await sql.query("UPDATE event_store_copy SET copied_until = '2199-01-01'");
    expect(Number(await until())).toBeLessThan(Date.now() + 1000);
  });
});
