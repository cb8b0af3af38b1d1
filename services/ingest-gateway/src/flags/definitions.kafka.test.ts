import { gunzipSync } from 'node:zlib';
import { createPersonalApiKey, createProject, hashPersonalApiKey } from '@millrace/accounts';
import { flagPayloadEncryptionContext, type GrantedScope } from '@millrace/contracts';
import { createFlagRows, type FlagRows } from '@millrace/flags/store/testing/flag-rows';
import { createSecretBox } from '@millrace/runtime';
import { createTestTenant, eventually, type TestTenant } from '@millrace/testing';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';
import { createTestClock } from '../testing/traffic-probe.ts';

let fixture: GatewayFixture;
let gateway: TestGateway;
let rows: FlagRows;
let tenant: TestTenant;
const secretsKey = Buffer.alloc(32, 7).toString('base64');
beforeAll(async () => {
  fixture = await createGatewayFixture();
  rows = createFlagRows(fixture.database.sql);
  gateway = await fixture.startGateway({ config: { secretsKey } });
  tenant = await createTestTenant(fixture.database);
  await rows.addFlag(tenant.environmentId, 'a', { filters: { groups: [{ rollout_percentage: 50 }] } });
});
afterAll(() => fixture.stop());

const documentPaths = ['/flags/definitions', '/flags/definitions/', '/api/feature_flag/local_evaluation/'];

