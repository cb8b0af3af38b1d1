import { createTestTenant } from '@millrace/testing';
import { storeExport } from '../testing/stored-export.ts';
import { storeSubscription } from '../testing/stored-subscription.ts';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import { deleteOldRecords } from './retention.ts';

let fixture: WorkerFixture;
beforeAll(async () => {
  fixture = await startWorkerFixture();
});
afterAll(() => fixture.stop());

test('deletes old report deliveries and export runs, but not recent or pending ones', async () => {
  const { sql } = fixture.database;
  const { environmentId } = await createTestTenant(fixture.database);
  const subscription = await storeSubscription(sql, environmentId);
  const exported = await storeExport(sql, environmentId);
  for (const [status, days] of [
    ['delivered', 91],
    ['delivered', 89],
    ['pending', 91],
  ]) {
    await sql.query(
      `INSERT INTO subscription_delivery (id, subscription_id, occasion, due_at, target, status, attempt_at)
         VALUES (gen_random_uuid(), $1, 'scheduled', now() - random() * interval '1 day', 'a@x.com', $2,
                 now() - make_interval(days => $3::int))`,
      [subscription, status, days],
    );
  }
  for (const [status, days] of [
    ['Completed', 91],
    ['Failed', 89],
    ['FailedRetryable', 91],
  ]) {
    await sql.query(
      `INSERT INTO batch_export_run (id, batch_export_id, data_interval_start, data_interval_end, status, attempt_at)
       VALUES (gen_random_uuid(), $1, now(), now(), $2, now() - make_interval(days => $3::int))`,
      [exported, status, days],
    );
  }
  for (const [token, days] of [
    ['phc_old', 91],
    ['phc_recent', 89],
  ]) {
    await sql.query('INSERT INTO former_project_key VALUES ($1, $2, now() - make_interval(days => $3::int))', [
      token,
      environmentId,
      days,
    ]);
  }
  while (await deleteOldRecords(sql, 90));
  expect(await sql.query('SELECT token FROM former_project_key')).toEqual([{ token: 'phc_recent' }]);
  expect(await sql.query('SELECT status FROM subscription_delivery ORDER BY status')).toEqual([
    { status: 'delivered' },
    { status: 'pending' },
  ]);
  expect(await sql.query('SELECT status FROM batch_export_run ORDER BY status')).toEqual([
    { status: 'Failed' },
    { status: 'FailedRetryable' },
  ]);
});
