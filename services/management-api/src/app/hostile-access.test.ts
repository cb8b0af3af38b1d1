import { randomUUID } from 'node:crypto';
import { addMember, createPersonalApiKey, createUser } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import { createInProcessStore } from '@millrace/runtime/cache';
import { createTestEnvironment } from '@millrace/testing';
import { insufficient, notFound, permissionDenied } from '../testing/expected-errors.ts';
import { createActors, type OrganizationActors } from '../testing/organization-actors.ts';
import { noLimits, startTestApi, type TestApi, type TestResponse } from '../testing/start-test-api.ts';

/** Tests that callers cannot exceed their access with a limited key, with a low level, or with concurrent requests. */
let api: TestApi;
let acme: OrganizationActors;
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  acme = await createActors(api.database);
});
afterAll(() => api.stop());

const keyOf = async (userId: number, options: { scopedEnvironments?: number[]; scopedOrganizations?: string[] }) =>
  (await createPersonalApiKey(api.database.sql, { actor: null, userId, label: 'small', scopes: ['*'], ...options }))
    .value;
const environmentsOf = (projectId: number) =>
  api.database.sql.query('SELECT id FROM environment WHERE project_id = $1 ORDER BY id', [projectId]);

describe('deleting a project without access to all of its environments', () => {
  test("a key that is limited to a project's first environment cannot delete the project", async () => {
    const { id } = await createTestEnvironment(api.database, { projectId: acme.projectId });
    const key = await keyOf(acme.W.userId, { scopedEnvironments: [acme.projectId] });
    const refusal = 'API key does not have access to all environments of the project.';
    for (const path of ['', `organizations/${acme.organizationId}/`].map((part) => `/api/${part}projects/`)) {
      const response = await api.send('DELETE', `${path}${acme.projectId}/`, { key });
      expect([response.status, response.body?.detail]).toEqual([403, refusal]);
    }
    expect(await environmentsOf(acme.projectId)).toHaveLength(2);
    const whole = await keyOf(acme.W.userId, { scopedEnvironments: [acme.projectId, id] });
    expect((await api.send('DELETE', `/api/projects/${acme.projectId}/`, { key: whole })).status).toBe(204);
  });

  test('an administrator who has access to only one private environment of a project cannot delete the project', async () => {
    const { sql } = api.database;
    await createTestEnvironment(api.database, { projectId: acme.projectId });
    await sql.query('UPDATE environment SET access_control = true WHERE project_id = $1', [acme.projectId]);
    await sql.query(
      `INSERT INTO access_rule (environment_id, resource, membership_id, level)
       SELECT $1, 'project', id, 'admin' FROM membership WHERE user_id = $2`,
      [acme.projectId, acme.M.userId],
    );
    const response = await api.send('DELETE', `/api/projects/${acme.projectId}/`, { key: acme.M.key });
    expect(response).toMatchObject(insufficient);
    expect(await environmentsOf(acme.projectId)).toHaveLength(2);
  });
});

test("a limited key cannot change its user's current environment", async () => {
  await addMember(api.database.sql, {
    organizationId: acme.off.organizationId,
    userId: acme.M.userId,
    level: membershipLevels.member,
  });
  const { id } = await createTestEnvironment(api.database, { projectId: acme.projectId });
  const refusal = permissionDenied(
    'API keys with scoped organizations or projects cannot change what `@current` refers to.',
  );
  const patch = (key: string, body: object) => api.send('PATCH', '/api/users/@me/', { key, body });
  const ofOne = await keyOf(acme.M.userId, { scopedOrganizations: [acme.organizationId] });
  const ofTeam = await keyOf(acme.M.userId, { scopedEnvironments: [acme.projectId] });
  const { organizationId, projectId } = acme.off;
  for (const key of [ofOne, ofTeam]) {
    for (const target of [organizationId, acme.organizationId]) {
      expect(await patch(key, { set_current_organization: target })).toMatchObject(refusal);
    }
    for (const target of [projectId, acme.projectId, id]) {
      expect(await patch(key, { set_current_team: target })).toMatchObject(refusal);
    }
    expect((await patch(key, { first_name: 'Ada' })).status).toBe(200);
  }
  const whole = await keyOf(acme.M.userId, {});
  expect((await patch(whole, { set_current_team: id })).body.team.id).toBe(id);
});

