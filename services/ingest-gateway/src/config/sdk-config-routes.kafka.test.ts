import { gzipSync } from 'node:zlib';
import { createTestTenant } from '@millrace/testing';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';

let fixture: GatewayFixture;
let gateway: TestGateway;
let token: string;
const origin = 'https://app.example';

beforeAll(async () => {
  fixture = await createGatewayFixture();
  gateway = await fixture.startGateway();
  const tenant = await createTestTenant(fixture.database, { plan: 'full' });
  ({ token } = tenant);
  secret.authorization = `Bearer ${tenant.personalApiKey}`;
});
afterAll(() => fixture.stop());

async function ask(path: string, init: RequestInit = {}) {
  const response = await fetch(gateway.url + path, {
    redirect: 'manual',
    ...init,
    headers: { origin, ...init.headers },
  });
  const text = await response.text();
  const { status, headers } = response;
  return { status, headers, text, json: text.startsWith('{') ? JSON.parse(text) : null };
}
const question = () => JSON.stringify({ token, distinct_id: 'u' });
const noneV4 = { flags: {}, errorsWhileComputingFlags: false, requestId: expect.any(String) };
const noneV3 = { featureFlags: {}, featureFlagPayloads: {}, errorsWhileComputingFlags: false };
const secret = { authorization: '' };

describe('SDK paths other than capture, with and without a trailing slash', () => {
  test.each<[string, string, RequestInit, object]>([
    ['7', '/flags?v=2', { method: 'POST' }, noneV4],
    ['8', '/flags?v=2&config=true', { method: 'POST' }, { ...noneV4, supportedCompression: ['gzip', 'gzip-js'] }],
    ['9 v1', '/decide', { method: 'POST' }, { featureFlags: [], supportedCompression: ['gzip', 'gzip-js'] }],
    ['9 v2', '/decide?v=2', { method: 'POST' }, { featureFlags: {}, sessionRecording: false }],
    ['9 v3', '/decide?v=3', { method: 'POST' }, noneV3],
    ['9 v4', '/decide?v=4', { method: 'POST' }, noneV4],
    ['13', '/s', { method: 'POST' }, { status: 'Ok', quota_limited: ['recordings'] }],
    ['14', '/api/surveys?token=', {}, { surveys: [] }],
    ['15', '/api/early_access_features?token=', {}, { earlyAccessFeatures: [] }],
    ['16', '/api/web_experiments?token=', {}, { experiments: [] }],
    ['17', '/flags/definitions?send_cohorts&token=', { headers: secret }, { flags: [], cohorts: {} }],
    ['18', '/api/feature_flag/local_evaluation?token=', { headers: secret }, { flags: [], group_type_mapping: {} }],
  ])('row %s: %s', async (_row, path, init, expected) => {
    const [bare = '', query = ''] = path.split('?');
    for (const at of [bare, `${bare}/`]) {
      const url = query === '' ? at : `${at}?${query.replace('token=', `token=${token}`)}`;
      const response = await ask(url, init.method === 'POST' ? { ...init, body: question() } : init);
      expect([url, response.status]).toEqual([url, 200]);
      expect(response.json).toMatchObject(expected);
      expect(response.headers.get('access-control-allow-origin')).toBe(origin);
      expect(response.headers.get('access-control-allow-credentials')).toBe('true');
    }
  });

  test("rows 10 and 11: the config contains the environment's settings", async () => {
    const { token: own } = await createTestTenant(fixture.database, { plan: 'full' });
    await fixture.database.sql.query(
      `UPDATE environment SET autocapture_opt_out = true, autocapture_exceptions_opt_in = true,
         autocapture_web_vitals_opt_in = true, autocapture_web_vitals_allowed_metrics = '["LCP"]' WHERE api_token = $1`,
      [own],
    );
    const plain = await ask(`/array/${token}/config`);
    expect(plain.json).toMatchObject({
      token,
      autocapture_opt_out: false,
      heatmaps: false,
      sessionRecording: false,
      hasFeatureFlags: false,
      supportedCompression: ['gzip', 'gzip-js'],
      analytics: { endpoint: '/i/v0/e/' },
    });
    expect(plain.json).not.toHaveProperty('surveys');
    expect((await ask(`/array/${own}/config`)).json).toMatchObject({
      autocapture_opt_out: true,
      errorTracking: { autocaptureExceptions: true },
      millrace: { web_vitals: true, web_vitals_allowed_metrics: ['LCP'] },
    });
    const script = await ask(`/array/${token}/config.js`);
    expect(script.headers.get('content-type')).toMatch(/^application\/javascript/);
    const window: { _POSTHOG_REMOTE_CONFIG?: Record<string, unknown> } = {};
    new Function('window', script.text)(window);
    expect(window._POSTHOG_REMOTE_CONFIG).toEqual({ [token]: { config: plain.json, siteApps: [] } });
  });

  test('rows 8 to 11: return an uncached default response while the settings cannot be read', async () => {
    const down = await fixture.startGateway({ keys: { sql: { query: () => Promise.reject(new Error('down')) } } });
    for (const path of [`/array/${token}/config`, `/array/${token}/config.js`]) {
      const response = await fetch(down.url + path);
      const text = await response.text();
      expect([path, response.status]).toEqual([path, 200]);
      expect(text).toContain('"supportedCompression":["gzip","gzip-js"]');
      // With `true`, browsers request the flags, and keep their cached ones if that fails.
      expect(text).toContain('"hasFeatureFlags":true');
      // Without the field, browsers keep its last value. With `false`, they could capture events although the project
      // has disabled this.
      expect(text).not.toContain('autocapture_opt_out');
      expect(response.headers.get('cache-control')).toBe('no-store');
    }
    for (const path of ['/decide/?v=3', '/flags/?v=2&config=true']) {
      expect((await fetch(down.url + path, { method: 'POST', body: question() })).status).toBe(503);
    }
    const known = await ask(`/array/${token}/config`);
    expect(known.headers.get('cache-control')).toBe('public, max-age=60');
  });

  test.each([
    ['7', '/flags', 'v=2', noneV4],
    ['9 v3', '/decide', 'v=3', noneV3],
  ])('row %s: GET %s', async (_row, path, version, expected) => {
    const data = encodeURIComponent(Buffer.from(question()).toString('base64'));
    for (const asked of [`token=${token}&distinct_id=u`, `data=${data}`, `data=${encodeURIComponent(question())}`]) {
      const response = await ask(`${path}/?${version}&${asked}`);
      expect([response.status, response.json]).toEqual([200, expect.objectContaining(expected)]);
      expect(response.headers.get('cache-control')).toBe('no-store');
    }
    expect(await ask(`${path}?${version}&token=${token}`)).toMatchObject({ status: 400 });
    expect(await ask(`${path}?${version}&token=phc_nobody&distinct_id=u`)).toMatchObject({ status: 401 });
  });

  test.each<[string, (json: string) => string | Uint8Array, Record<string, string>]>([
    ['gzip by header', (json) => gzipSync(json), { 'content-encoding': 'gzip' }],
    ['gzip without a hint', (json) => gzipSync(json), { 'content-type': 'text/plain' }],
    ['base64', (json) => Buffer.from(json).toString('base64'), { 'content-type': 'text/plain' }],
    [
      'a form',
      (json) => `data=${encodeURIComponent(Buffer.from(json).toString('base64'))}`,
      { 'content-type': 'application/x-www-form-urlencoded' },
    ],
  ])('rows 7 and 9: the paths accept %s', async (_name, encode, headers) => {
    for (const path of ['/flags/?v=2', '/decide/?v=3']) {
      const body = encode(question()) as string;
      expect(await ask(path, { method: 'POST', body, headers })).toMatchObject({ status: 200 });
    }
  });

  test('row 12: serves no scripts', async () => {
    expect((await ask('/static/array.js')).status).toBe(404);
    expect((await ask(`/array/${token}/array.js`)).status).toBe(404);
  });

  test('rows 17 and 18 return 304 for a matching ETag', async () => {
    const path = `/flags/definitions?token=${token}`;
    const etag = (await ask(path, { headers: secret })).headers.get('etag') ?? '';
    expect((await ask(path, { headers: { ...secret, 'if-none-match': etag } })).status).toBe(304);
    expect((await ask(path)).status).toBe(401);
  });

  test('responds without a body to a beacon with a recording', async () => {
    expect(await ask('/s/?beacon=1', { method: 'POST', body: 'x' })).toMatchObject({ status: 204, text: '' });
  });
});

