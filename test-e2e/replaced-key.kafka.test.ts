import { eventually } from '@millrace/testing';
import { waitUntilDrained } from './support/log-progress.ts';
import { post } from './support/post.ts';
import { type RunningServices, startServices } from './support/start-services.ts';

/**
 * A project API key is rotated while the log contains 200 events that were sent with the old key. No acknowledged event
 * may be lost. The test has no Redis server.
 */
let services: RunningServices;
beforeAll(async () => {
  services = await startServices({ eventLog: 'postgres' });
});
afterAll(() => services?.stop());

const storedEvents = async () => {
  const { rows } = await services.database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM event WHERE project_id = $1',
    [services.tenant.environmentId],
  );
  return rows[0]?.count;
};

test('after a key rotation, stores 200 pending events, rejects the old key and accepts the new key', async () => {
  const { tenant, ingestUrl, apiUrl } = services;
  await Promise.all(services.consumers.map((consumer) => consumer.stop()));
  const send = async (api_key: string, events: number) => {
    const batch = Array.from({ length: events }, (_, index) => ({ event: 'e', distinct_id: `d${index % 20}` }));
    return (await post(`${ingestUrl}/batch/`, { api_key, batch })).status;
  };
  expect(await send(tenant.token, 200)).toBe(200);

  const response = await fetch(`${apiUrl}/api/environments/${tenant.environmentId}/reset_token/`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${tenant.personalApiKey}` },
  });
  expect(response.status).toBe(200);
  const { api_token: newKey } = (await response.json()) as { api_token: string };
  // Count the acknowledged events with the old key, because none of them may be lost.
  let acknowledged = 200;
  await eventually(
    async () => {
      const status = await send(tenant.token, 1);
      if (status === 200) acknowledged += 1;
      expect(status).toBe(401);
    },
    { what: 'Refusing the old key' },
  );
  await eventually(async () => expect(await send(newKey, 1)).toBe(200), {
    what: 'Taking the new key',
  });
  acknowledged += 1;

  for (const place of services.consumers.keys()) services.consumers[place] = await services.startConsumer();
  await waitUntilDrained(services);
  expect(await storedEvents()).toBe(acknowledged);
});
