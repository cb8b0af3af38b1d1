import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createPersonalApiKey, revokePersonalApiKey } from '@millrace/accounts';
import { createTestTenant, eventually, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../testing/start-test-api.ts';

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
});
afterAll(() => api.stop());

const probe = '/api/users/@me/';
const send = (headers: Record<string, string>, path = probe) => fetch(api.url + path, { headers });
const detailOf = async (response: Response) => ((await response.json()) as { detail: string }).detail;

describe('a personal API key in a request', () => {
  test('key-002: accepts a key that is surrounded by extra spaces', async () => {
    expect((await send({ authorization: `Bearer   ${tenant.personalApiKey}  ` })).status).toBe(200);
  });

  test.each(['bearer', 'BEARER'])('accepts the authorization scheme in any case: %s', async (scheme) => {
    expect((await send({ authorization: `${scheme} ${tenant.personalApiKey}` })).status).toBe(200);
  });

  test('key-003: accepts a key in a query parameter', async () => {
    expect((await send({}, `${probe}?personal_api_key=${tenant.personalApiKey}`)).status).toBe(200);
  });

  // This test uses POST, because `fetch` rejects a GET request with a body. The route rejects POST with 405 only after
  // it has accepted the key.
  test('key-004: accepts a key in a body field', async () => {
    const post = (key: string) =>
      fetch(api.url + probe, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ personal_api_key: key }),
      });
    expect((await post(tenant.personalApiKey)).status).toBe(405);
    expect(await detailOf(await post('phx_wrong'))).toBe('Personal API key found in request body is invalid.');
  });

  describe('a personal API key in a request body', () => {
    const text = (padding: number) =>
      JSON.stringify({ personal_api_key: tenant.personalApiKey, name: 'x'.repeat(padding) });
    const post = async (body: string | Buffer | ReadableStream, headers = {}, path = probe) => {
      const options = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
      return (await fetch(api.url + path, { ...options, duplex: 'half' } as RequestInit)).status;
    };
    const inChunks = (padding: number) => new Blob([text(padding)]).stream();

    test('finds the key whether or not the request declares its body length', async () => {
      expect([await post(text(1000)), await post(text(20_000))]).toEqual([405, 401]);
      expect([await post(inChunks(1000)), await post(inChunks(20_000))]).toEqual([405, 401]);
    });

    test('does not find a key in a compressed body', async () => {
      expect(await post(gzipSync(text(0)), { 'content-encoding': 'gzip' })).toBe(401);
    });

    test('accepts a key in the query string of a request with a large body', async () => {
      const path = `/api/organizations/${tenant.organizationId}/projects/`;
      const body = { name: 'Large', survey_config: { text: 'x'.repeat(20_000) } };
      const request = { method: 'POST', headers: { 'content-type': 'application/json' }, duplex: 'half' };
      const create = (stream: ReadableStream) =>
        fetch(`${api.url}${path}?personal_api_key=${tenant.personalApiKey}`, {
          ...request,
          body: stream,
        } as RequestInit);
      expect((await create(new Blob([JSON.stringify(body)]).stream())).status).toBe(201);
    });

    test('does not wait for the rest of an incomplete body', async () => {
      const { hostname, port } = new URL(api.url);
      const socket = connect(Number(port), hostname);
      socket.write(`POST ${probe} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{`);
      const [head] = (await once(socket, 'data')) as [Buffer];
      expect(head.toString()).toMatch(/^HTTP\/1.1 401 /);
      socket.destroy();
    });
  });

  test('uses the first key if a request contains several', async () => {
    const query = `${probe}?personal_api_key=${tenant.personalApiKey}`;
    const response = await send({ authorization: 'Bearer phx_wrong' }, query);
    expect(await detailOf(response)).toBe('Personal API key found in request Authorization header is invalid.');
    const other = await send({}, `${probe}?personal_api_key=phx_wrong`);
    expect(await detailOf(other)).toBe('Personal API key found in request query string is invalid.');
  });

  test.each(['Token KEY', 'Basic a2V5', 'Bearer', 'KEY', 'BearerKEY'])(
    'rejects the authorization header %s',
    async (header) => {
      const response = await send({ authorization: header.replace('KEY', tenant.personalApiKey) });
      expect(await response.json()).toEqual({
        type: 'authentication_error',
        code: 'not_authenticated',
        detail: 'Authentication credentials were not provided.',
        attr: null,
      });
    },
  );

  test.each(['x'.repeat(8000), 'phx_\u00e9', "' OR 1=1 --", 'phx_ phx_'])(
    'returns 401 for a malformed key: %#',
    async (key) => {
      expect((await send({ authorization: `Bearer ${key}` })).status).toBe(401);
    },
  );
});

