import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/**
 * Tests the requests that PostHog's Terraform provider sends for roles and access rules, and how it compares the
 * responses.
 */
let api: TestApi;
let acme: OrganizationActors;
beforeAll(async () => {
  api = await startTestApi();
  acme = await createActors(api.database);
});
afterAll(() => api.stop());

type Json = Record<string, unknown>;
const send = async (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object) => {
  const response = await api.send(method, path, { key: acme.A.key, ...(body && { body }) });
  expect([method, path, response.status >= 200 && response.status < 300, response.body?.detail]).toEqual([
    ...[method, path, true, undefined],
  ]);
  return response.body;
};

function idOf({ resource, resource_id: id, role, organization_member: member }: Json): string {
  const whom = role ? `role/${role}` : member ? `member/${member}` : 'default';
  return [acme.projectId, resource, ...(id ? [id] : []), whom].join('/');
}

test('Terraform creates roles with members, reads them without a diff, imports them, and destroys them', async () => {
  const roles = `/api/organizations/${acme.organizationId}/roles/`;
  const role = await send('POST', roles, { name: 'engineering' });
  const read = await send('GET', `${roles}${role.id}/`);
  expect(read).toMatchObject({
    id: role.id,
    name: 'engineering',
    created_at: role.created_at,
    created_by: acme.A.uuid,
  });
  expect((await send('GET', roles)).results.map(({ name }: Json) => name)).toEqual(['engineering']);
  expect(await send('PATCH', `${roles}${role.id}/`, { name: 'engineers' })).toMatchObject({ name: 'engineers' });

  const memberships = `${roles}${role.id}/role_memberships/`;
  const made = await send('POST', memberships, { user_uuid: acme.M.uuid });
  const again = await send('GET', `${memberships}${made.id}/`);
  const kept = ({ id, role_id, user, joined_at }: Json & { user?: Json }) => [
    id,
    role_id,
    user?.uuid,
    user?.email,
    joined_at,
  ];
  expect(kept(again)).toEqual(kept(made));
  await send('DELETE', `${memberships}${made.id}/`);
  await send('DELETE', `${roles}${role.id}/`);
  expect((await api.get(`${roles}${role.id}/`, acme.A.key)).status).toBe(404);
});

test('Terraform creates access rules, finds them again by their target, changes them, and destroys them', async () => {
  const base = `/api/projects/${acme.projectId}/`;
  const role = (await send('POST', `/api/organizations/${acme.organizationId}/roles/`, { name: 'support' })).id;
  const dashboard = String((await send('POST', `${base}dashboards/`, { name: 'one' })).id);
  const given = await send('GET', `/api/organizations/${acme.organizationId}/members/`);
  const member = given.results.find(({ user }: { user: Json }) => user.uuid === acme.M.uuid).id;
  const configured: Json[] = [
    { resource: 'feature_flag', access_level: 'viewer' },
    { resource: 'feature_flag', role, access_level: 'editor' },
    { resource: 'dashboard', organization_member: member, access_level: 'editor' },
    { resource: 'dashboard', resource_id: dashboard, role, access_level: 'viewer' },
    { resource: 'dashboard', resource_id: dashboard, access_level: 'none' },
    // Terraform configurations can set rules for record kinds that Millrace does not have.
    { resource: 'experiment', role, access_level: 'viewer' },
    { resource: 'session_recording', role, access_level: 'none' },
  ];
  for (const rule of configured) {
    const path = rule.resource_id
      ? `${base}${rule.resource}s/${rule.resource_id}/access_controls/`
      : `${base}resource_access_controls/`;
    const found = async () =>
      (await send('GET', path)).access_controls.find((one: Json) => idOf(one) === idOf(rule)) as Json | undefined;
    const made = await send('PUT', path, rule);
    expect(await found()).toEqual(made);
    expect(made).toMatchObject(rule);
    expect(await send('PUT', path, { ...rule, access_level: 'none' })).toMatchObject({ access_level: 'none' });
    expect((await found())?.access_level).toBe('none');
    await send('PUT', path, { ...rule, access_level: null });
    expect(await found()).toBeUndefined();
  }
});

test('Terraform grants roles access to a project, and removes the access again', async () => {
  const path = `/api/projects/${acme.projectId}/access_controls/`;
  const role = (await send('POST', `/api/organizations/${acme.organizationId}/roles/`, { name: 'sales' })).id;
  const made = await send('PUT', path, { access_level: 'admin', role });
  expect((await send('GET', path)).access_controls).toEqual([made]);
  expect(await send('PUT', path, { access_level: null, role })).toMatchObject({ access_level: null, role });
  expect((await send('GET', path)).access_controls).toEqual([]);
});
