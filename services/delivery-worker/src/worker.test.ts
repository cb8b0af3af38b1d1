import { createTestTenant, eventually } from '@millrace/testing';
import { storeSubscription } from './testing/stored-subscription.ts';
import { startWorkerBed, type WorkerBed } from './testing/worker-bed.ts';
import { startWorker } from './worker.ts';

let bed: WorkerBed;
beforeAll(async () => {
  bed = await startWorkerBed();
});
afterAll(() => bed.stop());

test('a worker sends what is due once, clean up, and end when they are told to', async () => {
  const { sql } = bed.database;
  const [kept, gone] = [await createTestTenant(bed.database), await createTestTenant(bed.database)];
  await storeSubscription(sql, kept.environmentId, { next_delivery_date: new Date() });
  await sql.query('DELETE FROM project WHERE id = $1', [gone.projectId]);
  await sql.query('UPDATE environment_cleanup SET not_before = now()');
  const options = {
    publicAppUrl: undefined,
    mayBePrivate: true,
    pollIntervalMs: 20,
    keepOutcomesDays: 90,
    keepDeletedIdsDays: 90,
  };
  const worker = startWorker(bed, options);
  await eventually(() => bed.mailServer.mails.length > 0, { what: 'The report' });
  await eventually(async () => (await sql.query('SELECT 1 FROM environment_cleanup')).length === 0, {
    what: 'Cleaning up',
  });
  await worker.stop();
  expect(bed.mailServer.mails.length).toBe(1);
  expect(await bed.metrics.registry.metrics()).toContain(
    'subscription_deliveries_total{target_type="email",result="delivered"} 1',
  );
});
