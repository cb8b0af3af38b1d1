import { createTestTenant } from '@millrace/testing';
import { storeEvents } from '../testing/stored-export.ts';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import type { ClaimedRun, EventRecord } from './destination.ts';
import { readPages } from './read.ts';
import { openCursor } from './store.ts';

let fixture: WorkerFixture;
beforeAll(async () => {
  fixture = await startWorkerFixture();
});
afterAll(() => fixture.stop());

const mebibyte = 1024 * 1024;

test('reads pages of about 4 MiB, even if large events follow small ones', async () => {
  const { sql, transaction } = fixture.database;
  const { environmentId, organizationId } = await createTestTenant(fixture.database);
  await storeEvents(sql, environmentId, { count: 2500, from: '2026-11-10T00:00:00Z' });
  const properties = JSON.stringify({ large: 'x'.repeat(mebibyte / 4) });
  await storeEvents(sql, environmentId, { count: 100, from: '2026-11-10T12:00:00Z', properties });
  const run: ClaimedRun = {
    ...{ id: '', attempts: 1, by_stored_time: true, batch_export_id: '', organization_id: organizationId },
    data_interval_start: new Date('2026-11-10T00:00:00Z'),
    data_interval_end: new Date('2026-11-11T00:00:00Z'),
    ...{ environment_id: environmentId, model: 'events', filters: null, query: null, destination_type: 'S3' },
    ...{ destination_config: {}, destination_secrets: {} },
  };
  const pages: { rows: number; bytes: number }[] = [];
  const uuids = new Set<string>();
  await transaction(async (tx) => {
    await openCursor(tx, run, { all: [] });
    for await (const page of readPages<EventRecord>(tx)) {
      pages.push({ rows: page.length, bytes: page.reduce((sum, row) => sum + row.properties.length, 0) });
      for (const { uuid } of page) uuids.add(uuid);
    }
  });
  expect(uuids.size).toBe(2600);
  expect(Math.max(...pages.map(({ rows }) => rows))).toBeLessThan(2100);
  // A page can contain up to 32 rows that are larger than expected.
  expect(Math.max(...pages.map(({ bytes }) => bytes))).toBeLessThan(13 * mebibyte);
  expect(pages.length).toBeLessThan(12);
});
