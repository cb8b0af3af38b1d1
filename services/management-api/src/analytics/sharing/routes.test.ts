import { createPersonalApiKey } from '@millrace/accounts';
import type { Scope } from '@millrace/contracts';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/** These tests turn public links on and off. `hostile-visitor.test.ts` checks what visitors see. */
let api: TestApi;
let acme: OrganizationActors;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  acme = await createActors(api.database);
});

type Kind = 'insights' | 'dashboards';
type Method = 'GET' | 'POST' | 'PATCH' | 'PUT';
const send = (method: Method, path: string, body?: object, key = acme.M.key) =>
  api.send(method, `/api/projects/${acme.projectId}/${path}`, { key, ...(body && { body }) });
const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode' }] };
async function create(kind: Kind, body: object = { name: 'Orders', ...(kind === 'insights' && { query }) }) {
  const { status, body: made } = await send('POST', `${kind}/`, body);
  expect([status, made.detail]).toEqual([201, undefined]);
  return made.id as number;
}
const share = (kind: Kind, id: number, body: object = { enabled: true }, key = acme.M.key) =>
  send('PATCH', `${kind}/${id}/sharing/`, body, key);
const visit = (token: string) => api.get(`/api/shared/${token}`);

describe.each(['insights', 'dashboards'] as const)('sharing of %s', (kind) => {
  it.each(['projects', 'environments'])(
    'sharing-001 under %s, turns a link on, replaces it and turns it off',
    async (family) => {
      const id = await create(kind);
      const path = `/api/${family}/${acme.projectId}/${kind}/${id}/sharing/`;
      const never = { created_at: null, enabled: false, access_token: null, settings: {} };
      const constant = { password_required: false, share_passwords: [] };
      expect(await api.get(path, acme.M.key)).toMatchObject({ status: 200, body: { ...never, ...constant } });

      const { body: on } = await api.send('PATCH', path, { key: acme.M.key, body: { enabled: true } });
      expect(on).toEqual({
        ...constant,
        created_at: expect.stringMatching(/Z$/),
        enabled: true,
        access_token: expect.stringMatching(/^[\w-]{43}$/),
        settings: {},
      });
      expect((await api.get(path, acme.M.key)).body).toEqual(on);
      expect((await visit(on.access_token)).status).toBe(200);

      const { body: rotated } = await api.send('POST', `${path}refresh/`, { key: acme.M.key });
      expect(rotated).toEqual({ ...on, access_token: expect.not.stringContaining(on.access_token) });
      const statuses = [await visit(on.access_token), await visit(rotated.access_token)].map(({ status }) => status);
      expect(statuses).toEqual([404, 200]);

      const { body: off } = await api.send('PATCH', path, { key: acme.M.key, body: { enabled: false } });
      expect(off).toEqual({ ...rotated, enabled: false });
      expect((await visit(rotated.access_token)).status).toBe(404);
    },
  );

  it('sharing-002 changes only the settings in the request, and applies them to the public page', async () => {
    const id = await create(kind);
    const settings = { noHeader: true, theme: 'dark' };
    const { body } = await share(kind, id, { enabled: true, settings });
    expect(body.settings).toEqual(settings);
    expect((await visit(body.access_token)).body).toMatchObject({ name: null, description: '', theme: 'dark' });
    expect((await share(kind, id, {})).body.settings).toEqual(settings);
    expect((await share(kind, id, { settings: null })).body).toMatchObject({ enabled: true, settings: {} });
    expect((await visit(body.access_token)).body).toMatchObject({ name: 'Orders', theme: 'system' });
  });

  it.each([
    ['sharing-003', 'a password', { password_required: true }, 'password_required'],
    ['sharing-004', 'passwords', { share_passwords: ['secret'] }, 'share_passwords'],
    ['sharing-005', 'a setting that has no effect here', { settings: { whitelabel: true } }, 'settings__whitelabel'],
    ['sharing-006', 'an unknown theme', { settings: { theme: 'pink' } }, 'settings__theme'],
    ['sharing-007', 'a switch that is neither on nor off', { enabled: 'maybe' }, 'enabled'],
  ])('%s returns 400 for %s', async (_no, _what, body, attr) => {
    expect(await share(kind, await create(kind), body)).toMatchObject({ status: 400, body: { attr } });
  });

  it('sharing-008 accepts requests that contain the constant fields of the response', async () => {
    const id = await create(kind);
    const { body } = await share(kind, id);
    expect((await share(kind, id, body)).body).toEqual(body);
  });

  it('sharing-009 returns 404 for a deleted record and for a record of another project', async () => {
    const id = await create(kind);
    const elsewhere = `/api/projects/${acme.off.projectId}/${kind}/${id}/sharing/`;
    expect((await api.send('PATCH', elsewhere, { key: acme.off.personalApiKey, body: { enabled: true } })).status).toBe(
      404,
    );
    await send('PATCH', `${kind}/${id}/`, { deleted: true });
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['POST', 'refresh/'],
    ] as const) {
      expect((await send(method, `${kind}/${id}/sharing/${path}`, method === 'GET' ? undefined : {})).status).toBe(404);
    }
  });

  it('sharing-010 requires edit access to the shared record', async () => {
    const id = await create(kind);
    const token = (await share(kind, id)).body.access_token;
    // The creator of a record always has access to it, so test the rule with another member.
    const rule = (level: string) => send('PUT', `${kind}/${id}/access_controls/`, { access_level: level }, acme.A.key);
    const other = (await createActors(api.database)).M;
    await api.database.sql.query('UPDATE membership SET organization_id = $1 WHERE user_id = $2', [
      acme.organizationId,
      other.userId,
    ]);
    await rule('viewer');
    const path = `${kind}/${id}/sharing/`;
    expect(await send('GET', path, undefined, other.key)).toMatchObject({ status: 200, body: { access_token: token } });
    expect((await send('PATCH', path, { enabled: false }, other.key)).status).toBe(403);
    expect((await send('POST', `${path}refresh/`, undefined, other.key)).status).toBe(403);
    await rule('none');
    expect((await send('GET', path, undefined, other.key)).status).toBe(403);
    expect((await visit(token)).status).toBe(404);
  });

  it('sharing-011 requires both the scope for sharing and the scope to read the record', async () => {
    const id = await create(kind);
    const kindScope = `${kind === 'insights' ? 'insight' : 'dashboard'}:read` as Scope;
    const statusOf = async (scopes: Scope[], method: Method) => {
      const key = { actor: null, userId: acme.A.userId, label: 'limited', scopes };
      const { value } = await createPersonalApiKey(api.database.sql, key);
      const body = method === 'PATCH' ? { enabled: true } : undefined;
      return (await send(method, `${kind}/${id}/sharing/`, body, value)).status;
    };
    expect(await statusOf(['sharing_configuration:read', kindScope], 'GET')).toBe(200);
    expect(await statusOf(['sharing_configuration:read'], 'GET')).toBe(403);
    expect(await statusOf([kindScope], 'GET')).toBe(403);
    expect(await statusOf(['sharing_configuration:read', kindScope], 'PATCH')).toBe(403);
    expect(await statusOf(['sharing_configuration:write'], 'PATCH')).toBe(403);
    expect(await statusOf(['sharing_configuration:write', kindScope], 'PATCH')).toBe(200);
  });

  it('sharing-012 returns 403 while the organization forbids public links', async () => {
    const id = await create(kind);
    const allow = (allow_publicly_shared_resources: boolean) =>
      api.send('PATCH', `/api/organizations/${acme.organizationId}/`, {
        key: acme.W.key,
        body: { allow_publicly_shared_resources },
      });
    expect((await allow(false)).status).toBe(200);
    expect(await share(kind, id)).toMatchObject({
      status: 403,
      body: { detail: 'Public sharing is disabled for this organization.' },
    });
    expect((await share(kind, id, { enabled: false })).status).toBe(200);
    await allow(true);
    expect((await share(kind, id)).status).toBe(200);
  });

  it('sharing-013 returns 403 for sharing a record that some members cannot see', async () => {
    const id = await create(kind);
    await send('PUT', `${kind}/${id}/access_controls/`, { access_level: 'none' }, acme.A.key);
    expect(await share(kind, id)).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('not open to all members of the project') },
    });
  });

  it('sharing-014 logs the changes to a link, but not its token', async () => {
    const id = await create(kind);
    const token = (await share(kind, id)).body.access_token;
    await send('POST', `${kind}/${id}/sharing/refresh/`);
    await share(kind, id, { enabled: false });
    await share(kind, id, { enabled: false });
    const scope = kind === 'insights' ? 'Insight' : 'Dashboard';
    const { body } = await send('GET', `activity_log/?scope=${scope}&item_id=${id}`, undefined, acme.A.key);
    const changes = body.results.map(({ detail }: { detail: { changes: object[] | null } }) => detail.changes);
    const secret = { type: scope, action: 'changed', field: 'sharing_access_token', before: null, after: null };
    const turned = (before: boolean, after: boolean) => [
      { type: scope, action: 'changed', field: 'sharing', before, after },
    ];
    expect(changes).toEqual([turned(true, false), [secret], turned(false, true), null]);
    expect(JSON.stringify(body)).not.toContain(token);
  });
});