async function get(path: string, bearer: string | null, headers: Record<string, string> = {}) {
  const authorization: Record<string, string> = bearer === null ? {} : { authorization: `Bearer ${bearer}` };
  const response = await fetch(gateway.url + path, { headers: { ...authorization, ...headers } });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: /^[{["n]/.test(text) ? JSON.parse(text) : null,
  };
}
const documentOf = ({ token }: TestTenant, bearer: string | null, headers = {}) =>
  get(`/flags/definitions?token=${token}&send_cohorts`, bearer, headers);

async function addSecret(environmentId: number, slot: 'primary' | 'backup', value: string): Promise<string> {
  await fixture.database.sql.query(
    `INSERT INTO project_secret_key (project_id, slot, secure_value, mask_value) VALUES ($1, $2, $3, 'phs_...')`,
    [environmentId, slot, hashPersonalApiKey(value)],
  );
  return value;
}

async function keyWith(owner: TestTenant, options: { scopes: GrantedScope[]; scopedEnvironments?: number[] }) {
  const { value } = await createPersonalApiKey(fixture.database.sql, {
    actor: null,
    userId: owner.userId,
    label: 'key',
    ...options,
  });
  return value;
}

describe('the flag definitions document', () => {
  test.each(documentPaths)('%s', async (path) => {
    const response = await get(`${path}?token=${tenant.token}`, tenant.personalApiKey);
    expect([response.status, response.json]).toEqual([
      200,
      {
        flags: [expect.objectContaining({ key: 'a', filters: { groups: [{ rollout_percentage: 50 }] } })],
        group_type_mapping: {},
        cohorts: {},
        minimal_flag_called_events: false,
        property_matching_version: 1,
      },
    ]);
    expect(response.headers.get('etag')).toMatch(/^W\/"[\w-]{32}"$/);
    expect(response.headers.get('cache-control')).toBe('private, must-revalidate');
  });

  test('flag-077, flag-078: returns 304 for a matching ETag in any format, and a new ETag after a flag is turned off', async () => {
    const own = await createTestTenant(fixture.database);
    const flag = await rows.addFlag(own.environmentId, 'a');
    const etag = (await documentOf(own, own.personalApiKey)).headers.get('etag') ?? '';
    for (const tag of [etag, etag.slice(2), etag.slice(3, -1), `"other", ${etag}`]) {
      const response = await documentOf(own, own.personalApiKey, { 'if-none-match': tag });
      expect([response.status, response.text, response.headers.get('etag')]).toEqual([304, '', etag]);
    }
    await fixture.database.sql.query('UPDATE feature_flag SET active = false WHERE id = $1', [flag]);
    await eventually(
      async () => {
        const response = await documentOf(own, own.personalApiKey, { 'if-none-match': etag });
        expect([response.status, response.json?.flags]).toEqual([
          200,
          [expect.objectContaining({ key: 'a', active: false })],
        ]);
        expect(response.headers.get('etag')).not.toBe(etag);
      },
      { what: 'the change' },
    );
  });

  test('serves flag definitions with gzip, uncompressed, and without a body for HEAD', async () => {
    const { request } = await import('node:http');
    const raw = (method: string, encoding: string) =>
      new Promise<{ body: Buffer; encoding: string | undefined }>((resolve) => {
        const headers = { authorization: `Bearer ${tenant.personalApiKey}`, 'accept-encoding': encoding };
        request(`${gateway.url}/flags/definitions?token=${tenant.token}`, { method, headers }, async (response) =>
          resolve({
            body: Buffer.concat(await response.toArray()),
            encoding: response.headers['content-encoding'],
          }),
        ).end();
      });
    const [zipped, plain, head] = await Promise.all([
      raw('GET', 'gzip, br'),
      raw('GET', 'identity'),
      raw('HEAD', 'gzip'),
    ]);
    expect([zipped.encoding, plain.encoding, head.body.length]).toEqual(['gzip', undefined, 0]);
    expect(gunzipSync(zipped.body).toString()).toBe(plain.body.toString());
  });

  test('accepts the project API key for flag definitions in a header', async () => {
    const response = await get('/flags/definitions', tenant.personalApiKey, {
      'x-posthog-project-api-key': tenant.token,
    });
    expect(response.status).toBe(200);
  });
});

test('serves flag definitions for a project or environment, by number or as `@current`', async () => {
  const { environmentId, token, personalApiKey } = tenant;
  const secret = await addSecret(environmentId, 'primary', `phs_${environmentId}n`);
  const usual = (await documentOf(tenant, personalApiKey)).text;
  for (const parent of ['projects', 'environments']) {
    const path = (id: number | string, query = '') => `/api/${parent}/${id}/feature_flags/local_evaluation/${query}`;
    for (const bearer of [personalApiKey, secret]) {
      expect(await get(path(environmentId), bearer)).toMatchObject({ status: 200, text: usual });
      expect(await get(path('@current', `?token=${token}`), bearer)).toMatchObject({ status: 200, text: usual });
    }
    const stranger = await createTestTenant(fixture.database);
    expect((await get(path(environmentId), stranger.personalApiKey)).status).toBe(403);
    expect((await get(path(environmentId), null)).status).toBe(401);
    expect((await get(path(stranger.environmentId), secret)).status).toBe(401);
    expect((await get(path(2_000_000_000), personalApiKey)).status).toBe(403);
    expect((await get(path('@current'), personalApiKey)).status).toBe(401);
    expect((await get(path(stranger.environmentId, `?token=${token}`), secret)).status).toBe(404);
  }
  const config = `/api/projects/${environmentId}/feature_flags/nothing/remote_config`;
  expect((await get(config, secret)).status).toBe(404);
});

describe('access to flag definitions', () => {
  test("allows a project's primary or backup secret key to read flag definitions until it is revoked", async () => {
    const own = await createTestTenant(fixture.database);
    const [primary, backup] = [`phs_${own.environmentId}p`, `phs_${own.environmentId}b`];
    await addSecret(own.environmentId, 'primary', primary);
    await addSecret(own.environmentId, 'backup', backup);
    expect([(await documentOf(own, primary)).status, (await documentOf(own, backup)).status]).toEqual([200, 200]);
    await fixture.database.sql.query('DELETE FROM project_secret_key WHERE secure_value = $1', [
      hashPersonalApiKey(backup),
    ]);
    await eventually(async () => expect((await documentOf(own, backup)).status).toBe(401), { what: 'the revocation' });
    expect((await documentOf(own, primary)).status).toBe(200);
    expect((await documentOf(tenant, primary)).json).toMatchObject({ detail: 'Secret API token is invalid.' });
  });

  test.each<[string, number, object]>([
    ['none', 401, { code: 'not_authenticated', detail: 'Authentication credentials were not provided.' }],
    ['phs_wrong', 401, { code: 'authentication_failed', detail: 'Secret API token is invalid.' }],
    [
      'phx_wrong',
      401,
      {
        code: 'authentication_failed',
        detail: 'Personal API key found in request Authorization header is invalid.',
      },
    ],
    ['the project API key', 401, { type: 'authentication_error', code: 'authentication_failed' }],
    ['without the scope', 403, { code: 'permission_denied' }],
    ['of another user', 403, { code: 'permission_denied' }],
    ['for another project', 403, { code: 'permission_denied' }],
  ])('flag-079: returns the right status for the credentials: %s', async (name, status, expected) => {
    const stranger = await createTestTenant(fixture.database);
    const bearers: Record<string, () => Promise<string | null> | string | null> = {
      none: () => null,
      'the project API key': () => tenant.token,
      'without the scope': () => keyWith(tenant, { scopes: ['project:read'] }),
      'of another user': () => stranger.personalApiKey,
      'for another project': async () => {
        const { environment } = await fixture.database.transaction((tx) =>
          createProject(tx, { organizationId: tenant.organizationId, settings: { name: 'Other' }, actor: null }),
        );
        return keyWith(tenant, { scopes: ['*'], scopedEnvironments: [environment.id] });
      },
    };
    const bearer = Object.hasOwn(bearers, name) ? await bearers[name]?.() : name;
    const response = await documentOf(tenant, bearer ?? null);
    expect([response.status, response.json]).toEqual([status, expect.objectContaining({ attr: null, ...expected })]);
  });

  test('denies access to flag definitions for an unknown project and without a project', async () => {
    expect((await get('/flags/definitions?token=phc_no', tenant.personalApiKey)).status).toBe(401);
    expect((await get('/flags/definitions', tenant.personalApiKey)).status).toBe(401);
  });

  test('rejects the personal API key of a removed member within a second', async () => {
    const leaver = await createTestTenant(fixture.database);
    expect((await documentOf(leaver, leaver.personalApiKey)).status).toBe(200);
    await fixture.database.sql.query('DELETE FROM membership WHERE user_id = $1', [leaver.userId]);
    await eventually(async () => expect((await documentOf(leaver, leaver.personalApiKey)).status).toBe(403), {
      what: 'the refusal',
    });
  });

  test('allows 600 requests for flag definitions per minute', async () => {
    const own = await createTestTenant(fixture.database);
    const { url } = await fixture.startGateway({ now: createTestClock().now });
    const headers = { authorization: `Bearer ${own.personalApiKey}` };
    const ask = async () => {
      const response = await fetch(`${url}/flags/definitions?token=${own.token}`, { headers });
      await response.text();
      return response.status;
    };
    const statuses: number[] = [];
    for (let round = 0; round < 7; round++) {
      statuses.push(...(await Promise.all(Array.from({ length: 100 }, ask))));
    }
    const count = (wanted: number) => statuses.filter((status) => status === wanted).length;
    expect([count(200), count(429)]).toEqual([600, 100]);
  });

  test('returns 402 for flag definitions if the quota of flag requests is used up', async () => {
    const own = await createTestTenant(fixture.database);
    await fixture.database.sql.query('UPDATE organization SET available_product_features = $2::jsonb WHERE id = $1', [
      own.organizationId,
      JSON.stringify([{ key: 'flag_requests_per_month', name: 'x', limit: 0 }]),
    ]);
    const response = await documentOf(own, own.personalApiKey);
    expect([response.status, response.json]).toEqual([
      402,
      {
        type: 'quota_limited',
        code: 'payment_required',
        detail: 'You have exceeded your feature flag request quota',
        attr: null,
      },
    ]);
  });
});

describe('payloads of remote config flags', () => {
  const remote = { is_remote_configuration: true };
  const withPayload = (payload: string) => ({ ...remote, filters: { groups: [{}], payloads: { true: payload } } });

  test('returns a payload by flag key and by flag ID, and null for a flag without a payload', async () => {
    const { environmentId, token, personalApiKey } = tenant;
    const id = await rows.addFlag(environmentId, 'config', { ...withPayload('{"a": 1}'), active: false });
    await rows.addFlag(environmentId, 'empty', remote);
    const read = async (flag: string | number) =>
      (await get(`/api/projects/@current/feature_flags/${flag}/remote_config?token=${token}`, personalApiKey)).json;
    expect([await read('config'), await read(id), await read('empty')]).toEqual(['{"a": 1}', '{"a": 1}', null]);
    const numbered = `/api/projects/${environmentId}/feature_flags/config/remote_config/?token=${token}`;
    expect((await get(numbered, personalApiKey)).json).toBe('{"a": 1}');
  });

  test('flag-088: returns 404 with a JSON body, which SDKs parse, for all other flags', async () => {
    for (const flag of ['a', 'unknown', '%zz', '%00']) {
      const path = `/api/projects/@current/feature_flags/${flag}/remote_config/?token=${tenant.token}`;
      expect(await get(path, tenant.personalApiKey)).toMatchObject({ status: 404, text: 'null' });
      expect((await get(path, null)).status).toBe(401);
    }
  });

  test('decrypts encrypted payloads only on the payload path', async () => {
    const { environmentId, token, personalApiKey } = tenant;
    const { sealed } = createSecretBox(secretsKey).seal(
      { payload: '{"s":1}' },
      flagPayloadEncryptionContext(environmentId),
    );
    await rows.addFlag(environmentId, 'secret', { ...withPayload(sealed), has_encrypted_payloads: true });
    const path = `/api/projects/@current/feature_flags/secret/remote_config/?token=${token}`;
    expect((await get(path, personalApiKey)).json).toBe('{"s":1}');
    expect((await documentOf(tenant, personalApiKey)).text).not.toContain('secret');
    const withoutKey = await fixture.startGateway();
    const headers = { authorization: `Bearer ${personalApiKey}` };
    expect((await fetch(withoutKey.url + path, { headers })).status).toBe(503);
    const flags = await fetch(`${gateway.url}/flags?v=2`, {
      method: 'POST',
      body: JSON.stringify({ token, distinct_id: 'u', flag_keys: ['secret'] }),
    });
    expect(await flags.text()).not.toContain('v1:');
  });
});
