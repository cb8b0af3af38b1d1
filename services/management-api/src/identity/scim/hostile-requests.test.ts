import { randomUUID } from 'node:crypto';
import { createActor, createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import {
  patchOp,
  type ScimMethod,
  type ScimTestDomain,
  scimError,
  sendScim,
  setUpScim,
} from '../../testing/scim-provider.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/** Tests SCIM requests that no correct client would send. */
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

const send = (method: ScimMethod, path: string, body?: unknown) => sendScim(api, domain, { method, path, body });
const address = (name: string) => `${name}@${domain.name}`;
async function createUser(name: string): Promise<string> {
  const { status, body } = await send('POST', '/Users', { userName: address(name) });
  expect(status).toBe(201);
  return body.id;
}
async function createGroup(members: string[] = []): Promise<string> {
  const body = { displayName: randomUUID(), members: members.map((value) => ({ value })) };
  return (await send('POST', '/Groups', body)).body.id;
}

describe('a SCIM request with a null character', () => {
  const nul = '\0';
  const filter = (text: string) => `?filter=${encodeURIComponent(text)}`;
  const requests: [string, (ids: { user: string; group: string }) => Parameters<typeof send>][] = [
    ['in the id of a user', () => ['GET', '/Users/a%00b']],
    ['in the id of a user to change', () => ['PUT', '/Users/a%00b', { userName: address('ada') }]],
    ['in the id of a user to delete', () => ['DELETE', '/Users/%00']],
    ['in the id of a group', () => ['GET', '/Groups/a%00b']],
    ['in the id of a group to delete', () => ['DELETE', '/Groups/%00']],
    ['in a filter by userName', () => ['GET', `/Users${filter('userName eq "a\\u0000b"')}`]],
    ['in a filter by id', () => ['GET', `/Users${filter('id eq "a\\u0000b"')}`]],
    ['in a filter by externalId', () => ['GET', `/Users${filter('externalId eq "a\\u0000b"')}`]],
    ['in a filter of groups', () => ['GET', `/Groups${filter('displayName eq "a\\u0000b"')}`]],
    ['in a search', () => ['POST', '/Users/.search', { filter: 'userName eq "a\\u0000b"' }]],
    ['in userName', () => ['POST', '/Users', { userName: address(`a${nul}b`) }]],
    [
      'in externalId',
      ({ user }) => ['PATCH', `/Users/${user}`, patchOp({ op: 'add', path: 'externalId', value: nul })],
    ],
    ['in a name', () => ['POST', '/Users', { userName: address('b'), name: { givenName: nul } }]],
    ['in the name of a group', ({ group }) => ['PUT', `/Groups/${group}`, { displayName: `a${nul}b` }]],
    ['in a member', ({ group }) => ['PUT', `/Groups/${group}`, { displayName: 'x', members: [{ value: `a${nul}` }] }]],
    [
      'in a member to remove',
      ({ group }) => ['PATCH', `/Groups/${group}`, patchOp({ op: 'remove', path: 'members[value eq "a\\u0000"]' })],
    ],
  ];
  test.each(requests)('%s returns 400', async (_, request) => {
    const ids = { user: await createUser('ada'), group: await createGroup() };
    expect(await send(...request(ids))).toMatchObject(scimError(400));
    const path = `/api/organizations/${acme.organizationId}/domains/${domain.id}/scim/logs/`;
    expect((await api.get(path, acme.A.key)).body.results[0]).toMatchObject({ status: 400 });
  });
});

describe('a SCIM search whose fields are not strings', () => {
  test.each([
    [{ filter: { toString: 1 } }],
    [{ startIndex: { valueOf: 1, toString: 1 } }],
    [{ attributes: [{ toString: 1 }] }],
    [{ attributes: [['userName']] }],
    [{ filter: true }],
  ])('returns 400 for %j', async (body) => {
    expect(await send('POST', '/Users/.search', body)).toMatchObject(scimError(400, 'invalidValue'));
  });
});

describe('SCIM email addresses with look-alike characters', () => {
  const kelvin = '\u212A';
  test('rejects look-alike characters in userName, and a filter with them finds no user', async () => {
    const id = await createUser('kim');
    const replace = (userName: string) => send('PUT', `/Users/${id}`, { userName });
    for (const name of [`${kelvin}im`, '\uFF4Bim', 'im\u212B', '\uFB01m']) {
      expect(await send('POST', '/Users', { userName: address(name) })).toMatchObject(scimError(400, 'invalidValue'));
      expect(await replace(address(name))).toMatchObject(scimError(400, 'invalidValue'));
      const filter = encodeURIComponent(`userName eq "${address(name)}"`);
      expect((await send('GET', `/Users?filter=${filter}`)).body.totalResults).toBe(0);
    }
    const host = `ada@${domain.name.replace('example', 'e\uFF58ample')}`;
    expect(await send('POST', '/Users', { userName: host })).toMatchObject(scimError(400, 'invalidValue'));
    expect((await replace(address('KIM'))).body.userName).toBe(address('kim'));
    expect((await send('GET', '/Users')).body.totalResults).toBe(1);
  });

  test('rejects look-alike characters in an invite, and a member search with them finds no member', async () => {
    const path = `/api/organizations/${acme.organizationId}`;
    const body = { target_email: `${kelvin}im@corp.example` };
    expect(await api.send('POST', `${path}/invites/`, { key: acme.A.key, body })).toMatchObject({
      status: 400,
      body: { attr: 'target_email' },
    });
    const member = await createActor(api.database, acme.organizationId, 1, address('kim'));
    const found = async (email: string) =>
      (await api.get(`${path}/members/?email=${encodeURIComponent(email)}`, acme.A.key)).body.count;
    expect([await found(member.email.toUpperCase()), await found(address(`${kelvin}im`))]).toEqual([1, 0]);
  });
});

describe('large SCIM changes', () => {
  const ids = (count: number) => Array.from({ length: count }, () => randomUUID());
  const values = (of: string[]) => of.map((value) => ({ value }));
  const change = (group: string, ...operations: object[]) => send('PATCH', `/Groups/${group}`, patchOp(...operations));

  test('returns 400 for more than 1,000 members across all operations', async () => {
    const group = await createGroup();
    const tooMany = scimError(400, 'invalidValue');
    const halves = [ids(600), ids(600)].map((half) => ({ op: 'remove', path: 'members', value: values(half) }));
    expect(await change(group, ...halves)).toMatchObject(tooMany);
    const added = halves.map(({ path, value }) => ({ op: 'add', path, value }));
    expect(await change(group, ...added)).toMatchObject(tooMany);
    expect((await change(group, ...halves.slice(1))).status).toBe(200);
    expect((await change(group, ...Array(25).fill(halves[0]))).status).toBe(200);
  });

  test('applies the operations of a SCIM change in order', async () => {
    const [ada, grace] = [await createUser('ada'), await createUser('grace')];
    const group = await createGroup([ada]);
    const operations = [
      { op: 'add', path: 'members', value: values([grace, ada.toUpperCase()]) },
      { op: 'remove', path: `members[value eq "${grace}"]` },
      { op: 'remove', path: 'members', value: values([ada]) },
      { op: 'add', path: 'members', value: values([ada]) },
    ];
    const members = async () =>
      (await send('GET', `/Groups/${group}`)).body.members.map(({ value }: { value: string }) => value);
    expect((await change(group, ...operations)).status).toBe(200);
    expect(await members()).toEqual([ada]);
    await change(group, { op: 'replace', path: 'members', value: values([ada]) }, ...operations.slice(0, 2));
    expect(await members()).toEqual([ada]);
    await change(group, { op: 'remove', path: 'members' }, { op: 'add', path: 'members', value: values([grace]) });
    expect(await members()).toEqual([grace]);
  });

  test('returns 400 for a search that requests more than 100 attributes', async () => {
    const attributes = ids(101);
    for (const name of ['attributes', 'excludedAttributes']) {
      expect(await send('POST', '/Users/.search', { [name]: attributes })).toMatchObject(
        scimError(400, 'invalidValue'),
      );
    }
    expect((await send('POST', '/Users/.search', { attributes: attributes.slice(1) })).status).toBe(200);
  });
});