describe('requests with an invalid personal API key', () => {
  const isAccepted = async () => (await send({ authorization: `Bearer ${tenant.personalApiKey}` })).status === 200;

  test('key-005: rejects the keys of an inactive user', async () => {
    const setActive = (isActive: boolean) =>
      api.database.prisma.user.update({ where: { id: tenant.userId }, data: { is_active: isActive } });
    expect(await isAccepted()).toBe(true);
    await setActive(false);
    const response = await send({ authorization: `Bearer ${tenant.personalApiKey}` });
    expect([response.status, await detailOf(response)]).toEqual([
      401,
      'Personal API key found in request Authorization header is invalid.',
    ]);
    await setActive(true);
    expect(await isAccepted()).toBe(true);
  });

  test('rejects an expired key', async () => {
    const expire = (at: string | null) =>
      api.database.sql.query(`UPDATE personal_api_key SET expires_at = ${at} WHERE user_id = $1`, [tenant.userId]);
    await expire("now() - interval '1 second'");
    expect(await isAccepted()).toBe(false);
    await expire("now() + interval '1 hour'");
    expect(await isAccepted()).toBe(true);
  });

  test('rejects a key immediately after it is revoked', async () => {
    const { key, value } = await createPersonalApiKey(api.database.sql, {
      actor: null,
      userId: tenant.userId,
      label: 'short-lived',
      scopes: ['*'],
    });
    expect((await api.get(probe, value)).status).toBe(200);
    await revokePersonalApiKey(api.database.sql, { actor: null, id: key.id });
    expect((await api.get(probe, value)).status).toBe(401);
  });

  test('key-009: a key without scopes has no access, unlike in PostHog', async () => {
    await api.database.sql.query("UPDATE personal_api_key SET scopes = '{}' WHERE user_id = $1", [tenant.userId]);
    expect((await api.get(probe, tenant.personalApiKey)).status).toBe(403);
  });
});

describe('differences between Millrace and PostHog in key checks', () => {
  test('key-010: a key with all scopes can perform every action, because every action has a scope', async () => {
    const path = `/api/projects/${tenant.projectId}/environments/${tenant.environmentId}/activity/`;
    expect((await send({ authorization: `Bearer ${tenant.personalApiKey}` }, path)).status).toBe(200);
  });

  test('key-007, key-008: using a key never changes its hash, because all hashes are SHA-256', async () => {
    const hashes = () =>
      api.database.sql.query('SELECT secure_value FROM personal_api_key WHERE user_id = $1', [tenant.userId]);
    const before = await hashes();
    expect((await send({ authorization: `Bearer ${tenant.personalApiKey}` })).status).toBe(200);
    expect(await hashes()).toEqual(before);
  });
});

describe("the time of a key's last use", () => {
  const lastUse = async () => {
    const [key] = await api.database.prisma.personal_api_key.findMany({ where: { user_id: tenant.userId } });
    return key?.last_used_at?.getTime() ?? null;
  };

  test('records the first use of a key, and then at most one use per hour', async () => {
    await api.get(probe, tenant.personalApiKey);
    const first = await eventually(async () => (await lastUse()) ?? false, { what: 'noting the first use' });
    await api.get(probe, tenant.personalApiKey);
    await api.get(probe, tenant.personalApiKey);
    expect(await lastUse()).toBe(first);
    await api.database.sql.query(
      "UPDATE personal_api_key SET last_used_at = last_used_at - interval '61 minutes' WHERE user_id = $1",
      [tenant.userId],
    );
    await api.get(probe, tenant.personalApiKey);
    await eventually(async () => ((await lastUse()) ?? 0) >= first, { what: 'noting a use an hour later' });
  });

  test('does not record the use of a rejected key', async () => {
    await api.database.sql.query("UPDATE personal_api_key SET expires_at = '2000-01-01' WHERE user_id = $1", [
      tenant.userId,
    ]);
    await api.get(probe, tenant.personalApiKey);
    expect(await lastUse()).toBeNull();
  });
});
