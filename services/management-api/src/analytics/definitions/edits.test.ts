import { randomUUID } from 'node:crypto';
import { addMember, createUser } from '@millrace/accounts';
import { notFound } from '../../testing/expected-errors.ts';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

let api: TestApi;
let acme: OrganizationActors;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  acme = await createActors(api.database);
});

const send = (method: 'POST' | 'PATCH' | 'PUT' | 'DELETE', path: string, body?: object) =>
  api.send(method, `/api/projects/${acme.projectId}/${path}`, { key: acme.M.key, ...(body && { body }) });
const get = (path: string) => api.get(`/api/projects/${acme.projectId}/${path}`, acme.M.key);
const names = async (path: string) => {
  const { status, body } = await get(path);
  expect([status, body.detail]).toEqual([200, undefined]);
  return body.results.map(({ name }: { name: string }) => name);
};

/** @returns the ID of each definition by its name */
async function noticed(kind: 'event' | 'property', ...noticedNames: string[]): Promise<Record<string, string>> {
  const [table, type, number] =
    kind === 'event' ? ['event_definition', '', ''] : ['property_definition', 'type,', '1,'];
  await api.database.sql.query(
    `INSERT INTO ${table} (project_id, ${type} name, last_seen_at) SELECT $1, ${number} unnest($2::text[]), now()`,
    [acme.projectId, noticedNames],
  );
  const { body } = await get(`${kind}_definitions/`);
  return Object.fromEntries(body.results.map(({ id, name }: { id: string; name: string }) => [name, id]));
}

describe.each(['event', 'property'] as const)('%s definitions', (kind) => {
  const list = `${kind}_definitions/`;

  it('returns the new values when a definition is changed, read and listed', async () => {
    const { order: id } = await noticed(kind, 'order');
    expect((await get(`${list}${id}/`)).body).toMatchObject({
      ...{ description: '', tags: [], verified: false, verified_at: null, verified_by: null, hidden: false },
      updated_by: null,
    });
    const fields = { description: 'A paid order', tags: ['sales', 'core'], verified: true };
    const { status, body: changed } = await send('PATCH', `${list}${id}/`, fields);
    expect([status, changed.detail]).toEqual([200, undefined]);
    expect(changed).toMatchObject({
      ...{ ...fields, id, name: 'order', hidden: false },
      ...{ verified_by: { id: acme.M.userId }, updated_by: { id: acme.M.userId } },
    });
    expect(Date.parse(changed.verified_at)).not.toBeNaN();
    expect((await get(`${list}${id}/`)).body).toEqual(changed);
    expect((await get(list)).body.results).toEqual([changed]);

    const again = await send('PUT', `${list}${id}/`, { ...changed, owner: undefined, description: null });
    expect(again.body).toMatchObject({ ...fields, description: '', verified_at: changed.verified_at });
  });

  it('marks a definition as verified or hidden but not both, and filters by both and by tags', async () => {
    const ids = await noticed(kind, 'a', 'b', 'c');
    await send('PATCH', `${list}${ids.a}/`, { verified: true, tags: ['x'] });
    await send('PATCH', `${list}${ids.b}/`, { hidden: true, tags: ['y'] });
    expect(await names(`${list}?verified=true`)).toEqual(['a']);
    expect(await names(`${list}?verified=false`)).toEqual(['b', 'c']);
    expect(await names(`${list}?exclude_hidden=true`)).toEqual(['a', 'c']);
    expect(await names(`${list}?exclude_hidden=false`)).toEqual(['a', 'b', 'c']);
    expect(await names(`${list}?tags=["x","z"]`)).toEqual(['a']);
    expect(await names(`${list}?excluded_properties=["a"]`)).toEqual(['b', 'c']);
    expect(await get(`${list}?tags=x`)).toMatchObject({ status: 400, body: { attr: 'tags' } });

    const hidden = await send('PATCH', `${list}${ids.a}/`, { hidden: true });
    expect(hidden.body).toMatchObject({ hidden: true, verified: false, verified_at: null, verified_by: null });
    const verified = await send('PATCH', `${list}${ids.b}/`, { verified: true });
    expect(verified.body).toMatchObject({ hidden: false, verified: true });
    expect(await send('PATCH', `${list}${ids.b}/`, { hidden: true, verified: true })).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(/^An? (event|property) cannot be both hidden and verified$/) },
    });
  });

  it('sorts definitions by name, or by the time when the name was last received', async () => {
    await noticed(kind, 'b', 'a', 'c');
    await api.database.sql.query(
      `UPDATE ${kind}_definition SET last_seen_at = now() - interval '1 day' WHERE project_id = $1 AND name = 'b'`,
      [acme.projectId],
    );
    await api.database.sql.query(
      `UPDATE ${kind}_definition SET last_seen_at = now() - interval '2 days' WHERE project_id = $1 AND name = 'c'`,
      [acme.projectId],
    );
    for (const [ordering, sorted] of [
      ['name', 'abc'],
      ['-name', 'cba'],
      ['last_seen_at', 'cba'],
      ['-last_seen_at', 'abc'],
    ])
      expect([ordering, (await names(`${list}?ordering=${ordering}`)).join('')]).toEqual([ordering, sorted]);
    expect(await get(`${list}?ordering=volume`)).toMatchObject({ status: 400, body: { attr: 'ordering' } });
  });

  it("returns 400 for changing a definition's name, and for strings that are too long", async () => {
    const { order: id } = await noticed(kind, 'order');
    for (const [body, attr] of [
      [{ name: 'buy' }, 'name'],
      [{ description: 'x'.repeat(10_001) }, 'description'],
      [{ tags: Array.from({ length: 101 }, String) }, 'tags'],
      [{ verified: 'perhaps' }, 'verified'],
    ] as const) {
      expect(await send('PATCH', `${list}${id}/`, body)).toMatchObject({ status: 400, body: { attr } });
    }
    expect((await send('PATCH', `${list}${id}/`, { name: 'order' })).status).toBe(200);
    expect(await send('PATCH', `${list}${randomUUID()}/`, {})).toMatchObject(notFound('Not found.'));
  });

  it('deletes a definition and records who changed and deleted it', async () => {
    const { order: id } = await noticed(kind, 'order');
    await send('PATCH', `${list}${id}/`, { description: 'A paid order' });
    await send('PATCH', `${list}${id}/`, { description: 'A paid order' });
    expect((await send('DELETE', `${list}${id}/`)).status).toBe(204);
    expect(await get(`${list}${id}/`)).toMatchObject(notFound('Not found.'));
    expect(await send('DELETE', `${list}${id}/`)).toMatchObject(notFound('Not found.'));
    expect(await names(list)).toEqual([]);
    const scope = kind === 'event' ? 'EventDefinition' : 'PropertyDefinition';
    const { body } = await api.get(
      `/api/organizations/${acme.organizationId}/activity/?scope=${scope}&item_id=${id}`,
      acme.A.key,
    );
    expect(body.results).toMatchObject([
      { activity: 'deleted', detail: { name: 'order' } },
      { activity: 'updated', detail: { changes: [{ field: 'description', before: '', after: 'A paid order' }] } },
    ]);
  });
});

