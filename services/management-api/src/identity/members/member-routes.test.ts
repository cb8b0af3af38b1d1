import { randomUUID } from 'node:crypto';
import { addMember } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import { notFound, permissionDenied, validationError } from '../../testing/expected-errors.ts';
import { type Actor, createActor, createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/** Tests cases member-001 to member-016 (docs/cases.md#the-rest-api). */
const { member, administrator, owner } = membershipLevels;

let api: TestApi;
let acme: OrganizationActors;
let path: string;
beforeAll(async () => {
  api = await startTestApi();
  acme = await createActors(api.database);
  path = `/api/organizations/${acme.organizationId}/members/`;
});
afterAll(() => api.stop());

const join = (level: 1 | 8 | 15) => createActor(api.database, acme.organizationId, level);
const patch = (by: Actor, target: { uuid: string }, body: unknown = {}) =>
  api.send('PATCH', `${path}${target.uuid}/`, { key: by.key, body });
const remove = (by: Actor, target: { uuid: string }) => api.send('DELETE', `${path}${target.uuid}/`, { key: by.key });
const levelOf = async ({ userId }: Actor) =>
  (
    await api.database.prisma.membership.findFirst({
      where: { organization_id: acme.organizationId, user_id: userId },
    })
  )?.level;

test("member-001, member-002: lists an organization's active members, latest first", async () => {
  const actors = await createActors(api.database);
  const inactive = await createActor(api.database, actors.organizationId, member);
  await api.database.prisma.user.update({ where: { id: inactive.userId }, data: { is_active: false } });
  const at = `/api/organizations/${actors.organizationId}/members/`;
  const { status, body } = await api.get(at, actors.M.key);
  expect(status).toBe(200);
  expect(body.results.map((one: { user: { uuid: string } }) => one.user.uuid)).toEqual([
    actors.A.uuid,
    actors.M.uuid,
    actors.W.uuid,
  ]);
  expect(body.count).toBe(3);
  expect(await api.get(at, acme.W.key)).toMatchObject(permissionDenied());
  expect(await api.send('PATCH', `${at}${actors.M.uuid}/`, { key: acme.W.key, body: {} })).toMatchObject(
    permissionDenied(),
  );
});

describe('the list of members', () => {
  const emails = async (query: string) => {
    const { status, body } = await api.get(`${path}?${query}`, acme.M.key);
    expect(status).toBe(200);
    return body.results.map((one: { user: { email: string } }) => one.user.email);
  };

  test('sorts the members by the requested field', async () => {
    const latestFirst = await emails('');
    expect(await emails('order=joined_at')).toEqual([...latestFirst].reverse());
    const levels = (await api.get(`${path}?order=-level`, acme.M.key)).body.results.map(
      (one: { level: number }) => one.level,
    );
    expect(levels).toEqual([...levels].sort((one, other) => other - one));
    expect((await api.get(`${path}?order=password`, acme.M.key)).body).toMatchObject({
      code: 'invalid_choice',
      attr: 'order',
    });
  });

  test('filters the members by email address and by time of change', async () => {
    expect(await emails(`email=${acme.A.email.toUpperCase()}`)).toEqual([acme.A.email]);
    expect(await emails('email=unknown@example.com')).toEqual([]);
    expect(await emails(`search=${acme.A.email.slice(2, 20).toUpperCase()}`)).toEqual([acme.A.email]);
    expect(await emails('search=%25')).toEqual([]);
    const changed = await join(member);
    const { updated_at } = (await patch(acme.W, changed, { level: 8 })).body;
    expect(await emails(`updated_after=${new Date(Date.parse(updated_at) - 1).toISOString()}`)).toEqual([
      changed.email,
    ]);
    expect(await emails(`updated_after=${new Date(Date.parse(updated_at) + 1).toISOString()}`)).toEqual([]);
  });

  test('divides the members into pages that do not overlap', async () => {
    const first = await api.get(`${path}?limit=2`, acme.M.key);
    const second = await api.get(first.body.next, acme.M.key);
    expect([...first.body.results, ...second.body.results].map(({ id }: { id: string }) => id)).toEqual(
      (await api.get(path, acme.M.key)).body.results
        .slice(0, 2 + second.body.results.length)
        .map(({ id }: { id: string }) => id),
    );
  });
});

test('member-003 to member-005: administrators can remove other members, and all members except owners can leave', async () => {
  const [one, other, third] = [await join(member), await join(member), await join(administrator)];
  expect(await remove(one, other)).toMatchObject(permissionDenied('You can only edit others if you are an admin.'));
  expect(await levelOf(other)).toBe(member);
  expect((await remove(acme.A, other)).status).toBe(204);
  expect((await remove(one, one)).status).toBe(204);
  expect((await api.send('DELETE', `${path}@me/`, { key: third.key })).status).toBe(204);
  expect([await levelOf(other), await levelOf(one), await levelOf(third)]).toEqual([undefined, undefined, undefined]);
  expect(await api.get(path, one.key)).toMatchObject(permissionDenied());
  expect((await api.get('/api/users/@me/', one.key)).body.organizations).toEqual([]);
});

describe('invites by a member who can no longer send them', () => {
  const invitesPath = () => `/api/organizations/${acme.organizationId}/invites/`;
  async function invite(by: Actor, fields: object = {}): Promise<string> {
    const body = { target_email: `${randomUUID()}@example.com`, send_email: false, ...fields };
    const response = await api.send('POST', invitesPath(), { key: by.key, body });
    expect(response.status).toBe(201);
    return response.body.id;
  }
  const pending = async () => {
    const { body } = await api.get(`${invitesPath()}?limit=100`, acme.W.key);
    return body.results.map(({ id }: { id: string }) => id);
  };
  const withdrawn = async (id: string) =>
    (
      await api.database.prisma.activity_log.findMany({
        where: { scope: 'OrganizationInvite', item_id: id, activity: 'deleted' },
      })
    ).map(({ user_id }) => user_id);

  test("withdraws and records the invites when the member leaves or is removed, and keeps other members' invites", async () => {
    const [removed, leaving] = [await join(administrator), await join(member)];
    const withdrawnIds = [await invite(removed, { level: 8 }), await invite(removed), await invite(leaving)];
    const kept = await invite(acme.A);
    expect((await remove(acme.W, removed)).status).toBe(204);
    expect((await remove(leaving, leaving)).status).toBe(204);
    const remainingIds = await pending();
    expect(remainingIds).toContain(kept);
    for (const id of withdrawnIds) expect(remainingIds).not.toContain(id);
    expect([await withdrawn(withdrawnIds[0] ?? ''), await withdrawn(withdrawnIds[2] ?? '')]).toEqual([
      [acme.W.userId],
      [leaving.userId],
    ]);
  });

  test("keeps invites after a demotion if they grant no more than the member's new level", async () => {
    const demoted = await join(owner);
    const project = [{ id: acme.projectId, level: 8 }];
    const [asOwner, asAdministrator] = [await invite(demoted, { level: 15 }), await invite(demoted, { level: 8 })];
    const opening = await invite(demoted, { private_project_access: project });
    const plain = await invite(demoted);
    await patch(acme.W, demoted, { level: 8 });
    const afterFirst = await pending();
    expect([asOwner, asAdministrator, opening, plain].map((id) => afterFirst.includes(id))).toEqual([
      ...[false, true, true, true],
    ]);
    await patch(acme.W, demoted, { level: 1 });
    const afterSecond = await pending();
    expect([asAdministrator, opening, plain].map((id) => afterSecond.includes(id))).toEqual([false, false, true]);
    await patch(acme.W, demoted, { level: 8 });
    expect(await pending()).toContain(plain);
  });
});

test("member-006: an owner changes a member's level, and the response contains the member", async () => {
  const target = await join(member);
  const { status, body } = await patch(acme.W, target, { level: 8, joined_at: '2000-01-01T00:00:00Z' });
  expect([status, Object.keys(body)]).toEqual([
    200,
    ['id', 'user', 'level', 'joined_at', 'updated_at', 'is_2fa_enabled', 'has_social_auth', 'last_login'],
  ]);
  expect(body).toMatchObject({
    user: { uuid: target.uuid, email: target.email },
    level: 8,
    is_2fa_enabled: false,
    has_social_auth: false,
  });
  expect(Date.parse(body.joined_at)).toBeGreaterThan(Date.parse('2020-01-01'));
  expect(await levelOf(target)).toBe(8);
});

type Person = 'M' | 'A' | 'W';
const changes: [string, Person, 1 | 8 | 15, unknown, object, number][] = [
  ['member-007', 'A', member, { level: 8 }, { status: 200 }, 8],
  ['an administrator demotes another', 'A', administrator, { level: 1 }, { status: 200 }, 1],
  ['a level as a string', 'A', member, { level: '8' }, { status: 200 }, 8],
  ['member-008', 'M', member, { level: 8 }, permissionDenied('You can only edit others if you are an admin.'), 1],
  [
    'member-008, even without a change',
    'M',
    member,
    {},
    permissionDenied('You can only edit others if you are an admin.'),
    1,
  ],
  ['member-010', 'W', member, { level: 15 }, { status: 200 }, 15],
  [
    'member-011',
    'A',
    member,
    { level: 15 },
    permissionDenied("You can only make another member owner if you're this organization's owner."),
    1,
  ],
  [
    'member-012',
    'A',
    owner,
    { level: 1 },
    permissionDenied('You can only edit others with level lower or equal to you.'),
    15,
  ],
  ['an owner demotes another', 'W', owner, { level: 1 }, { status: 200 }, 1],
  [
    'member-014',
    'W',
    member,
    { level: 3 },
    validationError('invalid_choice', 'level', '"3" is not a valid choice. Choose one of: 1, 8, 15.'),
    1,
  ],
  [
    'member-014',
    'W',
    member,
    { level: 'x' },
    validationError('invalid_choice', 'level', '"x" is not a valid choice. Choose one of: 1, 8, 15.'),
    1,
  ],
  ['member-014', 'W', member, { level: null }, validationError('null', 'level', 'This field may not be null.'), 1],
  ['nothing', 'W', member, {}, { status: 200 }, 1],
];
test.each(changes)(
  '%s: returns the expected result when %s changes a member of level %i with %j',
  async (_, by, level, body, expected, after) => {
    const target = await join(level);
    expect(await patch(acme[by], target, body)).toMatchObject(expected);
    expect(await levelOf(target)).toBe(after);
  },
);

test("PUT changes a member's level like PATCH", async () => {
  const target = await join(member);
  const response = await api.send('PUT', `${path}${target.uuid}/`, { key: acme.W.key, body: { level: 8 } });
  expect(response).toMatchObject({ status: 200, body: { level: 8 } });
});

test('member-009, member-015: returns 403 when users change their own level', async () => {
  for (const actor of [acme.M, acme.A, acme.W]) {
    for (const level of [1, 8, 15]) {
      expect(await patch(actor, actor, { level })).toMatchObject(
        permissionDenied("You can't change your own access level."),
      );
    }
    expect((await patch(actor, { uuid: '@me' }, {})).status).toBe(200);
  }
  expect([await levelOf(acme.M), await levelOf(acme.A), await levelOf(acme.W)]).toEqual([1, 8, 15]);
});

test('member-012, member-013: returns 403 when an owner is removed', async () => {
  const second = await join(owner);
  expect(await remove(acme.A, second)).toMatchObject(
    permissionDenied('You can only edit others with level lower or equal to you.'),
  );
  for (const [by, target] of [
    [acme.W, second],
    [acme.W, acme.W],
  ] as const) {
    expect(await remove(by, target)).toMatchObject(
      validationError('invalid_input', null, 'Cannot leave the organization as its owner!'),
    );
  }
});

test('member-016: returns 405 for GET of a single member', async () => {
  const { status, body } = await api.get(`${path}${acme.M.uuid}/`, acme.M.key);
  expect([status, body.code]).toEqual([405, 'method_not_allowed']);
});

test.each([randomUUID(), 'not-a-uuid', '1', '%F0%9F%A6%94'])('returns 404 for the member %s', async (uuid) => {
  expect(await patch(acme.W, { uuid })).toMatchObject(notFound());
  expect(await remove(acme.W, { uuid })).toMatchObject(notFound());
});

test("returns 404 for another organization's member", async () => {
  const stranger = await api.database.prisma.user.findUniqueOrThrow({ where: { id: acme.off.userId } });
  expect(await patch(acme.W, stranger, { level: 8 })).toMatchObject(notFound());
  expect(await remove(acme.W, stranger)).toMatchObject(notFound());
});

test('leaves one owner when two owners demote each other concurrently', async () => {
  const actors = await createActors(api.database);
  const second = await createActor(api.database, actors.organizationId, owner);
  const at = `/api/organizations/${actors.organizationId}/members/`;
  for (let round = 0; round < 5; round += 1) {
    const [one, other] = await Promise.all([
      api.send('PATCH', `${at}${second.uuid}/`, { key: actors.W.key, body: { level: 1 } }),
      api.send('PATCH', `${at}${actors.W.uuid}/`, { key: second.key, body: { level: 1 } }),
    ]);
    expect([one?.status, other?.status].sort()).toEqual([200, 403]);
    const winner = one?.status === 200 ? actors.W : second;
    const loser = one?.status === 200 ? second : actors.W;
    expect((await api.send('PATCH', `${at}${loser.uuid}/`, { key: winner.key, body: { level: 15 } })).status).toBe(200);
  }
});

test('a user who joins an organization again gets a new membership', async () => {
  const actor = await join(member);
  const before = (await patch(acme.W, actor)).body.id;
  await remove(acme.W, actor);
  await addMember(api.database.sql, { organizationId: acme.organizationId, userId: actor.userId });
  expect((await patch(acme.W, actor)).body.id).not.toBe(before);
});

test('the activity log records changes and removals of members', async () => {
  const actor = await join(member);
  const { id } = (await patch(acme.W, actor, { level: 8 })).body;
  await patch(acme.W, actor, { level: 8 });
  await remove(acme.A, actor);
  const rows = await api.database.sql.query(
    'SELECT activity, user_id, organization_id, detail FROM activity_log WHERE item_id = $1 ORDER BY created_at',
    [id],
  );
  expect(rows).toMatchObject([
    {
      activity: 'updated',
      user_id: acme.W.userId,
      organization_id: acme.organizationId,
      detail: { changes: [{ field: 'level', before: 1, after: 8 }] },
    },
    { activity: 'deleted', user_id: acme.A.userId },
  ]);
});
