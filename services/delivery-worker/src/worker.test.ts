import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createMetrics } from '@millrace/runtime';
import { createTestTenant, eventually, patienceMs } from '@millrace/testing';
import { storeSubscription } from './testing/stored-subscription.ts';
import { startWorkerFixture, type WorkerFixture } from './testing/worker-fixture.ts';
import { startWorker } from './worker.ts';

let fixture: WorkerFixture;
beforeAll(async () => {
  fixture = await startWorkerFixture();
});
afterAll(() => fixture.stop());

const noLookups = () => Promise.reject(new Error('This test must not query the DNS.'));
const options = {
  publicAppUrl: undefined,
  publicApiUrl: undefined,
  mayBePrivate: true,
  pollIntervalMs: 20,
  keepOutcomesDays: 90,
  keepDeletedIdsDays: 90,
  recountCohortsHours: 24,
  keepWarningsDays: 90,
  keepActivityDays: 730,
  eventRetentionDays: 0,
  mailsPerHour: 0,
  exportsAtOnce: 2,
  lookUpChallenge: noLookups,
  postTimeoutMs: patienceMs,
};

test('workers send each due report once, clean up deleted data, and stop', async () => {
  const { sql } = fixture.database;
  const [other, deleted] = [await createTestTenant(fixture.database), await createTestTenant(fixture.database)];
  await storeSubscription(sql, other.environmentId, { next_delivery_date: new Date() });
  await sql.query('DELETE FROM project WHERE id = $1', [deleted.projectId]);
  await sql.query('UPDATE environment_cleanup SET not_before = now()');
  await sql.query(
    `INSERT INTO cookieless_salt (day, salt, expires_at)
     VALUES ('2026-01-01', '\\x00', now() - interval '1 second'), ('2999-01-01', '\\x00', now() + interval '1 hour')`,
  );
  const worker = startWorker({ ...fixture, copying: null }, options);
  await eventually(() => fixture.mailServer.mails.length > 0, { what: 'The report' });
  await eventually(async () => (await sql.query('SELECT 1 FROM environment_cleanup')).length === 0, {
    what: 'Cleaning up',
  });
  await eventually(async () => (await sql.query('SELECT 1 FROM cookieless_salt')).length === 1, {
    what: 'Forgetting a salt',
  });
  await worker.stop();
  expect(fixture.mailServer.mails.length).toBe(1);
  expect(await fixture.metrics.registry.metrics()).toContain(
    'millrace_subscription_deliveries_total{target_type="email",result="delivered"} 1',
  );
});

/** Starts a server that accepts connections and never responds. */
async function startSilence(): Promise<{ url: string; connections: () => number; stop(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    connections: () => sockets.size,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

test('an unresponsive target does not delay the reports of other organizations', async () => {
  const { sql } = fixture.database;
  const silence = await startSilence();
  const [bad, good] = [await createTestTenant(fixture.database), await createTestTenant(fixture.database)];
  const due = { target_type: 'webhook', next_delivery_date: new Date(), frequency: 'yearly' };
  for (let number = 0; number < 60; number += 1) {
    await storeSubscription(sql, bad.environmentId, { ...due, target_value: silence.url });
  }
  const worker = startWorker(
    { ...fixture, copying: null, metrics: createMetrics({ withProcessMetrics: false }) },
    options,
  );
  await eventually(() => silence.connections() > 0, { what: 'the first silence' });
  await storeSubscription(sql, good.environmentId, { ...due, target_value: `${fixture.receiver.url}/good` });
  await eventually(() => fixture.receiver.posts.length > 0, { what: 'the report of another organization' });
  // The deliveries to the unresponsive server are still open, so the report did not wait for them.
  const ended = await sql.query(`SELECT FROM subscription_delivery WHERE status = 'pending' AND error IS NOT NULL`);
  expect([ended.length, silence.connections() <= 5]).toEqual([0, true]);
  silence.stop();
  await worker.stop();
});