describe('event definitions', () => {
  it('creates a definition before the first event, and finds it by name', async () => {
    const fields = { name: 'sign up', description: 'An account', tags: ['core'], hidden: true, owner: acme.A.userId };
    const { status, body: created } = await send('POST', 'event_definitions/', fields);
    expect([status, created.detail]).toEqual([201, undefined]);
    expect(created).toMatchObject({
      ...{ ...fields, owner: { id: acme.A.userId }, verified: false },
      ...{ created_at: null, last_seen_at: null, last_updated_at: null, updated_by: { id: acme.M.userId } },
    });
    expect((await get('event_definitions/by_name/?name=sign%20up')).body).toEqual(created);
    expect(await get('event_definitions/by_name/?name=sign')).toMatchObject(
      notFound("Event definition with name 'sign' not found"),
    );
    expect(await get('event_definitions/by_name/')).toMatchObject({ status: 400, body: { attr: 'name' } });
    expect(await send('POST', 'event_definitions/', { name: 'sign up' })).toMatchObject({
      status: 400,
      body: { attr: 'name', detail: "Event definition with name 'sign up' already exists" },
    });
    const { body: history } = await api.get(
      `/api/organizations/${acme.organizationId}/activity/?scope=EventDefinition&item_id=${created.id}`,
      acme.A.key,
    );
    expect(history.results).toMatchObject([{ activity: 'created', detail: { name: 'sign up' } }]);
  });

  it.each([
    ['post_to_slack', true, false],
    ['default_columns', ['plan'], []],
    ['enforcement_mode', 'reject', 'allow'],
    ['primary_property', '$pathname', null],
  ])('returns 400 for %s unless it has the default value', async (attr, value, standard) => {
    expect(await send('POST', 'event_definitions/', { name: 'a', [attr]: value })).toMatchObject({
      status: 400,
      body: { attr, detail: expect.stringContaining(`\`${attr}\` is not supported`) },
    });
    const { body } = await send('POST', 'event_definitions/', { name: 'a', [attr]: standard });
    expect(await send('PATCH', `event_definitions/${body.id}/`, { [attr]: value })).toMatchObject({
      status: 400,
      body: { attr },
    });
    expect((await send('PATCH', `event_definitions/${body.id}/`, { [attr]: standard })).status).toBe(200);
  });

  it('returns 400 for a name over 200 bytes and for an owner outside the organization', async () => {
    const stranger = await createUser(api.database.sql, { email: `${randomUUID()}@example.com` });
    expect(await send('POST', 'event_definitions/', { name: 'ü'.repeat(101) })).toMatchObject({
      status: 400,
      body: { attr: 'name', code: 'max_length' },
    });
    for (const owner of [stranger.id, 0, -1, 2 ** 40]) {
      expect(await send('POST', 'event_definitions/', { name: 'a', owner })).toMatchObject({
        status: 400,
        body: { attr: 'owner', code: 'does_not_exist' },
      });
    }
    await addMember(api.database.sql, { organizationId: acme.organizationId, userId: stranger.id });
    const { body } = await send('POST', 'event_definitions/', { name: 'a', owner: stranger.id });
    const cleared = await send('PATCH', `event_definitions/${body.id}/`, { owner: null });
    expect([body.owner.id, cleared.body.owner]).toEqual([stranger.id, null]);
  });
});

it('sets and clears the type of a property definition', async () => {
  const { amount: id } = await noticed('property', 'amount');
  const change = (property_type: unknown) => send('PATCH', `property_definitions/${id}/`, { property_type });
  expect((await change('Numeric')).body).toMatchObject({ property_type: 'Numeric', is_numerical: true });
  expect(await names('property_definitions/?is_numerical=true')).toEqual(['amount']);
  expect((await change(null)).body).toMatchObject({ property_type: null, is_numerical: false });
  expect(await change('Money')).toMatchObject({ status: 400, body: { attr: 'property_type' } });
});
