import { randomUUID } from 'node:crypto';
import { createUser } from '@millrace/accounts';
import { createActor, createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import {
  patchOp,
  type ScimMethod,
  type ScimTestDomain,
  scimError,
  sendScim,
  setUpScim,
} from '../../testing/scim-provider.ts';
import { noLimits, signInAs, startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/** Tests the SCIM 2.0 API of a domain, with requests as identity providers send them (docs/api/scim.md). */
let api: TestApi;
let acme: OrganizationActors;
let domain: ScimTestDomain;
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  acme = await createActors(api.database);
  domain = await setUpScim(api, acme);
});
afterAll(() => api.stop());

const scim = (
  method: ScimMethod,
  path: string,
  body?: unknown,
  { id = domain.id, token = domain.token }: { id?: string; token?: string | null } = {},
) => sendScim(api, { id, token }, { method, path, body });
const address = (name: string) => `${name}@${domain.name}`;
const newUser = (name: string, more: object = {}) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: address(name),
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  emails: [{ value: address(name), primary: true }],
  active: true,
  externalId: `ext-${name}`,
  ...more,
});
const make = async (name: string, more?: object) => {
  const made = await scim('POST', '/Users', newUser(name, more));
  expect([made.status, made.body.detail]).toEqual([201, undefined]);
  return made.body as { id: string; meta: { location: string } };
};
const patch = (id: string, ...operations: object[]) => scim('PATCH', `/Users/${id}`, patchOp(...operations));
const error = scimError;
const members = async (of = acme) => {
  const { body } = await api.get(`/api/organizations/${of.organizationId}/members/?limit=100`, of.A.key);
  return body.results.map(({ user, level }: { user: { email: string }; level: number }) => `${user.email} ${level}`);
};

