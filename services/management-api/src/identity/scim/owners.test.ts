import { createActor, createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { patchOp, type ScimTestDomain, scimError, sendScim, setUpScim } from '../../testing/scim-provider.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/** Tests what SCIM can change about an organization's owners (docs/api/scim.md). */
let api: TestApi;
let acme: OrganizationActors;
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  acme = await createActors(api.database);
});
afterAll(() => api.stop());

const levelOf = async (userId: number) =>
  (
    await api.database.sql.query<{ level: number }>(
      'SELECT level FROM membership WHERE organization_id = $1 AND user_id = $2',
      [acme.organizationId, userId],
    )
  )[0]?.level;
const addressOf = async (userId: number) =>
  (await api.database.sql.query<{ email: string }>('SELECT email FROM "user" WHERE id = $1', [userId]))[0]?.email;
const replace = (path: string, value: unknown) => patchOp({ op: 'replace', path, value });

test('SCIM does not rename or delete a role that has members outside the domain', async () => {
  const domain = await setUpScim(api, acme, 'W');
  const made = { method: 'POST', path: '/Groups', body: { displayName: 'Support' } } as const;
  const { id } = (await sendScim(api, domain, made)).body;
  const roles = `/api/organizations/${acme.organizationId}/roles/${id}/`;
  const member = { user_uuid: acme.M.uuid };
  const added = await api.send('POST', `${roles}role_memberships/`, { key: acme.A.key, body: member });
  expect(added.status).toBe(201);
  const path = `/Groups/${id}`;
  const rename = { method: 'PUT', path, body: { displayName: 'Desk' } } as const;
  const remove = { method: 'DELETE', path } as const;
  for (const request of [rename, remove]) {
    expect(await sendScim(api, domain, request)).toMatchObject(scimError(403));
  }
  expect((await sendScim(api, domain, { ...rename, body: { displayName: 'Support' } })).status).toBe(200);
  const left = await api.send('DELETE', `${roles}role_memberships/${added.body.id}/`, { key: acme.A.key });
  expect(left.status).toBe(204);
  expect((await sendScim(api, domain, rename)).body.displayName).toBe('Desk');
  expect((await sendScim(api, domain, remove)).status).toBe(204);
});

const attacks: [string, (domain: ScimTestDomain, uuid: string) => Parameters<typeof sendScim>[2]][] = [
  ['DELETE', (_, uuid) => ({ method: 'DELETE', path: `/Users/${uuid}` })],
  ['PATCH of active', (_, uuid) => ({ method: 'PATCH', path: `/Users/${uuid}`, body: replace('active', false) })],
  [
    'PUT of active',
    ({ name }, uuid) => ({
      method: 'PUT',
      path: `/Users/${uuid}`,
      body: { userName: `owner@${name}`, active: false },
    }),
  ],
  [
    'PATCH of userName',
    ({ name }, uuid) => ({ method: 'PATCH', path: `/Users/${uuid}`, body: replace('userName', `attacker@${name}`) }),
  ],
];

test.each(attacks)('SCIM returns 403 for %s of an owner if an administrator created the token', async (_, request) => {
  const domain = await setUpScim(api, acme, 'A');
  const owner = await createActor(api.database, acme.organizationId, 15, `owner@${domain.name}`);
  expect(await sendScim(api, domain, request(domain, owner.uuid))).toMatchObject(scimError(403));
  expect([await levelOf(owner.userId), await addressOf(owner.userId)]).toEqual([15, owner.email]);
  const names = replace('name.givenName', 'Grace');
  expect(await sendScim(api, domain, { method: 'PATCH', path: `/Users/${owner.uuid}`, body: names })).toMatchObject({
    status: 200,
  });
});

test.each(attacks)(
  'SCIM allows %s of an owner if an owner created the token and still is an owner',
  async (_, request) => {
    const domain = await setUpScim(api, acme, 'W');
    const owner = await createActor(api.database, acme.organizationId, 15, `owner@${domain.name}`);
    await api.database.sql.query('UPDATE membership SET level = 8 WHERE user_id = $1', [acme.W.userId]);
    expect(await sendScim(api, domain, request(domain, owner.uuid))).toMatchObject(scimError(403));
    await api.database.sql.query('UPDATE membership SET level = 15 WHERE user_id = $1', [acme.W.userId]);
    expect((await sendScim(api, domain, request(domain, owner.uuid))).status).toBeLessThan(300);
  },
);