describe('errors that web pages can read', () => {
  test.each<[string, string, RequestInit, number, string]>([
    ['an unknown key', '/array/phc_nobody/config', {}, 401, 'invalid_api_key'],
    ['an unknown key', '/array/phc_nobody/config.js', {}, 401, 'invalid_api_key'],
    ['a personal API key', '/array/phx_a/config', {}, 401, 'personal_api_key'],
    ['no key', '/api/surveys/', {}, 401, 'missing_api_key'],
    ['two keys', '/api/surveys/?token=a&token=b', {}, 401, 'not_string'],
    ['no body', '/flags/?v=2', { method: 'POST' }, 400, 'no_data'],
    ['not an object', '/flags/?v=2', { method: 'POST', body: '[]' }, 400, 'invalid_payload'],
    ['no key', '/flags/?v=2', { method: 'POST', body: '{"distinct_id":"a"}' }, 401, 'not_authenticated'],
    [
      'an unknown key',
      '/decide/',
      { method: 'POST', body: '{"token":"phc_no","distinct_id":"a"}' },
      401,
      'authentication_failed',
    ],
    ['a wrong method', '/flags', { method: 'DELETE' }, 405, 'method_not_allowed'],
    ['a wrong method', '/api/surveys', { method: 'POST' }, 405, 'method_not_allowed'],
    ['a broken escape', '/array/%zz/config', {}, 400, 'invalid_path'],
  ])('%s: %s', async (_name, path, init, status, code) => {
    const response = await ask(path, init);
    expect([response.status, response.json?.code]).toEqual([status, code]);
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    if (status === 405) expect(response.headers.get('allow')).toMatch(/^(?:GET, HEAD, POST|GET, HEAD|POST), OPTIONS$/);
  });

  test('returns an error for a flag request without a distinct ID', async () => {
    const response = await ask('/flags/?v=2', { method: 'POST', body: JSON.stringify({ token }) });
    expect([response.status, response.json.code]).toEqual([400, 'missing_distinct_id']);
  });
});