describe('records created by a limited key', () => {
  const current = async (key: string) => {
    const { body } = await api.get('/api/users/@me/', key);
    return [body.organization.id, body.team.id];
  };

  test("a project or organization created by a limited key does not become its user's current one", async () => {
    const before = await current(acme.W.key);
    const ofOne = await keyOf(acme.W.userId, { scopedOrganizations: [acme.organizationId] });
    const ofTeam = await keyOf(acme.W.userId, { scopedEnvironments: [acme.projectId] });
    for (const [path, key] of [
      [`/api/organizations/${acme.organizationId}/projects/`, ofOne],
      ['/api/projects/', ofOne],
      [`/api/projects/${acme.projectId}/environments/`, ofOne],
      [`/api/projects/${acme.projectId}/environments/`, ofTeam],
    ] as const) {
      expect([path, (await api.send('POST', path, { key, body: { name: 'New' } })).status]).toEqual([path, 201]);
    }
    expect(await current(acme.W.key)).toEqual(before);
    const made = await api.send('POST', '/api/projects/', { key: acme.W.key, body: { name: 'New' } });
    expect(await current(acme.W.key)).toEqual([acme.organizationId, made.body.id]);
  });

  test('a key limited to a later environment of a project cannot create an environment in this project', async () => {
    const { id } = await createTestEnvironment(api.database, { projectId: acme.projectId });
    const path = `/api/projects/${acme.projectId}/environments/`;
    const key = await keyOf(acme.W.userId, { scopedEnvironments: [id] });
    expect((await api.get(path, key)).body.results.map((row: { id: number }) => row.id)).toEqual([id]);
    expect(await api.send('POST', path, { key, body: { name: 'New' } })).toMatchObject(
      permissionDenied(`API key does not have access to the requested project: ID ${acme.projectId}.`),
    );
  });
});

describe("a limited key that reads or creates its user's keys", () => {
  test('a limited key reads only keys with at most the same access, and gets 404 for all others', async () => {
    await addMember(api.database.sql, { organizationId: acme.off.organizationId, userId: acme.M.userId, level: 1 });
    const ofOne = await keyOf(acme.M.userId, { scopedOrganizations: [acme.organizationId] });
    const ofOther = await keyOf(acme.M.userId, { scopedOrganizations: [acme.off.organizationId] });
    const listed = async (key: string) => (await api.get('/api/personal_api_keys/', key)).body as { id: string }[];
    expect(await listed(acme.M.key)).toHaveLength(3);
    const [seen, ...more] = await listed(ofOne);
    expect([(await api.get('/api/personal_api_keys/@current/', ofOne)).body.id, more]).toEqual([seen?.id, []]);
    const [other] = await listed(ofOther);
    expect(await api.get(`/api/personal_api_keys/${other?.id}/`, ofOne)).toMatchObject(
      notFound('Personal API key not found.'),
    );
  });

  test.each([
    ['of the person', (fixture: OrganizationActors) => fixture.projectId],
    ['of others', (fixture: OrganizationActors) => fixture.off.projectId],
    ['that does not exist', () => 2_000_000_000],
  ])('returns 403 when a limited key creates or changes a key for an environment %s', async (_name, choose) => {
    const { id } = await createTestEnvironment(api.database, { projectId: acme.projectId });
    const key = await keyOf(acme.M.userId, { scopedEnvironments: [id] });
    const body = { label: 'k', scopes: ['*'], scoped_teams: [choose(acme)] };
    expect((await api.send('POST', '/api/personal_api_keys/', { key, body })).status).toBe(403);
    expect((await api.send('PATCH', '/api/personal_api_keys/@current/', { key, body })).status).toBe(403);
  });

  test('a limited key gets the same error for a new key, whether or not an environment of another organization exists', async () => {
    await addMember(api.database.sql, { organizationId: acme.off.organizationId, userId: acme.M.userId, level: 1 });
    const key = await keyOf(acme.M.userId, { scopedOrganizations: [acme.organizationId] });
    const responses = [acme.off.projectId, 2_000_000_000].map((id) =>
      api.send('POST', '/api/personal_api_keys/', {
        key,
        body: { label: 'k', scopes: ['*'], scoped_teams: [id], scoped_organizations: [acme.organizationId] },
      }),
    );
    const [own, none] = await Promise.all(responses);
    expect([own?.status, own?.body]).toEqual([400, none?.body]);
  });
});