describe('SCIM users', () => {
  test('SCIM creates, reads, finds, changes, deactivates, reactivates and deletes a user', async () => {
    const made = await scim('POST', '/Users', newUser('ada'));
    const { id } = made.body;
    expect(made.body).toEqual({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      externalId: 'ext-ada',
      userName: address('ada'),
      name: { givenName: 'Ada', familyName: 'Lovelace' },
      displayName: 'Ada Lovelace',
      emails: [{ value: address('ada'), type: 'work', primary: true }],
      active: true,
      groups: [],
      meta: {
        resourceType: 'User',
        created: expect.stringMatching(/Z$/),
        lastModified: expect.stringMatching(/Z$/),
        location: `${api.url}/scim/v2/${domain.id}/Users/${id}`,
      },
    });
    expect(made.headers.get('location')).toBe(made.body.meta.location);
    expect(await scim('GET', `/Users/${id}`)).toMatchObject({ status: 200, body: made.body });
    expect(await members()).toContain(`${address('ada')} 1`);
    for (const filter of [`userName eq "${address('ADA')}"`, 'externalId eq "ext-ada"', `id eq "${id}"`]) {
      const found = await scim('GET', `/Users?filter=${encodeURIComponent(filter)}`);
      expect([filter, found.body]).toMatchObject([
        filter,
        { schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'], totalResults: 1, Resources: [{ id }] },
      ]);
    }
    const put = await scim('PUT', `/Users/${id}`, newUser('ada', { name: { givenName: 'Augusta' }, externalId: 'n' }));
    expect(put).toMatchObject({ status: 200, body: { externalId: 'n', displayName: 'Augusta' } });
    expect(await patch(id, { op: 'Replace', path: 'active', value: 'False' })).toMatchObject({
      status: 200,
      body: { active: false },
    });
    expect([await members(), (await scim('GET', `/Users/${id}`)).body.active]).toEqual([
      expect.not.arrayContaining([`${address('ada')} 1`]),
      false,
    ]);
    expect((await patch(id, { op: 'replace', value: { active: true } })).body.active).toBe(true);
    expect(await members()).toContain(`${address('ada')} 1`);
    expect((await scim('DELETE', `/Users/${id}`)).status).toBe(204);
    expect(await scim('GET', `/Users/${id}`)).toMatchObject(error(404));
    expect(await members()).not.toContain(`${address('ada')} 1`);
    // The account still exists, because deleting the SCIM user removes only the membership.
    expect(await api.database.sql.query('SELECT FROM "user" WHERE uuid = $1', [id])).toHaveLength(1);
  });

  test.each<[string, object[], object]>([
    ['a name', [{ op: 'replace', path: 'name.givenName', value: 'Grace' }], { displayName: 'Grace Lovelace' }],
    [
      'both parts of the name',
      [{ op: 'add', path: 'name', value: { familyName: 'King' } }],
      { displayName: 'Ada King' },
    ],
    ['keys with dots', [{ op: 'replace', value: { 'name.familyName': 'King', active: true } }], { active: true }],
    ['attribute names in any case', [{ OP: 'ADD', Path: 'EXTERNALID', VALUE: 'x' }], { externalId: 'x' }],
    [
      'a path with its schema',
      [{ op: 'replace', path: 'urn:ietf:params:scim:schemas:core:2.0:User:active', value: false }],
      { active: false },
    ],
    ['an attribute that is not stored', [{ op: 'add', path: 'title', value: 'Countess' }], { active: true }],
    [
      'an extension',
      [{ op: 'add', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department', value: 'x' }],
      {},
    ],
    ['a path with a filter', [{ op: 'replace', path: 'emails[type eq "work"].value', value: 'x' }], { active: true }],
    [
      'one attribute several times',
      [
        { op: 'replace', path: 'active', value: false },
        { op: 'replace', path: 'active', value: true },
      ],
      { active: true },
    ],
  ])('applies a SCIM change with %s', async (_what, operations, expected) => {
    const { id } = await make('ada');
    expect(await patch(id, ...operations)).toMatchObject({ status: 200, body: expected });
  });

  test('SCIM changes an email address only to another one in the domain', async () => {
    const { id } = await make('ada');
    await make('taken');
    expect((await patch(id, { op: 'replace', path: 'userName', value: address('new') })).body.userName).toBe(
      address('new'),
    );
    expect(await patch(id, { op: 'replace', path: 'userName', value: 'ada@elsewhere.example' })).toMatchObject(
      error(400, 'invalidValue'),
    );
    expect(await patch(id, { op: 'replace', path: 'userName', value: address('taken') })).toMatchObject(
      error(409, 'uniqueness'),
    );
    expect((await scim('GET', `/Users/${id}`)).body.userName).toBe(address('new'));
  });

  test('SCIM does not create a member twice, and adds a user who already has an account to the organization', async () => {
    await make('ada');
    expect(await scim('POST', '/Users', newUser('ada'))).toMatchObject(error(409, 'uniqueness'));
    const other = await createUser(api.database.sql, { email: address('grace'), isEmailVerified: true });
    expect((await make('grace')).id).toBe(other.uuid);
    expect(await members()).toContain(`${address('grace')} 1`);
  });

  test('SCIM takes over an account that was created before its email address was verified', async () => {
    const user = await createActor(api.database, acme.off.organizationId, 1, address('ada'));
    const session = await signInAs(api, user.userId);
    await make('ada');
    expect((await api.get('/api/users/@me/', session)).status).toBe(401);
    expect((await api.get(`/api/organizations/${acme.organizationId}/`, user.key)).status).toBe(403);
  });

  test('gives a new SCIM user the level of a pending invite', async () => {
    const body = { target_email: address('ada'), level: 8 };
    await api.send('POST', `/api/organizations/${acme.organizationId}/invites/`, { key: acme.A.key, body });
    await make('ada');
    expect(await members()).toContain(`${address('ada')} 8`);
  });

  test('SCIM does not add a user who is blocked from the organization', async () => {
    const { id } = await make('ada');
    await api.send('DELETE', `/api/organizations/${acme.organizationId}/members/${id}/?keep_out=true`, {
      key: acme.A.key,
    });
    expect((await scim('GET', `/Users/${id}`)).body.active).toBe(false);
    expect(await patch(id, { op: 'replace', path: 'active', value: true })).toMatchObject(error(403));
    expect(await members()).not.toContain(`${address('ada')} 1`);
  });

  test('sso-166: does not reactivate an account that the operator has deactivated', async () => {
    const { id } = await make('ada', { active: false });
    await api.database.sql.query('UPDATE "user" SET is_active = false WHERE uuid = $1', [id]);
    expect(await patch(id, { op: 'replace', path: 'active', value: true })).toMatchObject(error(403));
  });

  test("sso-172: removes a deactivated user's access, and ends the sessions of a user without other organizations", async () => {
    const { id } = await make('ada');
    const [row] = await api.database.sql.query<{ id: number }>('SELECT id FROM "user" WHERE uuid = $1', [id]);
    const session = await signInAs(api, row?.id ?? 0);
    expect((await api.get(`/api/organizations/${acme.organizationId}/`, session)).status).toBe(200);
    await patch(id, { op: 'replace', path: 'active', value: false });
    expect((await api.get(`/api/organizations/${acme.organizationId}/`, session)).status).toBe(401);
  });

  test('sso-171: SCIM does not remove the last owner', async () => {
    domain = await setUpScim(api, acme, 'W');
    await api.database.sql.query('UPDATE "user" SET email = $2 WHERE id = $1', [acme.W.userId, address('owner')]);
    const id = acme.W.uuid;
    expect(await scim('DELETE', `/Users/${id}`)).toMatchObject(error(409));
    expect(await patch(id, { op: 'replace', path: 'active', value: false })).toMatchObject(error(409));
    expect(await members()).toContain(`${address('owner')} 15`);
  });

  test('sso-171: returns 404 for members with other email addresses, and for domain users in other organizations', async () => {
    const other = await createActors(api.database);
    await createActor(api.database, other.organizationId, 1, address('elsewhere'));
    const elsewhere = await createUser(api.database.sql, { email: address('alone') });
    for (const { uuid } of [acme.M, other.M, elsewhere]) {
      for (const [method, body] of [
        ['GET'],
        ['PUT', newUser('ada')],
        ['PATCH', { Operations: [{ op: 'replace', path: 'active', value: false }] }],
        ['DELETE'],
      ] as const) {
        expect([method, await scim(method, `/Users/${uuid}`, body)]).toMatchObject([method, error(404)]);
      }
    }
    expect((await scim('GET', '/Users')).body).toMatchObject({ totalResults: 0, Resources: [] });
    expect(await members()).toContain(`${acme.M.email} 1`);
  });

  test('SCIM pages start at 1, contain at most 200 users, and include the total', async () => {
    for (const name of ['a', 'b', 'c']) await make(name);
    const page = async (query: string) => {
      const { body } = await scim('GET', `/Users?${query}`);
      const names = body.Resources.map(({ userName }: { userName: string }) => userName[0]);
      return [body.totalResults, body.startIndex, body.itemsPerPage, names.join('')];
    };
    expect(await page('count=2')).toEqual([3, 1, 2, 'ab']);
    expect(await page('count=2&startIndex=3')).toEqual([3, 3, 1, 'c']);
    expect(await page('startIndex=0&count=1000000')).toEqual([3, 1, 3, 'abc']);
    expect(await page('count=0')).toEqual([3, 1, 0, '']);
    expect(await page('startIndex=9')).toEqual([3, 9, 0, '']);
    expect(await scim('GET', '/Users?count=many')).toMatchObject(error(400, 'invalidValue'));
  });

  test.each([
    ['?attributes=userName', ['schemas', 'id', 'userName']],
    ['?attributes=name.familyName,EMAILS.value', ['schemas', 'id', 'name', 'emails']],
    ['?attributes=urn:ietf:params:scim:schemas:core:2.0:User:active', ['schemas', 'id', 'active']],
    ['?excludedAttributes=groups,meta,id,name,emails,displayName,externalId', ['schemas', 'id', 'userName', 'active']],
  ])('%s returns only the requested attributes', async (query, expected) => {
    const { id } = await make('ada');
    const one = (await scim('GET', `/Users/${id}${query}`)).body;
    expect(Object.keys(one)).toEqual(expected);
    expect((await scim('GET', `/Users${query}`)).body.Resources).toEqual([one]);
    if ('name' in one)
      expect([one.name, one.emails]).toEqual([{ familyName: 'Lovelace' }, [{ value: address('ada') }]]);
  });

  test('returns a list for a SCIM search with POST', async () => {
    const { id } = await make('ada');
    await make('grace');
    const search = { filter: `userName eq "${address('ada')}"`, attributes: ['userName'], count: 1, startIndex: 1 };
    expect(await scim('POST', '/Users/.search', search)).toMatchObject({
      status: 200,
      body: { totalResults: 1, Resources: [{ id, userName: address('ada') }] },
    });
    expect(await scim('POST', '/Users/.search', { filter: 'x' })).toMatchObject(error(400, 'invalidFilter'));
    expect(await scim('GET', '/Users/.search')).toMatchObject(error(405));
  });

  test("clears a user's name when a SCIM change removes it", async () => {
    const { id } = await make('ada');
    const { body } = await patch(id, { op: 'remove', path: 'name.familyName' });
    expect(body.name).toEqual({ givenName: 'Ada', familyName: '' });
    expect((await patch(id, { op: 'remove', path: 'name' })).body).toMatchObject({ displayName: address('ada') });
    expect((await scim('GET', `/Users/${id}`)).body.name).toBeUndefined();
  });

  test.each<[string, ScimMethod, string, unknown, number, string?]>([
    ['invalid JSON', 'POST', '/Users', '{', 400, 'invalidSyntax'],
    ['a list', 'POST', '/Users', [], 400, 'invalidSyntax'],
    ['a missing userName', 'POST', '/Users', {}, 400, 'invalidValue'],
    ['a userName that is not an address', 'POST', '/Users', { userName: 'ada' }, 400, 'invalidValue'],
    ['an address outside the domain', 'POST', '/Users', { userName: 'ada@gmail.example' }, 400, 'invalidValue'],
    ['a userName that is not a string', 'POST', '/Users', { userName: { a: 1 } }, 400, 'invalidValue'],
    ['an address with a null character', 'POST', '/Users', { userName: 'a\0@x.example' }, 400, 'invalidValue'],
    [
      'a non-boolean value of active',
      'POST',
      '/Users',
      { userName: 'a@b.example', active: 'perhaps' },
      400,
      'invalidValue',
    ],
    ['a name that is a string', 'POST', '/Users', { userName: 'a@b.example', name: 'Ada' }, 400, 'invalidSyntax'],
    ['another operator', 'GET', '/Users?filter=userName%20co%20%22a%22', undefined, 400, 'invalidFilter'],
    ['another attribute', 'GET', '/Users?filter=title%20eq%20%22a%22', undefined, 400, 'invalidFilter'],
    ['a filter without quotes', 'GET', '/Users?filter=userName%20eq%20a', undefined, 400, 'invalidFilter'],
    ['an unterminated quote', 'GET', '/Users?filter=userName%20eq%20%22a%5C%22', undefined, 400, 'invalidFilter'],
    ['an unknown ID', 'GET', `/Users/${randomUUID()}`, undefined, 404],
    ['a malformed ID', 'GET', "/Users/'%20OR%201=1", undefined, 404],
    ['an unsupported method', 'PUT', '/Users', {}, 405],
    ['another resource', 'GET', '/Devices', undefined, 404],
    ['bulk', 'POST', '/Bulk', {}, 404],
    ['the root path', 'GET', '/', undefined, 404],
    ['an ID in place of a resource', 'GET', `/${randomUUID()}`, undefined, 404],
  ])('rejects %s', async (_what, method, path, body, status, type: string | undefined = undefined) => {
    expect(await scim(method, path, body)).toMatchObject(error(status, type));
  });

  test.each<[string, object, string]>([
    ['no operations', {}, 'invalidSyntax'],
    ['an empty list', { Operations: [] }, 'invalidSyntax'],
    ['an unknown op', { Operations: [{ op: 'move', path: 'active' }] }, 'invalidSyntax'],
    ['a broken path', { Operations: [{ op: 'replace', path: 'a b[', value: 1 }] }, 'invalidPath'],
    ['a path that is not a string', { Operations: [{ op: 'replace', path: 7, value: 1 }] }, 'invalidPath'],
    ['no path to remove', { Operations: [{ op: 'remove' }] }, 'invalidPath'],
    ['no value', { Operations: [{ op: 'replace', path: 'active' }] }, 'invalidValue'],
    ['removing userName', { Operations: [{ op: 'remove', path: 'userName' }] }, 'mutability'],
    ['an empty userName', { Operations: [{ op: 'replace', path: 'userName', value: '' }] }, 'invalidValue'],
  ])('rejects a change with %s without changing anything', async (_what, body, type) => {
    const { id } = await make('ada');
    expect(await scim('PATCH', `/Users/${id}`, body)).toMatchObject(error(400, type));
    expect((await scim('GET', `/Users/${id}`)).body).toMatchObject({ userName: address('ada'), active: true });
  });
});

describe('SCIM groups', () => {
  const newGroup = (displayName: string, ids: string[] = []) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
    displayName,
    externalId: `ext-${displayName}`,
    members: ids.map((value) => ({ value })),
  });
  const group = (id: string) => scim('GET', `/Groups/${id}`);
  const patchGroup = (id: string, ...Operations: object[]) => scim('PATCH', `/Groups/${id}`, { Operations });
  const names = async (id: string) =>
    (await group(id)).body.members.map(({ display }: { display: string }) => display.split('@')[0]).sort();

  test('creates, finds, changes and deletes a group, which is a role with its members', async () => {
    const [ada, grace] = [await make('ada'), await make('grace')];
    const made = await scim('POST', '/Groups', newGroup('Support', [ada.id]));
    const { id } = made.body;
    expect(made).toMatchObject({
      status: 201,
      body: {
        displayName: 'Support',
        externalId: 'ext-Support',
        members: [{ value: ada.id, display: address('ada'), $ref: ada.meta.location }],
        meta: { resourceType: 'Group', location: `${api.url}/scim/v2/${domain.id}/Groups/${id}` },
      },
    });
    const role = await api.get(`/api/organizations/${acme.organizationId}/roles/${id}/`, acme.M.key);
    expect(role.body).toMatchObject({ name: 'Support', members: [{ user: { uuid: ada.id } }] });
    expect((await scim('GET', `/Users/${ada.id}`)).body.groups).toEqual([
      { value: id, display: 'Support', $ref: made.body.meta.location },
    ]);
    for (const filter of ['displayName eq "SUPPORT"', 'externalId eq "ext-Support"', `id eq "${id}"`]) {
      const found = await scim('GET', `/Groups?filter=${encodeURIComponent(filter)}`);
      expect([filter, found.body]).toMatchObject([filter, { totalResults: 1, Resources: [{ id }] }]);
    }
    const short = (await scim('GET', '/Groups?excludedAttributes=members')).body.Resources[0];
    expect(Object.keys(short)).not.toContain('members');

    const steps: [object[], string[]][] = [
      [[{ op: 'add', path: 'members', value: [{ value: grace.id }] }], ['ada', 'grace']],
      [[{ op: 'add', path: 'members', value: [{ value: grace.id }] }], ['ada', 'grace']],
      [[{ op: 'remove', path: `members[value eq "${ada.id}"]` }], ['grace']],
      [[{ op: 'replace', path: 'members', value: [{ value: ada.id.toUpperCase() }] }], ['ada']],
      [[{ op: 'remove', path: 'members', value: [{ value: ada.id }] }], []],
      [[{ op: 'add', value: { members: [{ value: ada.id }], displayName: 'Help' } }], ['ada']],
      [
        [
          { op: 'remove', path: 'members' },
          { op: 'add', path: 'members', value: { value: grace.id } },
        ],
        ['grace'],
      ],
    ];
    for (const [operations, expected] of steps) {
      expect((await patchGroup(id, ...operations)).status).toBe(200);
      expect(await names(id)).toEqual(expected);
    }
    expect(await scim('PUT', `/Groups/${id}`, newGroup('Desk', [ada.id]))).toMatchObject({
      status: 200,
      body: { displayName: 'Desk', members: [{ value: ada.id }] },
    });
    expect((await scim('DELETE', `/Groups/${id}`)).status).toBe(204);
    expect(await group(id)).toMatchObject(error(404));
  });

  test('grants a group the same access as a role', async () => {
    const ada = await make('ada');
    const { id } = (await scim('POST', '/Groups', newGroup('Support', [ada.id]))).body;
    const rule = { resource: 'dashboard', access_level: 'none', role: id };
    await api.send('PUT', `/api/projects/${acme.projectId}/resource_access_controls/`, { key: acme.A.key, body: rule });
    const [row] = await api.database.sql.query<{ id: number }>('SELECT id FROM "user" WHERE uuid = $1', [ada.id]);
    const session = await signInAs(api, row?.id ?? 0);
    const dashboards = `/api/projects/${acme.projectId}/dashboards/`;
    expect((await api.get(dashboards, session)).status).toBe(403);
    await patchGroup(id, { op: 'remove', path: 'members' });
    expect((await api.get(dashboards, session)).status).toBe(200);
  });

  test('does not remove a role from members with email addresses outside the domain', async () => {
    const { id } = (await scim('POST', '/Groups', newGroup('Support'))).body;
    const path = `/api/organizations/${acme.organizationId}/roles/${id}/role_memberships/`;
    await api.send('POST', path, { key: acme.A.key, body: { user_uuid: acme.M.uuid } });
    expect(await names(id)).toEqual([]);
    await scim('PUT', `/Groups/${id}`, newGroup('Support'));
    await patchGroup(id, { op: 'remove', path: `members[value eq "${acme.M.uuid}"]` });
    expect((await api.get(path, acme.A.key)).body.count).toBe(1);
  });

  test.each<[string, (id: string) => Promise<unknown>, number, string?]>([
    ['no name', () => scim('POST', '/Groups', { members: [] }), 400, 'invalidValue'],
    ['a name that is taken', () => scim('POST', '/Groups', newGroup('sUPPORT')), 409, 'uniqueness'],
    ['an unknown user', () => scim('POST', '/Groups', newGroup('New', [randomUUID()])), 400, 'invalidValue'],
    ['a user outside the domain', () => scim('POST', '/Groups', newGroup('New', [acme.M.uuid])), 400, 'invalidValue'],
    [
      'a member without an ID',
      (id) => patchGroup(id, { op: 'add', path: 'members', value: [{}] }),
      400,
      'invalidValue',
    ],
    ['1,001 members', () => scim('POST', '/Groups', newGroup('New', Array(1001).fill('x'))), 400, 'invalidValue'],
    ['removal of the name', (id) => patchGroup(id, { op: 'remove', path: 'displayName' }), 400, 'mutability'],
    ['an unknown group', () => scim('DELETE', `/Groups/${randomUUID()}`), 404],
  ])('rejects %s without changing anything', async (_what, ask, status, type: string | undefined = undefined) => {
    const { id } = (await scim('POST', '/Groups', newGroup('Support'))).body;
    expect(await ask(id)).toMatchObject(error(status, type));
    const { body } = await scim('GET', '/Groups');
    expect(body).toMatchObject({ totalResults: 1, Resources: [{ displayName: 'Support', members: [] }] });
  });

  test("returns 404 for another organization's roles", async () => {
    const other = await createActors(api.database);
    const roles = `/api/organizations/${other.organizationId}/roles/`;
    const theirs = (await api.send('POST', roles, { key: other.A.key, body: { name: 'Theirs' } })).body.id;
    expect(await group(theirs)).toMatchObject(error(404));
    expect(await scim('DELETE', `/Groups/${theirs}`)).toMatchObject(error(404));
    expect(await patchGroup(theirs, { op: 'replace', path: 'displayName', value: 'x' })).toMatchObject(error(404));
  });
});

describe('the SCIM token of a domain', () => {
  const manage = (method: 'GET' | 'POST', rest = '', key = acme.A.key) =>
    api.send(method, `/api/organizations/${acme.organizationId}/domains/${domain.id}/scim/${rest}`, { key });

  test('sso-171: the SCIM token must belong to the domain in the path, and all paths return 401 for other tokens', async () => {
    const other = await createActors(api.database);
    const theirs = await setUpScim(api, other);
    for (const path of ['/Users', `/Users/${randomUUID()}`, '/Groups', '/ServiceProviderConfig', '/nothing']) {
      for (const token of [theirs.token, 'scim_wrong', null]) {
        const response = await scim('GET', path, undefined, { token });
        expect(response).toMatchObject(error(401));
        expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
      }
    }
    expect(await scim('GET', '/Users', undefined, { id: theirs.id })).toMatchObject(error(401));
    expect(await scim('GET', '/Users', undefined, { id: 'nothing' })).toMatchObject(error(401));
  });

  test('the SCIM token is shown once, and can be renewed and revoked', async () => {
    expect(domain.token).toMatch(/^scim_[\w-]{40,}$/);
    expect((await manage('POST')).body).toEqual(expect.not.objectContaining({ scim_bearer_token: expect.anything() }));
    const renewed = (await manage('POST', 'regenerate/')).body.scim_bearer_token;
    expect(await scim('GET', '/Users')).toMatchObject(error(401));
    expect((await scim('GET', '/Users', undefined, { token: renewed })).status).toBe(200);
    expect((await manage('GET')).body).toEqual({
      scim_enabled: true,
      scim_base_url: `${api.url}/scim/v2/${domain.id}/`,
      created_at: expect.any(String),
      last_used_at: expect.any(String),
    });
    expect((await manage('POST', 'disable/')).body).toMatchObject({ scim_enabled: false, created_at: null });
    expect(await scim('GET', '/Users', undefined, { token: renewed })).toMatchObject(error(401));
    const stored = await api.database.sql.query('SELECT row_to_json(t)::text AS text FROM scim_token t');
    expect(JSON.stringify(stored)).not.toContain(domain.token);
    const history = await api.get(
      `/api/organizations/${acme.organizationId}/activity/?scope=OrganizationDomain`,
      acme.A.key,
    );
    const actions = history.body.results.map((one: { detail: { changes: { action: string }[] } }) => [
      one.detail.changes[0]?.action,
    ]);
    expect(actions).toEqual([['deleted'], ['changed'], ['created']]);
    expect(JSON.stringify(history.body)).not.toContain('scim_u');
  });

  test('members cannot see or create the SCIM token', async () => {
    for (const [method, rest] of [
      ['GET'],
      ['POST'],
      ['POST', 'regenerate/'],
      ['POST', 'disable/'],
      ['GET', 'logs/'],
    ] as const) {
      expect((await manage(method, rest, acme.M.key)).status).toBe(403);
    }
  });

  test("SCIM is turned on or off only with its token: changing the domain's `scim_enabled` returns 400", async () => {
    const change = (scim_enabled: unknown) =>
      api.send('PATCH', `/api/organizations/${acme.organizationId}/domains/${domain.id}/`, {
        key: acme.W.key,
        body: { scim_enabled },
      });
    const refused = { status: 400, body: { attr: 'scim_enabled', detail: expect.stringContaining('/scim/') } };
    expect(await change(false)).toMatchObject(refused);
    for (const same of [true, null]) expect((await change(same)).status).toBe(200);
    await manage('POST', 'disable/');
    expect(await change(true)).toMatchObject(refused);
    expect((await change(false)).status).toBe(200);
  });

  test('the SCIM token stops working if the domain is no longer verified, is renamed, or loses the plan feature', async () => {
    const { sql } = api.database;
    const works = async () => (await scim('GET', '/Users')).status;
    const states: unknown[] = [];
    for (const [change, back] of [
      [
        'UPDATE organization_domain SET verified_at = NULL WHERE id = $1',
        'UPDATE organization_domain SET verified_at = now() WHERE id = $1',
      ],
      [
        "UPDATE organization_domain SET proof_missing_since = now() - interval '8 days' WHERE id = $1",
        'UPDATE organization_domain SET proof_missing_since = NULL WHERE id = $1',
      ],
      [
        "UPDATE organization o SET available_product_features = '[]' FROM organization_domain d WHERE d.id = $1 AND o.id = d.organization_id",
        `UPDATE organization o SET available_product_features = '[{"key": "scim", "name": "SCIM"}]' FROM organization_domain d WHERE d.id = $1 AND o.id = d.organization_id`,
      ],
    ]) {
      await sql.query(change ?? '', [domain.id]);
      states.push(await works());
      await sql.query(back ?? '', [domain.id]);
      states.push(await works());
    }
    expect(states).toEqual([401, 200, 401, 200, 401, 200]);
    // sso-103: a renamed domain is a different domain, so its SCIM token is revoked.
    await api.send('PATCH', `/api/organizations/${acme.organizationId}/domains/${domain.id}/`, {
      key: acme.A.key,
      body: { domain: `${randomUUID()}.example` },
    });
    await sql.query('UPDATE organization_domain SET verified_at = now() WHERE id = $1', [domain.id]);
    expect([await works(), (await manage('GET')).body.scim_enabled]).toEqual([401, false]);
  });

  test('rejects a SCIM token for an unverified domain, or without the plan feature', async () => {
    await api.database.sql.query('UPDATE organization_domain SET verified_at = NULL WHERE id = $1', [domain.id]);
    const unproved = await manage('POST', 'regenerate/');
    expect([unproved.status, unproved.body.code]).toEqual([400, 'verification_required']);
    await api.database.sql.query("UPDATE organization SET available_product_features = '[]' WHERE id = $1", [
      acme.organizationId,
    ]);
    expect((await manage('POST', 'regenerate/')).status).toBe(402);
  });

  test("the SCIM log contains the provider's requests and the reason for each rejection, but no successful reads", async () => {
    const { id } = await make('ada');
    await scim('GET', '/Users');
    await scim('GET', '/Users?filter=x');
    await scim('POST', '/Users', newUser('ada'));
    const { body } = await manage('GET', 'logs/?limit=2');
    expect(body).toMatchObject({
      count: 3,
      results: [
        { method: 'POST', path: '/Users', status: 409, detail: expect.stringContaining('already exists') },
        { method: 'GET', path: '/Users?filter=x', status: 400, detail: expect.stringContaining('eq') },
      ],
    });
    await scim('DELETE', `/Users/${id}`);
    const history = await api.get(
      `/api/organizations/${acme.organizationId}/activity/?scope=OrganizationMembership`,
      acme.A.key,
    );
    expect(history.body.results[0]).toMatchObject({
      activity: 'deleted',
      user: { first_name: 'SCIM' },
      detail: { trigger: { job_type: 'scim', job_id: domain.name } },
    });
  });
});

test.each([
  ['/ServiceProviderConfig', { patch: { supported: true }, bulk: { supported: false }, filter: { maxResults: 200 } }],
  ['/ResourceTypes', { totalResults: 2, Resources: [{ id: 'User', endpoint: '/Users' }, { id: 'Group' }] }],
  ['/ResourceTypes/User', { id: 'User', schema: 'urn:ietf:params:scim:schemas:core:2.0:User' }],
  ['/Schemas', { totalResults: 2 }],
  ['/Schemas/urn:ietf:params:scim:schemas:core:2.0:User', { name: 'User' }],
])('%s describes what the SCIM API supports', async (path, expected) => {
  expect(await scim('GET', path)).toMatchObject({ status: 200, body: expected });
  expect(await scim('POST', path, {})).toMatchObject(error(405));
});

test('SCIM returns 429 with Retry-After for too many requests, and for too many wrong tokens from one IP address', async () => {
  const limited = await startTestApi({ limits: { ...noLimits, requestsPerMinute: 3, wrongKeysPerMinute: 2 } });
  try {
    const of = await createActors(limited.database);
    const [id, name] = [randomUUID(), 'limited.example'];
    await limited.database.sql.query(
      `INSERT INTO organization_domain (id, organization_id, domain, verification_challenge, verified_at)
       VALUES ($1, $2, $3, 'x', now())`,
      [id, of.organizationId, name],
    );
    const path = `/api/organizations/${of.organizationId}/domains/${id}/scim/`;
    const { scim_bearer_token: good } = (await limited.send('POST', path, { key: of.A.key })).body;
    const ask = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${limited.url}/scim/v2/${id}/Users`, { headers });
      const { status } = (await response.json()) as { status?: string };
      return [response.status, status ?? '200', Number(response.headers.get('retry-after')) > 0];
    };
    const asked = [];
    for (const token of [good, good, good, good, 'wrong', 'wrong', 'wrong', 'wrong']) asked.push(await ask(token));
    expect(asked).toEqual([
      ...Array(3).fill([200, '200', false]),
      [429, '429', true],
      ...Array(3).fill([401, '401', false]),
      [429, '429', true],
    ]);
  } finally {
    await limited.stop();
  }
});

test('two concurrent SCIM requests create only one user', async () => {
  const responses = await Promise.all([scim('POST', '/Users', newUser('ada')), scim('POST', '/Users', newUser('ada'))]);
  expect(responses.map(({ status }) => status).sort()).toEqual([201, 409]);
  expect((await scim('GET', '/Users')).body.totalResults).toBe(1);
});
