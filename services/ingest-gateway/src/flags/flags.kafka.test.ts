import { gzipSync } from 'node:zlib';
import { createFlagRows, type FlagRows } from '@millrace/flags/store/testing/flag-rows';
import { createTestTenant, eventually } from '@millrace/testing';
import { readReply, sendFlagRequest } from '../testing/flag-client.ts';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';

let fixture: GatewayFixture;
let gateway: TestGateway;
let rows: FlagRows;
beforeAll(async () => {
  fixture = await createGatewayFixture();
  rows = createFlagRows(fixture.database.sql);
  gateway = await fixture.startGateway();
});
afterAll(() => fixture.stop());

const tenant = () => createTestTenant(fixture.database);
const person = (key: string, value: unknown, operator = 'exact') => ({ key, type: 'person', operator, value });
const condition = (...properties: object[]) => ({ groups: [{ properties }] });
const half = { filters: { groups: [{ rollout_percentage: 50 }] }, ensure_experience_continuity: true };
const anyUuid = expect.stringMatching(/^[0-9a-f-]{36}$/);

describe('flag requests and responses', () => {
  test('flag-060 to flag-062: keeps flag values after a login', async () => {
    const { token, environmentId } = await tenant();
    await rows.addFlag(environmentId, 'checkout', half);
    // The hash of `checkout.a-3` is within 50 %. The hashes of `checkout.u-2` and `checkout.b-0` are not.
    const [own, anonymous, other] = await idsByRollout(environmentId, token);
    expect((await sendFlagRequest(gateway, { token, distinct_id: anonymous })).flags.checkout).toMatch(/^true/);
    await rows.addPerson(environmentId, [own, anonymous]);
    const asked = { token, distinct_id: own };
    expect((await sendFlagRequest(gateway, { ...asked, $anon_distinct_id: anonymous })).flags.checkout).toMatch(
      /^true/,
    );
    expect((await sendFlagRequest(gateway, asked)).flags.checkout).toMatch(/^true/);
    expect((await sendFlagRequest(gateway, { ...asked, $anon_distinct_id: other })).flags.checkout).toMatch(/^true/);
    const stored = await fixture.database.sql.query(
      'SELECT flag_key, hash_key FROM feature_flag_hash_key WHERE project_id = $1',
      [environmentId],
    );
    expect(stored).toEqual([{ flag_key: 'checkout', hash_key: anonymous }]);
  });

  test("flag-063: keeps a flag's value at the first login, before and after the person is stored", async () => {
    const { token, environmentId } = await tenant();
    await rows.addFlag(environmentId, 'checkout', half);
    const [own, anonymous] = await idsByRollout(environmentId, token);
    const reply = await sendFlagRequest(gateway, { token, distinct_id: own, $anon_distinct_id: anonymous });
    expect(reply.flags.checkout).toMatch(/^true/);
    const sql = 'SELECT hash_key FROM feature_flag_hash_key WHERE project_id = $1';
    expect(await fixture.database.sql.query(sql, [environmentId])).toEqual([]);
    const later = async () => (await sendFlagRequest(gateway, { token, distinct_id: own })).flags.checkout;
    expect(await later()).toMatch(/^true/);
    await rows.addPerson(environmentId, [own]);
    expect(await later()).toMatch(/^true/);
    expect(await fixture.database.sql.query(sql, [environmentId])).toEqual([{ hash_key: anonymous }]);
  });

  test('flag-065, flag-066: a deleted cohort makes only its flag fail, and unknown persons are in no static cohort', async () => {
    const { token, environmentId } = await tenant();
    const gone = await rows.addCohort(environmentId, { deleted: true });
    const fixed = await rows.addCohort(environmentId, { is_static: true });
    await rows.addFlag(environmentId, 'gone', { filters: condition({ type: 'cohort', key: 'id', value: gone }) });
    const outside = { type: 'cohort', key: 'id', operator: 'not_in', value: fixed };
    await rows.addFlag(environmentId, 'outside', { filters: condition(outside) });
    const reply = await sendFlagRequest(gateway, { token, distinct_id: 'unknown' });
    expect([reply.status, reply.flags, reply.body.errorsWhileComputingFlags]).toEqual([
      200,
      { gone: 'false failed:dependency_not_found_cohort:null', outside: 'true condition_match:0' },
      true,
    ]);
  });

  test('flag-069: evaluates flags that are requested by key, even if their dependencies are not requested', async () => {
    const { token, environmentId } = await tenant();
    const base = await rows.addFlag(environmentId, 'base');
    const dependency = { key: String(base), type: 'flag', operator: 'flag_evaluates_to', value: true };
    await rows.addFlag(environmentId, 'dep-chain', { filters: condition(dependency) });
    await rows.addFlag(environmentId, 'other');
    for (const name of ['flag_keys_to_evaluate', 'flag_keys']) {
      const reply = await sendFlagRequest(gateway, { token, distinct_id: 'u', [name]: ['dep-chain', 'unknown', 7] });
      expect(reply.flags).toEqual({ base: 'true condition_match:0', 'dep-chain': 'true condition_match:0' });
    }
  });

  test("`/flags?v=4` returns each flag's value in one field, and whether it failed", async () => {
    const { token, environmentId } = await tenant();
    const on = await rows.addFlag(environmentId, 'on', {
      filters: { groups: [{}], payloads: { true: '{"a":1}' } },
      version: 3,
    });
    const variants = [{ key: 'blue', rollout_percentage: 100 }];
    await rows.addFlag(environmentId, 'variant', { filters: { groups: [{}], multivariate: { variants } } });
    await rows.addFlag(environmentId, 'off', { filters: { groups: [] } });
    const gone = await rows.addCohort(environmentId, { deleted: true });
    await rows.addFlag(environmentId, 'gone', { filters: condition({ type: 'cohort', key: 'id', value: gone }) });
    const { body } = await sendFlagRequest(gateway, { token, distinct_id: 'u' }, { path: '/flags/?v=4' });
    expect(body.errorsWhileComputingFlags).toBe(true);
    expect(body.flags).toMatchObject({
      on: {
        ...{ key: 'on', value: true, failed: false, reason: { code: 'condition_match', condition_index: 0 } },
        metadata: { id: on, version: 3, payload: '{"a":1}', config_version: 1, variant_key: null },
      },
      variant: { value: 'blue', failed: false, metadata: { variant_key: 'blue' } },
      off: { value: false, failed: false },
      gone: { value: null, failed: true },
    });
  });

  test('accepts the empty lists that PHP sends instead of empty objects', async () => {
    const { token, environmentId } = await tenant();
    await rows.addFlag(environmentId, 'a');
    const empty = { person_properties: [], groups: [], group_properties: [] };
    expect((await sendFlagRequest(gateway, { token, distinct_id: 'u', ...empty })).flags).toEqual({
      a: 'true condition_match:0',
    });
  });

  test('flag-071: returns only flags that match the requested evaluation contexts', async () => {
    const { token, environmentId } = await tenant();
    for (const [key, contexts] of [
      ['none', []],
      ['web', ['web']],
      ['docs', ['docs']],
    ] as const) {
      await rows.addFlag(environmentId, key, { evaluation_contexts: contexts });
    }
    const asked = { token, distinct_id: 'u' };
    for (const name of ['evaluation_contexts', 'evaluation_environments']) {
      const reply = await sendFlagRequest(gateway, { ...asked, [name]: ['web'] });
      expect(Object.keys(reply.flags).sort()).toEqual(['none', 'web']);
    }
    expect(Object.keys((await sendFlagRequest(gateway, asked)).flags)).toHaveLength(3);
  });

  test.each([
    [123, '123'],
    [123.45, '123.45'],
    ['x'.repeat(250), 'x'.repeat(200)],
    ['nul\0', 'nul\ufffd'],
    ['', ''],
  ])('flag-072, flag-073: accepts the distinct ID %p', async (sent, expected) => {
    const { token, environmentId } = await tenant();
    await rows.addFlag(environmentId, 'me', { filters: condition(person('distinct_id', expected)) });
    for (const name of ['distinct_id', '$distinct_id']) {
      expect((await sendFlagRequest(gateway, { token, [name]: sent })).flags).toEqual({ me: 'true condition_match:0' });
    }
  });

  test('flag-073: returns 400 if flags are requested without a distinct ID', async () => {
    const { token, environmentId } = await tenant();
    await rows.addFlag(environmentId, 'a');
    expect((await sendFlagRequest(gateway, { token })).status).toBe(400);
    expect(await sendFlagRequest(gateway, { token, disable_flags: true })).toMatchObject({
      status: 200,
      body: { flags: {} },
    });
    expect(await sendFlagRequest(gateway, { token, distinct_id: {} })).toMatchObject({
      status: 400,
      body: { attr: 'distinct_id' },
    });
  });

  test('flag-075: returns no flags when the quota of flag requests is used up', async () => {
    const { token, environmentId, organizationId } = await tenant();
    await rows.addFlag(environmentId, 'a');
    const asked = { token, distinct_id: 'u' };
    await setFlagQuota(organizationId, 2);
    const limited = await fixture.startGateway();
    await eventually(
      async () => expect((await sendFlagRequest(limited, asked)).body.quotaLimited).toEqual(['feature_flags']),
      { what: 'the limit' },
    );
    const { body, status } = await sendFlagRequest(limited, asked);
    expect([status, body]).toEqual([
      200,
      {
        flags: {},
        errorsWhileComputingFlags: false,
        quotaLimited: ['feature_flags'],
        requestId: anyUuid,
        evaluatedAt: expect.any(Number),
      },
    ]);
  });

  test('flag-076: returns the format of the requested version', async () => {
    const { token, environmentId } = await tenant();
    const on = await rows.addFlag(environmentId, 'on', {
      filters: { groups: [{}], payloads: { true: '{"a":1}' } },
      version: 3,
    });
    const variants = [{ key: 'blue', rollout_percentage: 100 }];
    await rows.addFlag(environmentId, 'variant', { filters: { groups: [{}], multivariate: { variants } } });
    await rows.addFlag(environmentId, 'off', { filters: { groups: [], payloads: { true: '2' } } });
    await rows.addFlag(environmentId, 'inactive', { active: false });
    const values = {
      featureFlags: { on: true, variant: 'blue', off: false },
      featureFlagPayloads: { on: '{"a":1}' },
      errorsWhileComputingFlags: false,
    };
    const asked = { token, distinct_id: 'u' };
    const of = async (path: string) => (await sendFlagRequest(gateway, asked, { path })).body;
    for (const version of ['', '?v=1', '?v=0', '?v=-2', '?v=x']) {
      const body = await of(`/decide/${version}`);
      expect(body.featureFlags.sort()).toEqual(['on', 'variant']);
      expect(body).toMatchObject({
        hasFeatureFlags: true,
        supportedCompression: ['gzip', 'gzip-js'],
        requestId: anyUuid,
      });
    }
    expect(await of('/decide?v=2')).toMatchObject({ featureFlags: { on: true, variant: 'blue' } });
    expect(await of('/decide?v=3')).toMatchObject(values);
    for (const version of ['v=1', 'v=x', 'config=true']) expect(await of(`/flags?${version}`)).toMatchObject(values);
    const details = {
      on: {
        key: 'on',
        enabled: true,
        variant: null,
        reason: { code: 'condition_match', condition_index: 0, description: 'Matched condition set 1' },
        metadata: { id: on, version: 3, description: null, payload: '{"a":1}' },
      },
      variant: expect.objectContaining({ variant: 'blue' }),
      off: expect.objectContaining({ enabled: false, metadata: expect.objectContaining({ payload: null }) }),
    };
    for (const path of ['/decide?v=4', '/flags', '/flags?v=2', '/flags?v=3']) {
      const body = await of(path);
      expect(body).toMatchObject({
        errorsWhileComputingFlags: false,
        requestId: anyUuid,
        evaluatedAt: expect.any(Number),
      });
      expect(body.flags).toEqual(details);
      expect(Object.hasOwn(body, 'supportedCompression')).toBe(path === '/flags' || path.startsWith('/decide'));
    }
  });

  test("returns the client's request ID if it is a UUID", async () => {
    const { token } = await tenant();
    const id = '0b1c2d3e-0000-4000-8000-00000000000a';
    const asked = { token, distinct_id: 'u' };
    expect((await sendFlagRequest(gateway, asked, { headers: { 'x-request-id': id } })).body.requestId).toBe(id);
    const reply = await sendFlagRequest(gateway, asked, { headers: { 'x-request-id': 'mine' } });
    expect(reply.body.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("uses the groups and device ID in the request, and prefers the request's properties to stored ones", async () => {
    const { token, environmentId } = await tenant();
    await rows.addPerson(environmentId, ['u'], { plan: 'free' });
    await rows.addFlag(environmentId, 'pro', { filters: condition(person('plan', 'pro')) });
    await fixture.database.sql.query(`INSERT INTO group_type_mapping VALUES ($1, 'company', 0, now())`, [
      environmentId,
    ]);
    const big = { key: 'size', type: 'group', operator: 'gt', value: '5', group_type_index: 0 };
    const ofGroup = { groups: [{ properties: [big] }], aggregation_group_type_index: 0 };
    await rows.addFlag(environmentId, 'big', { filters: ofGroup });
    await rows.addFlag(environmentId, 'device', { bucketing_identifier: 'device_id' });
    const asked = { token, distinct_id: 'u' };
    expect((await sendFlagRequest(gateway, asked)).flags).toEqual({
      pro: 'false no_condition_match:0',
      big: 'false no_group_type:0',
      device: 'false out_of_rollout_bound:0',
    });
    const sent = {
      ...asked,
      person_properties: { plan: 'pro', $device_id: 'd' },
      groups: { company: 'acme' },
      group_properties: { company: { size: 6 } },
    };
    expect(Object.values((await sendFlagRequest(gateway, sent)).flags)).toEqual(
      Array(3).fill('true condition_match:0'),
    );
  });

  test("evaluates only survey flags, or only with the request's properties, if the request asks for it", async () => {
    const { token, environmentId } = await tenant();
    await rows.addPerson(environmentId, ['u'], { plan: 'pro' });
    await rows.addFlag(environmentId, 'pro', { filters: condition(person('plan', 'pro')) });
    await rows.addFlag(environmentId, 'survey-targeting-1');
    const asked = { token, distinct_id: 'u' };
    const path = '/flags?v=2&only_evaluate_survey_feature_flags=true';
    expect(Object.keys((await sendFlagRequest(gateway, asked, { path })).flags)).toEqual(['survey-targeting-1']);
    const alone = await sendFlagRequest(gateway, asked, {
      path: '/flags?v=2&only_use_override_person_properties=true',
    });
    expect(alone.flags.pro).toMatch(/^false/);
  });
});

describe('methods and encodings of flag requests', () => {
  test.each<[string, (json: string) => string | Uint8Array, Record<string, string>, string]>([
    ['gzip', (json) => gzipSync(json), { 'content-encoding': 'gzip' }, ''],
    ['gzip declared in the query', (json) => gzipSync(json), {}, '&compression=gzip-js'],
    ['base64', (json) => Buffer.from(json).toString('base64'), { 'content-type': 'text/plain' }, '&compression=base64'],
    [
      'a form',
      (json) => `data=${encodeURIComponent(Buffer.from(json).toString('base64'))}`,
      { 'content-type': 'application/x-www-form-urlencoded' },
      '',
    ],
  ])('%s', async (_name, encode, headers, query) => {
    const { token, environmentId } = await tenant();
    await rows.addFlag(environmentId, 'a');
    const body = encode(JSON.stringify({ token, distinct_id: 'u', note: 'ä'.repeat(300) })) as string;
    const reply = await readReply(await fetch(`${gateway.url}/flags/?v=2${query}`, { method: 'POST', body, headers }));
    expect(reply.flags).toEqual({ a: 'true condition_match:0' });
  });

  test('accepts GET, HEAD and OPTIONS for flags, and returns 405 for unsupported methods', async () => {
    const { token, environmentId } = await tenant();
    await rows.addFlag(environmentId, 'a');
    const data = encodeURIComponent(Buffer.from(JSON.stringify({ token, distinct_id: 'u' })).toString('base64'));
    const get = async (path: string) => (await readReply(await fetch(gateway.url + path))).body;
    expect(await get('/flags?v=2')).toMatchObject({ flags: {} });
    expect(await get('/decide?v=2')).toMatchObject({ featureFlags: {} });
    expect(await get(`/flags?v=2&data=${data}`)).toMatchObject({ flags: { a: { enabled: true } } });
    expect(await get(`/flags?v=2&token=${token}&distinct_id=u`)).toMatchObject({ flags: { a: { enabled: true } } });
    for (const [method, status] of [
      ['HEAD', 200],
      ['OPTIONS', 204],
      ['PUT', 405],
      ['DELETE', 405],
    ] as const) {
      expect((await fetch(`${gateway.url}/flags?v=2`, { method })).status).toBe(status);
    }
  });

  test.each<[string, string | Record<string, unknown>, number, object | null]>([
    ['invalid JSON', '{"token":', 400, { code: 'invalid_json' }],
    ['not an object', '[1]', 400, { code: 'invalid_payload' }],
    ['no key', { distinct_id: 'u' }, 401, { type: 'authentication_error', code: 'not_authenticated', attr: null }],
    [
      'an invalid key',
      { token: 'phc_no', distinct_id: 'u' },
      401,
      { type: 'authentication_error', code: 'authentication_failed' },
    ],
    ['a personal API key', { token: 'phx_a', distinct_id: 'u' }, 401, { code: 'authentication_failed' }],
    ['a body that is too large', { token: 'phc_no', distinct_id: 'u', note: 'x'.repeat(1_100_000) }, 413, null],
    ['too many levels', `{"a":${'['.repeat(200)}${']'.repeat(200)}}`, 400, { code: 'invalid_payload' }],
    [
      'properties that are a list',
      { token: 'TOKEN', distinct_id: 'u', person_properties: [1] },
      400,
      { attr: 'person_properties' },
    ],
    [
      'keys that are a string',
      { token: 'TOKEN', distinct_id: 'u', flag_keys: 'a' },
      400,
      { attr: 'flag_keys_to_evaluate' },
    ],
  ])('%s', async (_name, question, status, expected) => {
    const { token } = await tenant();
    const text = (typeof question === 'string' ? question : JSON.stringify(question)).replace('TOKEN', token);
    const reply = await readReply(await fetch(`${gateway.url}/flags?v=2`, { method: 'POST', body: text }));
    expect(reply.status).toBe(status);
    if (expected !== null) expect(reply.body).toMatchObject(expected);
  });

  test('limits the flag requests of an API key and of an IP address if configured', async () => {
    const { token } = await tenant();
    const slow = await fixture.startGateway({ config: { flagBurstPerKey: 3, flagRequestsPerSecondPerKey: 1 } });
    const asked = { token, distinct_id: 'u' };
    const replies = await Promise.all(Array.from({ length: 6 }, () => sendFlagRequest(slow, asked)));
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(2);
    expect(refused[0]?.body).toEqual({
      type: 'validation_error',
      code: 'rate_limit_exceeded',
      detail: 'Rate limit exceeded',
      attr: null,
    });
  });
});

describe('gateways that run a single role', () => {
  test('a gateway for flags rejects events, and a gateway for events rejects flag requests', async () => {
    const { token } = await tenant();
    const [forFlags, forEvents] = await Promise.all([
      fixture.startGateway({ config: { gatewayRoles: 'flags' } }),
      fixture.startGateway({ config: { gatewayRoles: 'ingest' } }),
    ]);
    const send = (to: TestGateway) =>
      fetch(`${to.url}/capture/`, {
        method: 'POST',
        body: JSON.stringify({ api_key: token, event: 'a', distinct_id: 'b' }),
      });
    const asked = { token, distinct_id: 'u' };
    expect([(await sendFlagRequest(forFlags, asked)).status, (await send(forFlags)).status]).toEqual([200, 404]);
    expect([(await sendFlagRequest(forEvents, asked)).status, (await send(forEvents)).status]).toEqual([404, 200]);
  });
});

test('applies a changed flag in two gateways and in the browser config', async () => {
  const { token, environmentId } = await tenant();
  const other = await fixture.startGateway();
  const hasFlags = async (of: TestGateway) =>
    ((await (await fetch(`${of.url}/array/${token}/config`)).json()) as { hasFeatureFlags: boolean }).hasFeatureFlags;
  expect(await Promise.all([gateway, other].map(hasFlags))).toEqual([false, false]);
  const id = await rows.addFlag(environmentId, 'a');
  for (const isActive of [true, false, true]) {
    await fixture.database.sql.query('UPDATE feature_flag SET active = $2 WHERE id = $1', [id, isActive]);
    for (const each of [gateway, other]) {
      await eventually(
        async () => {
          expect(Object.keys((await sendFlagRequest(each, { token, distinct_id: 'u' })).flags)).toEqual(
            isActive ? ['a'] : [],
          );
          expect(await hasFlags(each)).toBe(isActive);
        },
        { what: 'the change' },
      );
    }
  }
});

test('counts flag requests by outcome', async () => {
  const { token, environmentId } = await tenant();
  const counting = await fixture.startGateway();
  const gone = await rows.addCohort(environmentId, { deleted: true });
  await rows.addFlag(environmentId, 'gone', { filters: condition({ type: 'cohort', key: 'id', value: gone }) });
  await sendFlagRequest(counting, { token, distinct_id: 'u' });
  await sendFlagRequest(counting, { token, disable_flags: true });
  await sendFlagRequest(counting, { token: 'phc_no', distinct_id: 'u' });
  const text = await counting.metrics.registry.metrics();
  for (const line of [
    'millrace_flag_evaluations_total{outcome="with_errors"} 1',
    'millrace_flag_evaluations_total{outcome="disabled"} 1',
    'millrace_flag_evaluation_errors_total{reason="dependency_not_found_cohort"} 1',
    'millrace_flag_requests_total{path="/flags",status="401"} 1',
    'millrace_flag_requests_refused_total{code="authentication_failed"} 1',
    'millrace_flag_definitions_queries_total{what="definitions",outcome="loaded"} 1',
    'millrace_flag_circuit_breaker_open 0',
  ]) {
    expect(text).toContain(line);
  }
  expect(text).toMatch(/millrace_flag_definitions_bytes\{what="definitions"\} [1-9]/);
});

/** Finds three IDs: the first and the last are outside of the rollout of `checkout`, and the second is inside it. */
async function idsByRollout(environmentId: number, token: string): Promise<[string, string, string]> {
  const inside: string[] = [];
  const outside: string[] = [];
  for (let index = 0; inside.length < 1 || outside.length < 2; index++) {
    const id = `${environmentId}-${index}`;
    const { flags } = await sendFlagRequest(gateway, { token, distinct_id: id });
    (flags.checkout?.startsWith('true') ? inside : outside).push(id);
  }
  return [outside[0] ?? '', inside[0] ?? '', outside[1] ?? ''];
}

async function setFlagQuota(organizationId: string, limit: number): Promise<void> {
  await fixture.database.sql.query(`UPDATE organization SET available_product_features = $2::jsonb WHERE id = $1`, [
    organizationId,
    JSON.stringify([{ key: 'flag_requests_per_month', name: 'x', limit }]),
  ]);
}