test('a private environment is no longer the current environment of users without access', async () => {
  await api.database.sql.query(
    'UPDATE "user" SET current_organization_id = $2, current_environment_id = $3 WHERE id = $1',
    [acme.M.userId, acme.organizationId, acme.projectId],
  );
  expect((await api.get('/api/users/@me/', acme.M.key)).body.team.id).toBe(acme.projectId);
  await api.database.sql.query('UPDATE environment SET access_control = true WHERE id = $1', [acme.projectId]);
  expect((await api.get('/api/users/@me/', acme.M.key)).body.team).toBeNull();
});

describe('a user who was removed from the organization', () => {
  test('a removed user loses access with all keys at the next request', async () => {
    const small = await keyOf(acme.M.userId, { scopedEnvironments: [acme.projectId] });
    await api.database.sql.query('UPDATE "user" SET is_active = false WHERE id = $1', [acme.M.userId]);
    for (const key of [acme.M.key, small]) expect((await api.get('/api/users/@me/', key)).status).toBe(401);
  });

  test('a removed user cannot use an invite for another email address, or a withdrawn invite', async () => {
    const invites = `/api/organizations/${acme.organizationId}/invites/`;
    const made = await api.send('POST', invites, { key: acme.A.key, body: { target_email: 'new@example.com' } });
    const accept = () => api.send('POST', `/api/invites/${made.body.id}/accept/`, { key: acme.off.personalApiKey });
    expect((await accept()).status).toBe(404);
    expect((await api.send('DELETE', `${invites}${made.body.id}/`, { key: acme.A.key })).status).toBe(204);
    expect((await accept()).status).toBe(404);
  });
});