it('sharing-015 reports whether a dashboard is shared when the dashboard is read', async () => {
  const id = await create('dashboards');
  const isShared = async () => (await send('GET', `dashboards/${id}/`)).body.is_shared;
  const seen = [await isShared()];
  for (const enabled of [true, false]) {
    await share('dashboards', id, { enabled });
    seen.push(await isShared());
  }
  expect(seen).toEqual([false, true, false]);
});

it('sharing-016: requires edit access to a restricted dashboard, and to insights that are on no other dashboard', async () => {
  const dashboard = await create('dashboards', { name: 'Mine', restriction_level: 37 });
  const insight = await create('insights', { name: 'Orders', query, dashboards: [dashboard] });
  const other = (await createActors(api.database)).M;
  await api.database.sql.query('UPDATE membership SET organization_id = $1 WHERE user_id = $2', [
    acme.organizationId,
    other.userId,
  ]);
  expect((await share('dashboards', dashboard, { enabled: true }, other.key)).status).toBe(403);
  expect((await share('insights', insight, { enabled: true }, other.key)).status).toBe(403);
});

it('sharing-017 prevents a member from sharing a dashboard with an insight that they cannot see', async () => {
  const dashboard = await create('dashboards');
  const made = await send('POST', 'insights/', { name: 'Secret', query, dashboards: [dashboard] }, acme.W.key);
  const membership = await api.database.sql.query<{ id: string }>('SELECT id FROM membership WHERE user_id = $1', [
    acme.M.userId,
  ]);
  const rule = { access_level: 'none', organization_member: membership[0]?.id };
  expect((await send('PUT', `insights/${made.body.id}/access_controls/`, rule, acme.A.key)).status).toBe(200);
  expect(await share('dashboards', dashboard)).toMatchObject({
    status: 403,
    body: { detail: expect.stringContaining('an insight that you do not have access to') },
  });
  expect((await share('dashboards', dashboard, { enabled: true }, acme.A.key)).status).toBe(200);
  // The member also cannot add the insight to a dashboard that is already shared.
  const shared = await create('dashboards', { name: 'Shared' });
  await share('dashboards', shared);
  const tileId = (await send('GET', `dashboards/${dashboard}/`)).body.tiles[0].id;
  const copy = { fromDashboardId: dashboard, tileId };
  expect((await send('POST', `dashboards/${shared}/copy_tile/`, copy)).status).toBe(403);
  const move = { tile: { id: tileId }, toDashboard: shared };
  expect((await send('PATCH', `dashboards/${dashboard}/move_tile/`, move)).status).toBe(403);
});

it.each(['EventsQuery', 'ActorsQuery'])(
  'sharing-018 returns 400 for sharing an insight with the query kind %s',
  async (queryKind) => {
    const id = await create('insights');
    const query = JSON.stringify({ kind: 'DataTableNode', source: { kind: queryKind } });
    await api.database.sql.query('UPDATE insight SET query = $1 WHERE id = $2', [query, id]);
    expect(await share('insights', id)).toMatchObject({
      status: 400,
      body: { attr: 'enabled', detail: expect.stringContaining('cannot be shared publicly') },
    });
  },
);
