import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createTenantWithKeys, pathFamilies, type TenantWithKeys } from '../../testing/tenant-with-keys.ts';

/**
 * Tests that the API returns access rules as they were set, and that the rules determine access
 * (docs/api/access.md#access-to-an-environment).
 */
let api: TestApi;
let fixture: TenantWithKeys;
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  fixture = await createTenantWithKeys(api);
});
afterAll(() => api.stop());

const rules = async (key = fixture.keys.A) =>
  (await api.get(`/api/projects/${fixture.tenant.projectId}/access_controls/`, key)).body.access_controls;
const listed = async () =>
  (await api.get('/api/projects/', fixture.keys.M)).body.results.map(({ id }: { id: number }) => id) as number[];

describe.each(pathFamilies)('%s', (_family, pathOf) => {
  const path = (rest = '') => pathOf(fixture.tenant) + rest;
  const put = (access_level: string | null, organization_member?: string, key = fixture.keys.A) =>
    api.send('PUT', path('access_controls/'), { key, body: { access_level, organization_member } });
  const levelOfMember = async () => {
    const { status, body } = await api.get(path(), fixture.keys.M);
    return [status, body.effective_membership_level];
  };
  const [none, member, admin] = [
    [404, undefined],
    [200, 1],
    [200, 8],
  ];

  test.each([
    ['none', [404, undefined]],
    ['member', [200, 1]],
    ['admin', [200, 8]],
  ])('stores the default rule %s, returns it as it was sent, and applies it', async (level, expected) => {
    const response = await put(level);
    expect([response.status, await rules()]).toEqual([200, [response.body]]);
    expect(response.body).toEqual({
      access_level: level,
      resource: 'project',
      resource_id: String(fixture.tenant.projectId),
      organization_member: null,
      role: null,
      created_by: null,
      created_at: null,
      updated_at: null,
    });
    expect(await levelOfMember()).toEqual(expected);
    expect(await put(null)).toMatchObject({ status: 200, body: { access_level: null } });
    expect([await rules(), await levelOfMember()]).toEqual([[], member]);
  });

  test.each(['none', 'member', 'admin'])('stores the rule %s for a member and shows its creator', async (level) => {
    const response = await put(level, fixture.membershipId);
    expect([response.status, await rules()]).toEqual([200, [response.body]]);
    const { uuid } = (await api.get('/api/users/@me/', fixture.keys.A)).body;
    expect(response.body).toMatchObject({
      access_level: level,
      organization_member: fixture.membershipId,
      created_by: uuid,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    expect(await put(null, fixture.membershipId)).toMatchObject({ body: { access_level: null, created_by: null } });
    expect(await rules()).toEqual([]);
  });

  test('applies the highest rule, but `none` denies a member access regardless of the default rule', async () => {
    const levels: unknown[] = [];
    for (const [forAll, own] of [
      ['none', 'member'],
      ['none', 'admin'],
      ['member', 'admin'],
      ['admin', 'member'],
      ['none', 'none'],
      ['member', 'none'],
      ['admin', 'none'],
      [null, 'none'],
    ] as const) {
      await put(forAll);
      await put(own, fixture.membershipId);
      levels.push(await levelOfMember());
    }
    expect(levels).toEqual([member, admin, admin, admin, none, none, none, none]);
    expect(await listed()).toEqual([]);
    expect((await api.get('/api/users/@me/', fixture.keys.M)).body).toMatchObject({
      team: null,
      organization: { teams: [], projects: [] },
    });
    expect((await api.get(`/api/projects/${fixture.tenant.projectId}/events/`, fixture.keys.M)).status).toBe(403);
    await put(null, fixture.membershipId);
    expect([await levelOfMember(), await listed()]).toEqual([member, [fixture.tenant.projectId]]);
  });

  test('`none` has no effect on administrators, or on any user if the plan does not include project permissions', async () => {
    const [membership] = await api.database.sql.query<{ id: string }>(
      'SELECT m.id FROM membership m WHERE m.organization_id = $1 AND m.level = 8',
      [fixture.tenant.organizationId],
    );
    expect((await put('none', membership?.id, fixture.keys.W)).body.access_level).toBe('none');
    expect((await api.get(path(), fixture.keys.A)).body.effective_membership_level).toBe(8);
    await put('none', fixture.membershipId);
    expect((await levelOfMember())[0]).toBe(404);
    await api.database.sql.query("UPDATE organization SET available_product_features = '[]' WHERE id = $1", [
      fixture.tenant.organizationId,
    ]);
    expect(await levelOfMember()).toEqual(member);
  });

  test('changes the default rule when the environment becomes private or open', async () => {
    await put('admin');
    const patch = (access_control: boolean) =>
      api.send('PATCH', path(), { key: fixture.keys.A, body: { access_control } });
    await patch(false);
    expect((await rules())[0].access_level).toBe('admin');
    await patch(true);
    expect((await rules())[0].access_level).toBe('none');
    await patch(false);
    expect([await rules(), await levelOfMember()]).toEqual([[], member]);
  });

  test('a rule for a role gives the same access as a rule for a member, and the highest rule applies', async () => {
    const { organizationId } = fixture.tenant;
    const roles = `/api/organizations/${organizationId}/roles/`;
    const role = (await api.send('POST', roles, { key: fixture.keys.A, body: { name: 'Support' } })).body.id;
    const { uuid } = (await api.get('/api/users/@me/', fixture.keys.M)).body;
    const ofRole = (access_level: string | null) =>
      api.send('PUT', path('access_controls/'), { key: fixture.keys.A, body: { access_level, role } });
    await put('none');
    const set = await ofRole('admin');
    expect(set).toMatchObject({ status: 200, body: { access_level: 'admin', role, organization_member: null } });
    expect((await rules())[1]).toEqual(set.body);
    expect(await levelOfMember()).toEqual(none);
    await api.send('POST', `${roles}${role}/role_memberships/`, { key: fixture.keys.A, body: { user_uuid: uuid } });
    const levels: unknown[] = [];
    for (const [forAll, role, own] of [
      ['none', 'member', null],
      ['none', 'admin', null],
      ['none', 'member', 'admin'],
      ['none', 'none', 'member'],
      ['none', 'admin', 'none'],
      ['member', 'admin', null],
      ['admin', 'member', null],
      ['member', 'none', null],
      ['admin', 'none', 'member'],
      [null, 'none', null],
    ] as const) {
      await put(forAll);
      await ofRole(role);
      await put(own, fixture.membershipId);
      levels.push(await levelOfMember());
    }
    expect(levels).toEqual([member, admin, admin, member, none, admin, admin, none, admin, none]);
    expect(await listed()).toEqual([]);
    await api.send('DELETE', `${roles}${role}/`, { key: fixture.keys.A });
    expect(await levelOfMember()).toEqual(member);
  });
});
