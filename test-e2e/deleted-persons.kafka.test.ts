import { randomUUID } from 'node:crypto';
import { compilePrograms, eventually, type ServiceProcess, startService } from '@millrace/testing';
import { waitUntilDrained } from './support/log-progress.ts';
import { post } from './support/post.ts';
import { type RunningServices, startServices } from './support/start-services.ts';

/**
 * A person is deleted while the log still contains some of the person's events. A worker is killed during the deletion.
 * After the deletion, the same ID is used again.
 */
let services: RunningServices;
let worker: ServiceProcess | undefined;
let removeProgram: () => Promise<void>;
let startWorker: () => Promise<ServiceProcess>;
beforeAll(async () => {
  services = await startServices({ eventLog: 'postgres' });
  const program = await compilePrograms(['services/delivery-worker/src/main.ts']);
  removeProgram = program.remove;
  const settings = { DATABASE_URL: services.databaseUrl, HEALTH_PORT: '0', POLL_INTERVAL_MS: '20' };
  startWorker = () => startService('delivery-worker', program.files[0] ?? '', settings);
});
afterAll(async () => {
  await worker?.stop();
  await services?.stop();
  await removeProgram?.();
});

/** @returns the UUIDs of the events */
async function capture(distinctId: string, count: number, properties: object = {}): Promise<string[]> {
  const batch = Array.from({ length: count }, () => ({
    uuid: randomUUID(),
    event: 'seen',
    distinct_id: distinctId,
    properties,
  }));
  const { status } = await post(`${services.ingestUrl}/batch/`, { api_key: services.tenant.token, batch });
  expect(status).toBe(200);
  return batch.map(({ uuid }) => uuid);
}

async function api(method: string, path: string) {
  const { apiUrl, tenant } = services;
  const response = await fetch(`${apiUrl}/api/environments/${tenant.environmentId}/${path}`, {
    method,
    headers: { authorization: `Bearer ${tenant.personalApiKey}` },
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

const storedUuids = async (distinctId: string) => {
  const { rows } = await services.database.query<{ uuid: string }>(
    'SELECT uuid FROM event WHERE project_id = $1 AND distinct_id = $2',
    [services.tenant.environmentId, distinctId],
  );
  return rows.map(({ uuid }) => uuid);
};

test('deletes a person and drops their events in the log, and creates a new person for later events', async () => {
  const email = 'ada@example.com';
  for (let round = 0; round < 12; round += 1) await capture('ada', 500, { $set: { email } });
  const bob = await capture('bob', 10);
  await waitUntilDrained(services);
  const before = (await api('GET', 'persons/ada/')).body;
  expect(before.properties).toMatchObject({ email });

  const [consumer] = services.consumers;
  await consumer?.stop();
  await capture('ada', 50, { $set: { email } });
  expect(await api('DELETE', 'persons/ada/?delete_events=true')).toEqual({ status: 202, body: undefined });
  expect((await api('GET', 'persons/ada/')).status).toBe(404);

  worker = await startWorker();
  const progress = async () =>
    (await api('GET', `persons/${before.uuid}/activity/`)).body.results[0].detail.changes[0].after;
  await eventually(async () => (await progress()).events > 0, { what: 'The first portion', intervalMs: 5 });
  await worker.kill();
  worker = await startWorker();

  const later = await capture('ada', 3, { plan: 'pro' });
  services.consumers[0] = await services.startConsumer();
  await waitUntilDrained(services);
  await eventually(async () => (await progress()).status === 'completed', { what: 'Deleting' });
  expect(await progress()).toEqual({ status: 'completed', delete_events: true, events: 6000 });
  expect((await storedUuids('ada')).sort()).toEqual(later.sort());
  expect((await storedUuids('bob')).sort()).toEqual(bob.sort());
  const after = (await api('GET', 'persons/ada/')).body;
  expect([after.uuid === before.uuid, after.id === before.id, 'email' in after.properties]).toEqual([
    false,
    false,
    false,
  ]);
  expect((await api('GET', `persons/${before.uuid}/`)).status).toBe(404);
});