describe('concurrent requests for the same change', () => {
  const statuses = (responses: TestResponse[]) => responses.map(({ status }) => status).sort();
  const times = <T>(count: number, work: (index: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, index) => work(index)));

  test('concurrent requests delete a project only once', async () => {
    const responses = await times(5, () => api.send('DELETE', `/api/projects/${acme.projectId}/`, { key: acme.W.key }));
    expect(statuses(responses)).toEqual([204, 404, 404, 404, 404]);
  });

  test('concurrent requests delete an organization only once, even while other requests change it', async () => {
    const path = `/api/organizations/${acme.organizationId}/`;
    const work = times(10, (index) =>
      index % 2
        ? api.send('PATCH', `/api/projects/${acme.projectId}/`, { key: acme.A.key, body: { name: `n${index}` } })
        : api.send('POST', `${path}invites/`, { key: acme.A.key, body: { target_email: `i${index}@example.com` } }),
    );
    const deletions = times(3, () => api.send('DELETE', path, { key: acme.W.key }));
    expect(statuses(await deletions)).toEqual([204, 404, 404]);
    for (const status of statuses(await work)) expect([200, 201, 403, 404]).toContain(status);
    const left = await api.database.sql.query('SELECT 1 FROM organization_invite WHERE organization_id = $1', [
      acme.organizationId,
    ]);
    expect(left).toEqual([]);
  });

  test('concurrent requests accept an invite only once', async () => {
    const email = `${randomUUID()}@example.com`;
    const invites = `/api/organizations/${acme.organizationId}/invites/`;
    const { body } = await api.send('POST', invites, { key: acme.A.key, body: { target_email: email } });
    const user = await createUser(api.database.sql, { email, isEmailVerified: true });
    const key = await keyOf(user.id, {});
    const responses = await times(4, () => api.send('POST', `/api/invites/${body.id}/accept/`, { key }));
    expect(statuses(responses)).toEqual([201, 404, 404, 404]);
    const rows = await api.database.sql.query('SELECT 1 FROM membership WHERE user_id = $1', [user.id]);
    expect(rows).toHaveLength(1);
  });

  test('after concurrent requests roll a key several times, only the last key is valid', async () => {
    const made = await api.send('POST', '/api/personal_api_keys/', {
      key: acme.M.key,
      body: { label: 'rolled', scopes: ['*'] },
    });
    const path = `/api/personal_api_keys/${made.body.id}/roll/`;
    const values = (await times(4, () => api.send('POST', path, { key: acme.M.key }))).map(({ body }) => body.value);
    const working = await Promise.all(values.map(async (value) => (await api.get('/api/users/@me/', value)).status));
    expect(working.sort()).toEqual([200, 401, 401, 401]);
    expect((await api.get('/api/users/@me/', made.body.value)).status).toBe(401);
  });

  test('concurrent requests demote all owners except one', async () => {
    const second = await createUser(api.database.sql, { email: `${randomUUID()}@example.com` });
    await addMember(api.database.sql, { organizationId: acme.organizationId, userId: second.id, level: 15 });
    const key = await keyOf(second.id, {});
    const members = `/api/organizations/${acme.organizationId}/members/`;
    await Promise.all([
      api.send('PATCH', `${members}${second.uuid}/`, { key: acme.W.key, body: { level: 1 } }),
      api.send('PATCH', `${members}${acme.W.uuid}/`, { key, body: { level: 1 } }),
    ]);
    const owners = await api.database.sql.query('SELECT 1 FROM membership WHERE organization_id = $1 AND level = 15', [
      acme.organizationId,
    ]);
    expect(owners).toHaveLength(1);
  });

  test('keeps all concurrent changes to different settings, and creates at most ten keys in concurrent requests', async () => {
    const path = `/api/projects/${acme.projectId}/`;
    const changes = [{ name: 'N' }, { timezone: 'Europe/Berlin' }, { anonymize_ips: true }, { week_start_day: 1 }];
    const responses = await Promise.all(changes.map((body) => api.send('PATCH', path, { key: acme.A.key, body })));
    expect(statuses(responses)).toEqual([200, 200, 200, 200]);
    expect((await api.get(path, acme.A.key)).body).toMatchObject(Object.assign({}, ...changes));
    const made = await times(14, (index) =>
      api.send('POST', '/api/personal_api_keys/', { key: acme.A.key, body: { label: `k${index}`, scopes: ['*'] } }),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(9);
  });
});

describe('guessing keys with forged IP addresses', () => {
  const guess = (server: TestApi, forwarded: string) =>
    server.send('GET', '/api/users/@me/', {
      key: `phx_${randomUUID()}`,
      headers: { 'x-forwarded-for': forwarded },
    });
  const start = (trustedProxies: number) =>
    startTestApi({
      trustedProxies,
      keyValue: createInProcessStore(),
      limits: { ...noLimits, wrongKeysPerMinute: 3 },
    });
  const statusesOf = async (server: TestApi, addresses: string[]) => {
    const found: number[] = [];
    for (const address of addresses) found.push((await guess(server, address)).status);
    return found;
  };

  test.each([
    ['without a proxy, whatever the header contains', 0, (n: number) => `10.0.0.${n}`],
    ['behind one proxy, whatever the client adds', 1, (n: number) => `10.0.0.${n}, 203.0.113.9`],
    ['behind two proxies, whatever the client adds', 2, (n: number) => `10.0.0.${n}, 203.0.113.9, 10.1.1.1`],
  ])('limits how many keys can be guessed by a client %s', async (_name, hops, forwarded) => {
    const server = await start(hops);
    try {
      expect(await statusesOf(server, [1, 2, 3, 4, 5, 6].map(forwarded))).toEqual([401, 401, 401, 401, 429, 429]);
    } finally {
      await server.stop();
    }
  });

  test('limits one client behind a shared proxy without limiting the other clients', async () => {
    const server = await start(2);
    try {
      const bad = '203.0.113.9, 10.1.1.1';
      expect(await statusesOf(server, [bad, bad, bad, bad, bad])).toContain(429);
      expect(await statusesOf(server, ['203.0.113.10, 10.1.1.1'])).toEqual([401]);
    } finally {
      await server.stop();
    }
  });
});
