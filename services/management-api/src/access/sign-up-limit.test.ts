import { randomUUID } from 'node:crypto';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { newInviteSecret } from '../testing/organization-actors.ts';
import { noLimits, startTestApi, type TestApi } from '../testing/start-test-api.ts';

/** Tests rate limits for clients without a key, and for repeated account changes. */
let api: TestApi;
let tenant: TestTenant;
beforeEach(async () => {
  const limits = { ...noLimits, signUpsPerMinute: 4, userChangesPerMinute: 5 };
  api = await startTestApi({ limits, trustedProxies: 1 });
  tenant = await createTestTenant(api.database);
});
afterEach(() => api.stop());

async function invite(): Promise<{ path: string; token: string }> {
  const path = `/api/organizations/${tenant.organizationId}/invites/`;
  const body = { target_email: `${randomUUID()}@example.com` };
  const { id } = (await api.send('POST', path, { key: tenant.personalApiKey, body })).body;
  const { token, hash: token_hash } = newInviteSecret();
  await api.database.prisma.organization_invite.update({ where: { id }, data: { token_hash } });
  return { path: `/api/signup/${id}/`, token };
}
const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
const look = (path: string, token: string, address: string) =>
  api.send('POST', `${path}look/`, { body: { token }, ...from(address) });

test('limits invite requests per IP address, even with the right secret, and returns 429 with Retry-After', async () => {
  const { path, token } = await invite();
  const statuses = [
    await look(path, token, '192.0.2.1'),
    await look(path, 'x', '192.0.2.1'),
    await look(`/api/signup/${randomUUID()}/`, token, '192.0.2.1'),
    await api.send('POST', path, { body: { token: 'x' }, ...from('192.0.2.1') }),
    await look(path, token, '192.0.2.1'),
    await api.send('POST', path, { body: { token }, ...from('192.0.2.1') }),
    await look(path, token, '192.0.2.2'),
  ].map(({ status }) => status);
  expect(statuses).toEqual([200, 404, 404, 404, 429, 429, 200]);
  const refused = await look(path, token, '192.0.2.1');
  expect(refused.body).toMatchObject({ type: 'throttled_error', code: 'throttled' });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
});

test('limits requests with a wrong secret per invite across all IP addresses, but not those with the right secret', async () => {
  const { path, token } = await invite();
  const statuses: number[] = [];
  for (let count = 0; count < 6; count += 1) statuses.push((await look(path, 'x', `192.0.2.${count}`)).status);
  expect(statuses).toEqual([404, 404, 404, 404, 429, 429]);
  expect((await look(path, token, '192.0.2.9')).status).toBe(200);
  expect((await api.send('POST', path, { body: { token }, ...from('192.0.2.9') })).status).toBe(201);
});

test('key-042: limits account changes with any key, including changes that fail, but does not limit reads', async () => {
  const patch = (body: object) => api.send('PATCH', '/api/users/@me/', { key: tenant.personalApiKey, body });
  const statuses: number[] = [];
  for (let count = 0; count < 7; count += 1) statuses.push((await patch({ first_name: { count } })).status);
  expect(statuses).toEqual([400, 400, 400, 400, 400, 429, 429]);
  expect((await patch({ first_name: 'Ada' })).status).toBe(429);
  expect((await api.get('/api/users/@me/', tenant.personalApiKey)).status).toBe(200);
  const other = await createTestTenant(api.database);
  const response = await api.send('PATCH', '/api/users/@me/', {
    key: other.personalApiKey,
    body: { first_name: 'Ada' },
  });
  expect(response.status).toBe(200);
});
