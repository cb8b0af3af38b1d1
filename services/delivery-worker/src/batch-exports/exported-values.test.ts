import { randomUUID } from 'node:crypto';
import { createTestTenant } from '@millrace/testing';
import { runOneRound } from '../testing/one-round.ts';
import { storeEvents, storeExport } from '../testing/stored-export.ts';
import { startWarehouse, type Warehouse } from '../testing/warehouse.ts';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import { planBackfill, planRun } from './plan.ts';
import { createExportMetrics, type ExportRunDeps, runDueExports } from './run.ts';

let fixture: WorkerFixture;
let warehouse: Warehouse;
let deps: ExportRunDeps;
beforeAll(async () => {
  fixture = await startWorkerFixture();
  warehouse = await startWarehouse();
  deps = { ...fixture, mayBePrivate: true, counter: createExportMetrics(fixture.metrics) };
});
afterAll(async () => {
  await warehouse.stop();
  await fixture.stop();
});

async function oneRun(fields: Record<string, unknown> = {}) {
  const { environmentId } = await createTestTenant(fixture.database);
  const table = `t_${randomUUID().slice(0, 8)}`;
  const id = await storeExport(fixture.database.sql, environmentId, {
    destination_config: { ...warehouse.config, table_name: table },
    end_at: '2026-11-10T11:00:00Z',
    ...fields,
  });
  return { environmentId, table, id };
}
const forever = new AbortController().signal;
async function exportAll() {
  while (await planRun(fixture));
  while (await runOneRound((slots) => runDueExports(deps, forever, slots)));
}
const runOf = async (id: string) =>
  (
    await fixture.database.sql.query(
      'SELECT status, records_completed, latest_error FROM batch_export_run WHERE batch_export_id = $1',
      [id],
    )
  )[0];

it.each([
  ['a text', '"hello"', 'hello'],
  ['a number', '5', 5],
  ['a list', '["a"]', ['a']],
  ['null', 'null', null],
])('exports `$set` and `$set_once` as JSON when they are %s', async (_kind, sent, exported) => {
  const { environmentId, table, id } = await oneRun();
  await storeEvents(fixture.database.sql, environmentId, {
    count: 1,
    from: '2026-11-10T10:00:00Z',
    properties: `{"$set": ${sent}, "$set_once": ${sent}, "$ip": 7}`,
  });
  await storeEvents(fixture.database.sql, environmentId, { count: 3, from: '2026-11-10T10:10:00Z' });
  await exportAll();
  expect(await runOf(id)).toEqual({ status: 'Completed', records_completed: 4, latest_error: null });
  expect(await warehouse.query(`SELECT set, set_once, ip FROM "${table}" WHERE properties ? '$set'`)).toEqual([
    { set: exported, set_once: exported, ip: '7' },
  ]);
});

it('exports distinct IDs of any length', async () => {
  const { environmentId, table } = await oneRun();
  await storeEvents(fixture.database.sql, environmentId, { count: 1, from: '2026-11-10T10:00:00Z' });
  const longId = 'x'.repeat(300);
  await fixture.database.sql.query('UPDATE event SET distinct_id = $2 WHERE project_id = $1', [environmentId, longId]);
  await exportAll();
  expect(await warehouse.query(`SELECT distinct_id FROM "${table}"`)).toEqual([{ distinct_id: longId }]);
});

describe('export filters', () => {
  const property = { type: 'event', key: 'plan', operator: 'exact', value: ['paid', 'trial'] };
  const ofPerson = { type: 'person', key: 'country', operator: 'icontains', value: 'DE' };
  const ofName = { type: 'event_metadata', key: 'event', operator: 'exact', value: ['buy'] };

  it.each([
    ['an empty list of filters', [], 8],
    ['a property of the event', [property], 4],
    ['an event name', [ofName], 4],
    ['a property of the person', [ofPerson], 4],
    ['a property of the event, one of the person, and an event name', [property, ofPerson, ofName], 1],
    ['a negated property', [{ ...property, operator: 'is_not' }], 4],
    ['either of two filters', [{ type: 'OR', values: [property, ofName] }], 6],
  ])('exports the events that match %s', async (_kind, filters, count) => {
    const { sql } = fixture.database;
    const { environmentId, table, id } = await oneRun({ filters: JSON.stringify(filters) });
    for (const [index, event] of ['page', 'buy'].entries()) {
      for (const plan of ['paid', 'free']) {
        for (const country of ['de', 'fr']) {
          const from = `2026-11-10T10:0${index}:00Z`;
          const properties = JSON.stringify({ plan, country });
          await storeEvents(sql, environmentId, { count: 1, from, event, properties });
        }
      }
    }
    await sql.query(
      `UPDATE event SET person_properties = jsonb_build_object('country', properties::jsonb -> 'country') WHERE project_id = $1`,
      [environmentId],
    );
    await exportAll();
    expect(await runOf(id)).toEqual({ status: 'Completed', records_completed: count, latest_error: null });
    expect(await warehouse.query(`SELECT count(*)::int AS n FROM "${table}"`)).toEqual([{ n: count }]);
  });

  it("applies an export's filters to backfills too", async () => {
    const { sql } = fixture.database;
    const filters = JSON.stringify([ofName]);
    const { environmentId, table, id } = await oneRun({ filters, next_interval_start: null, next_interval_end: null });
    await storeEvents(sql, environmentId, { count: 5, from: '2026-11-10T10:00:00Z' });
    await storeEvents(sql, environmentId, { count: 3, from: '2026-11-10T10:00:00Z', event: 'buy' });
    await sql.query(
      `INSERT INTO batch_export_backfill (id, batch_export_id, start_at, end_at, next_interval_start)
       VALUES ($1, $2, '2010-01-01T00:00:00Z', '2010-01-01T01:00:00Z', '2010-01-01T00:00:00Z')`,
      [`backfill of ${id}`, id],
    );
    await planBackfill(fixture.database);
    await exportAll();
    expect(await runOf(id)).toMatchObject({ status: 'Completed', records_completed: 3 });
    expect(await warehouse.query(`SELECT DISTINCT event FROM "${table}"`)).toEqual([{ event: 'buy' }]);
  });

  it('fails an export whose filter names a cohort that does not exist', async () => {
    const filters = [{ type: 'cohort', key: 'id', value: 123_456 }];
    const { id } = await oneRun({ filters: JSON.stringify(filters) });
    await exportAll();
    expect(await runOf(id)).toMatchObject({
      status: 'Failed',
      latest_error: expect.stringContaining('Cohort 123456 does not exist'),
    });
  });
});
