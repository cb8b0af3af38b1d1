import { randomUUID } from 'node:crypto';
import { eventually } from '@millrace/testing';
import { post } from './support/post.ts';
import { eventLogs, type RunningServices, startServices } from './support/start-services.ts';

/** Events become dead letters. After their cause is fixed, the API replays them to the consumer. */
describe.each(eventLogs)('dead letters with the %s event log', (eventLog) => {
  let services: RunningServices;
  beforeAll(async () => {
    services = await startServices({ eventLog });
  });
  afterAll(() => services?.stop());

  async function callApi(method: string, path: string, body?: object) {
    const { apiUrl, tenant } = services;
    const response = await fetch(`${apiUrl}/api/projects/${tenant.projectId}/dead_letters${path}`, {
      method,
      headers: { authorization: `Bearer ${tenant.personalApiKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as { results: { id: string; event: string; state: string }[]; replayed: number };
  }

  const stored = async () =>
    (await services.database.query<{ uuid: string }>('SELECT uuid FROM event ORDER BY uuid')).rows.map(
      ({ uuid }) => uuid,
    );

  test('console-030: stores a dead letter once if it is replayed twice at the same time', async () => {
    const uuids = [randomUUID(), randomUUID(), randomUUID()].sort();
    const [good = '', ...bad] = uuids;
    await services.database.query("ALTER TABLE event ADD CONSTRAINT no_poison CHECK (event <> 'poison')");
    const batch = uuids.map((uuid) => ({ uuid, event: uuid === good ? 'good' : 'poison', distinct_id: 'ada' }));
    expect((await post(`${services.ingestUrl}/batch/`, { api_key: services.tenant.token, batch })).status).toBe(200);
    let ids: string[] = [];
    await eventually(
      async () => {
        const { results } = await callApi('GET', '/');
        ids = results.map(({ id }) => id);
        expect(results.map(({ event, state }) => [event, state])).toEqual(bad.map(() => ['poison', 'waiting']));
        expect(await stored()).toEqual([good]);
      },
      { what: 'Giving up what the database refuses' },
    );
    await services.database.query('ALTER TABLE event DROP CONSTRAINT no_poison');
    const twice = await Promise.all([callApi('POST', '/replay/', { ids }), callApi('POST', '/replay/', { ids })]);
    expect(Math.max(...twice.map(({ replayed }) => replayed))).toBe(2);
    await eventually(async () => expect(await stored()).toEqual(uuids), { what: 'Storing what was replayed' });
    const { results } = await callApi('GET', '/');
    expect(results.map(({ state }) => state)).toEqual(['replayed', 'replayed']);
  });
});
