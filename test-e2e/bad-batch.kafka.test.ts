import { createTestTenant, eventually } from '@millrace/testing';
import { createManagementClient, type ManagementClient } from './support/management-client.ts';
import { post } from './support/post.ts';
import { eventLogs, type RunningServices, startServices } from './support/start-services.ts';

/**
 * The response to a rejected request gives a reason, and warnings list dropped events
 * (docs/wire-rules.md#dropped-events).
 */
describe.each(eventLogs)('bad input with the %s event log', (eventLog) => {
  let services: RunningServices;
  let api: ManagementClient;

  beforeAll(async () => {
    services = await startServices({ eventLog });
    api = createManagementClient(services);
  });
  afterAll(() => services?.stop());

  test('returns 200 for a batch of 50 with three bad items, and warns about the two dropped items', async () => {
    const good = (n: number) => ({ event: 'in batch', distinct_id: `person-${n}`, properties: { n } });
    const batch: object[] = Array.from({ length: 50 }, (_, n) => good(n));
    batch[10] = { distinct_id: 'person-10', properties: { n: 10 } };
    batch[20] = { event: 'in batch', distinct_id: '', properties: { n: 20 } };
    batch[30] = { ...good(30), properties: { n: 30, nul: 'a\u0000b', surrogate: 'c\ud800d', 'key\u0000': 1 } };
    const response = await post(`${services.ingestUrl}/batch/`, { api_key: services.tenant.projectApiKey, batch });
    expect(response).toMatchObject({ status: 200, body: { status: 'Ok' } });

    const rows = await eventually(async () => {
      const found = await api.events({ event: 'in batch' });
      expect(found.length).toBeGreaterThanOrEqual(48);
      return found;
    });
    const numbers = Array.from({ length: 50 }, (_, n) => n).filter((n) => n !== 10 && n !== 20);
    expect(rows.map(({ properties }) => Number(properties.n)).sort((a, b) => a - b)).toEqual(numbers);
    expect(rows.find(({ properties }) => properties.n === 30)?.properties).toMatchObject({
      nul: 'a\ufffdb',
      surrogate: 'c\ufffdd',
      'key\ufffd': 1,
    });
    await eventually(async () =>
      expect(await warningsOf(api)).toEqual([
        { type: 'missing_distinct_id', severity: 'error', count: 1 },
        { type: 'missing_event_name', severity: 'error', count: 1 },
      ]),
    );
    const everything = await api.events();
    expect(everything).toHaveLength(48);
  });

  test('returns 200 for items with invalid fields or a truncated ID, and names each problem', async () => {
    const tenant = await createTestTenant(services.databaseUrl);
    const own = createManagementClient({ ...services, tenant });
    const item = (more: object) => ({ event: 'mixed', distinct_id: 'somebody', ...more });
    const batch = [
      item({ properties: [], $set: [] }),
      item({ properties: 5 }),
      null,
      item({ uuid: 'one' }),
      item({ distinct_id: `${'x'.repeat(200)}1`, timestamp: Date.now() / 1000 }),
    ];
    const response = await post(`${services.ingestUrl}//batch/`, { api_key: tenant.projectApiKey, batch });
    expect(response).toMatchObject({ status: 200, body: { status: 'Ok' } });
    await eventually(async () =>
      expect(await warningsOf(own)).toEqual([
        { type: 'distinct_id_truncated', severity: 'warning', count: 1 },
        { type: 'invalid_event', severity: 'error', count: 3 },
      ]),
    );
    const rows = await eventually(async () => {
      const found = await own.events();
      expect(found.length).toBeGreaterThanOrEqual(2);
      return found;
    });
    expect(rows.map(({ distinct_id: id }) => id).sort()).toEqual(['somebody', 'x'.repeat(200)]);
  });

  test('returns 400 naming the first problem if all items of a batch are invalid', async () => {
    const batch = [{ event: 'x', distinct_id: 'y', properties: 'z' }, 5];
    const response = await post(`${services.ingestUrl}/batch/`, { api_key: services.tenant.projectApiKey, batch });
    expect(response).toMatchObject({ status: 400, body: { type: 'validation_error', attr: 'batch__0__properties' } });
  });

  test('returns 400 for malformed JSON', async () => {
    const response = await post(`${services.ingestUrl}/capture/`, '{"api_key": "phc_x", "event": ');
    expect(response).toMatchObject({
      status: 400,
      body: { type: 'validation_error', code: expect.any(String), detail: expect.any(String) },
    });
    expect(response.body).toHaveProperty('attr');
  });

  test('returns 400 naming a field with a wrong type', async () => {
    const response = await post(`${services.ingestUrl}/batch/`, { api_key: services.tenant.projectApiKey, batch: 'x' });
    expect(response).toMatchObject({ status: 400, body: { type: 'validation_error', attr: 'batch' } });
  });

  test('returns 401 naming the field for an unknown key', async () => {
    const response = await post(`${services.ingestUrl}/capture/`, {
      api_key: 'phc_nobody_has_this_key_00000000000000000000000',
      event: 'x',
      distinct_id: 'y',
    });
    expect(response).toMatchObject({
      status: 401,
      body: { type: 'authentication_error', code: 'invalid_api_key', detail: expect.any(String), attr: 'api_key' },
    });
  });

  test('returns 413 for a body of 21 MB', async () => {
    const response = await post(`${services.ingestUrl}/batch/`, {
      api_key: services.tenant.projectApiKey,
      batch: [{ event: 'x', distinct_id: 'y', properties: { text: 'x'.repeat(21 * 1024 * 1024) } }],
    });
    expect(response).toMatchObject({ status: 413, body: { code: 'request_too_large', detail: expect.any(String) } });
    expect(response.body).toHaveProperty('attr');
  });
});

async function warningsOf(api: ManagementClient) {
  const found = (await api.warnings()).map(({ type, severity, count }) => ({ type, severity, count }));
  return found.sort((one, other) => one.type.localeCompare(other.type));
}
