import { createPersonalApiKey } from '@millrace/accounts';
import type { GrantedScope } from '@millrace/contracts';
import { createActors, type OrganizationActors } from '../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../testing/start-test-api.ts';

const webhook = 'https://user:word@hooks.slack.com/services/T0/B0/secret?token=secret';
const masked = 'https://hooks.slack.com/********';

let api: TestApi;
let actors: OrganizationActors;
beforeAll(async () => {
  api = await startTestApi();
  actors = await createActors(api.database);
});
afterAll(() => api.stop());

const keyOfOwner = async (scopes: GrantedScope[], expiresAt?: Date) => {
  const { key, value } = await createPersonalApiKey(api.database.sql, {
    actor: null,
    userId: actors.W.userId,
    label: 'Narrow',
    scopes,
    ...(expiresAt && { expiresAt }),
  });
  return { id: key.id, value };
};
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
const itemPaths = () => [
  `/api/projects/${actors.projectId}/`,
  `/api/environments/${actors.projectId}/`,
  `/api/organizations/${actors.organizationId}/projects/${actors.projectId}/`,
  `/api/projects/${actors.projectId}/environments/${actors.projectId}/`,
  `/api/environments/${actors.projectId}/access_controls/`,
];

test('shows the Slack webhook only to administrators whose key can change it, and ignores a mask in a request', async () => {
  const [path = ''] = itemPaths();
  const changed = await api.send('PATCH', path, { key: actors.A.key, body: { slack_incoming_webhook: webhook } });
  expect(changed.body.slack_incoming_webhook).toBe(webhook);
  const reader = await keyOfOwner(['project:read']);
  for (const item of itemPaths()) {
    for (const key of [actors.M.key, reader.value]) {
      const { body } = await api.get(item, key);
      expect([item, body.slack_incoming_webhook]).toEqual([item, masked]);
      expect(JSON.stringify(body)).not.toMatch(/secret"|services|word@/);
    }
    for (const key of [actors.A.key, actors.W.key]) {
      expect((await api.get(item, key)).body.slack_incoming_webhook).toBe(webhook);
    }
  }
  const body = { slack_incoming_webhook: masked, anonymize_ips: true };
  for (const method of ['PATCH', 'PUT'] as const) {
    const response = await api.send(method, path, { key: actors.M.key, body });
    expect(response).toMatchObject({ status: 200, body });
  }
  expect((await api.get(path, actors.A.key)).body.slack_incoming_webhook).toBe(webhook);
  const { body: activity } = await api.get(`${path}activity/?limit=1`, actors.A.key);
  expect(JSON.stringify(activity)).not.toContain('slack');
});

test('returns 400 naming the field for the mask of a different URL, also for a new environment', async () => {
  const [path = ''] = itemPaths();
  const body = { slack_incoming_webhook: 'https://elsewhere.example/********' };
  const refused = { status: 400, body: { attr: 'slack_incoming_webhook' } };
  expect(await api.send('PATCH', path, { key: actors.A.key, body })).toMatchObject(refused);
  expect(await api.send('POST', `${path}environments/`, { key: actors.A.key, body })).toMatchObject(refused);
});

test.each([
  ['webhook', 'https://example.com/in/secret'],
  ['slack', 'https://hooks.slack.com/services/secret'],
])("shows a report's %s target only to administrators", async (type, address) => {
  const path = `/api/environments/${actors.projectId}/subscriptions/`;
  const subscription = { target_type: type, target_value: address, frequency: 'daily', start_date: '2026-11-01' };
  const { body: made } = await api.send('POST', path, { key: actors.A.key, body: subscription });
  expect(made.target_value).toBe(address);
  const item = `${path}${made.id}/`;
  const reader = await keyOfOwner(['subscription:read']);
  const mask = `${new URL(address).origin}/********`;
  for (const key of [actors.M.key, reader.value]) {
    expect((await api.get(item, key)).body.target_value).toBe(mask);
    const { body: list } = await api.get(path, key);
    expect(list.results.find((one: { id: number }) => one.id === made.id).target_value).toBe(mask);
    const { body: reports } = await api.get(`${item}deliveries/`, key);
    expect(reports.results).toEqual([expect.objectContaining({ target: mask })]);
  }
  expect((await api.get(`${item}deliveries/`, actors.A.key)).body.results[0].target).toBe(address);
  const put = { ...subscription, target_value: mask, title: 'Numbers' };
  for (const [method, body] of [
    ['PATCH', { target_value: mask, title: 'Numbers' }],
    ['PUT', put],
  ] as const) {
    const response = await api.send(method, item, { key: actors.M.key, body });
    expect(response).toMatchObject({ status: 200, body: { target_value: mask, title: 'Numbers' } });
  }
  expect((await api.get(item, actors.A.key)).body.target_value).toBe(address);
  expect((await api.get(`${item}deliveries/`, actors.A.key)).body.count).toBe(1);
  const wrong = { target_value: 'https://elsewhere.example/********' };
  expect(await api.send('PATCH', item, { key: actors.A.key, body: wrong })).toMatchObject({
    status: 400,
    body: { attr: 'target_value' },
  });
});

test('shows email addresses and Slack channels to all members', async () => {
  const path = `/api/environments/${actors.projectId}/subscriptions/`;
  const common = { frequency: 'daily', start_date: '2026-11-01' };
  for (const [target_type, target_value] of [
    ['email', 'ada@example.com'],
    ['slack', 'C123|#numbers'],
  ]) {
    const target = { target_type, target_value };
    const response = await api.send('POST', path, { key: actors.M.key, body: { ...common, ...target } });
    expect(response).toMatchObject({ status: 201, body: target });
  }
});

test('live-046: no response contains a live events token for a key without `event:read`', async () => {
  const narrow = await keyOfOwner(['project:write']);
  for (const item of itemPaths()) {
    expect([item, (await api.get(item, narrow.value)).body.live_events_token]).toEqual([item, null]);
  }
  const [path = ''] = itemPaths();
  const responses = [
    await api.send('PATCH', path, { key: narrow.value, body: { timezone: 'UTC' } }),
    await api.send('PATCH', `${path}reset_token/`, { key: narrow.value }),
    await api.send('PATCH', `${path}rotate_secret_token/`, { key: narrow.value }),
    await api.send('PATCH', `${path}add_product_intent/`, { key: narrow.value, body: { product_type: 'surveys' } }),
    await api.send('POST', `${path}environments/`, { key: narrow.value, body: { name: 'Staging' } }),
    await api.send('POST', '/api/projects/', { key: narrow.value, body: { name: 'Shop' } }),
  ];
  expect(responses.map(({ status, body }) => [status, body.live_events_token])).toEqual(
    [200, 200, 200, 201, 201, 201].map((status) => [status, null]),
  );
});

test('live-047: a token identifies its key and user, and expires no later than the key', async () => {
  const [path = ''] = itemPaths();
  const endsAt = new Date(Date.now() + 3_600_500);
  const short = await keyOfOwner(['project:read', 'event:read'], endsAt);
  const claims = claimsOf((await api.get(path, short.value)).body.live_events_token);
  expect(claims).toMatchObject({ user_id: actors.W.userId, key_id: short.id, team_id: actors.projectId });
  expect(claims.exp).toBe(Math.floor(endsAt.getTime() / 1000));
  const long = claimsOf((await api.get(path, actors.W.key)).body.live_events_token);
  const days = (long.exp - Date.now() / 1000) / 86_400;
  expect(days).toBeGreaterThan(6.9);
  expect(days).toBeLessThanOrEqual(7);
});

test('links to other pages omit the key in the query string', async () => {
  const { value } = await keyOfOwner(['*']);
  const pages = [
    '/api/projects/?limit=1',
    `/api/projects/${actors.projectId}/activity/?limit=1`,
    `/api/environments/?limit=1&offset=1`,
  ];
  for (const page of pages) {
    const response = await api.get(`${page}&personal_api_key=${value}`);
    expect([page, response.status]).toEqual([page, 200]);
    expect(response.body.next ?? response.body.previous).toContain('limit=1');
    expect(JSON.stringify(response.body)).not.toContain('personal_api_key');
  }
});
