import { randomUUID } from 'node:crypto';
import {
  acceptInvite,
  changeEnvironmentAccessRule,
  getUser,
  removeMember,
  revokeInvite,
  setMemberLevel,
  signUpByInvite,
} from '@millrace/accounts';
import type { Transaction } from '@millrace/db';
import {
  type Actor,
  createActor,
  createActors,
  newInviteSecret,
  type OrganizationActors,
} from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/** Tests that the API and the command line change members, invites and access rules in the same way. */
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const actor = { command: 'member' };

interface Scene extends OrganizationActors {
  /** A second administrator, who has invited a member and an administrator. */
  other: Actor;
  path: string;
  inviteIds: string[];
}

async function setScene(): Promise<Scene> {
  const actors = await createActors(api.database);
  const other = await createActor(api.database, actors.organizationId, 8);
  const path = `/api/organizations/${actors.organizationId}`;
  const inviteIds: string[] = [];
  for (const level of [1, 8]) {
    const body = { target_email: `${randomUUID()}@example.com`, first_name: 'Grace', level };
    inviteIds.push((await api.send('POST', `${path}/invites/`, { key: other.key, body })).body.id);
  }
  await api.database.sql.query('DELETE FROM activity_log');
  return { ...actors, other, path, inviteIds };
}

/**
 * Returns an organization's members, invites, access rules and activity, without values that differ between
 * organizations.
 */
async function stateOf({ organizationId }: Scene) {
  const rows = (text: string) => api.database.sql.query(text, [organizationId]);
  const members = await rows(
    `SELECT m.level, u.first_name, u.last_name, u.current_organization_id = $1 AS is_current,
            k.label, k.scopes, k.scoped_organizations, k.expires_at
       FROM membership m JOIN "user" u ON u.id = m.user_id LEFT JOIN personal_api_key k ON k.user_id = u.id
      WHERE m.organization_id = $1 ORDER BY m.joined_at, m.id`,
  );
  const invites = await rows('SELECT level FROM organization_invite WHERE organization_id = $1 ORDER BY level');
  const rules = await rows(
    `SELECT e.access_control, e.default_access_level, r.level
       FROM environment e JOIN project p ON p.id = e.project_id
       LEFT JOIN access_rule r ON r.environment_id = e.id
      WHERE p.organization_id = $1 ORDER BY e.id, r.created_at`,
  );
  const history = await rows(
    `SELECT scope, activity, environment_id IS NOT NULL AS is_of_environment, detail ->> 'name' IS NOT NULL AS is_named,
            regexp_replace(detail ->> 'changes', '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'id', 'g') AS changes
       FROM activity_log
      WHERE organization_id = $1
         OR item_id IN (SELECT u.uuid::text FROM membership m JOIN "user" u ON u.id = m.user_id WHERE m.organization_id = $1)
         OR item_id IN (SELECT k.id FROM membership m JOIN personal_api_key k USING (user_id) WHERE m.organization_id = $1)
      ORDER BY id`,
  );
  return { members, invites, rules, history };
}

/** Makes the same change twice: through the API in one organization, and through the command line in a second one. */
async function changed(
  byApi: (scene: Scene) => Promise<{ status: number }>,
  byCommand: (tx: Transaction, scene: Scene) => Promise<unknown>,
) {
  const one = await setScene();
  const { status } = await byApi(one);
  expect(Math.trunc(status / 100)).toBe(2);
  const state = await stateOf(one);
  const other = await setScene();
  await api.database.transaction((tx) => byCommand(tx, other));
  expect(await stateOf(other)).toEqual(state);
  return { ...state, records: state.history.map(({ scope, activity }) => `${scope} ${activity}`) };
}

test("lowering a member's level through the API or the command line withdraws the same invites for higher levels", async () => {
  const { invites, records } = await changed(
    ({ path, other, W }) => api.send('PATCH', `${path}/members/${other.uuid}/`, { key: W.key, body: { level: 1 } }),
    (tx, { organizationId, other: { userId } }) => setMemberLevel(tx, { organizationId, userId, level: 1, actor }),
  );
  expect(invites).toEqual([{ level: 1 }]);
  expect(records).toEqual(['OrganizationMembership updated', 'OrganizationInvite deleted']);
});

test('setting the level that a member already has changes nothing', async () => {
  const { records } = await changed(
    ({ path, other, W }) => api.send('PATCH', `${path}/members/${other.uuid}/`, { key: W.key, body: { level: 8 } }),
    (tx, { organizationId, other: { userId } }) => setMemberLevel(tx, { organizationId, userId, level: 8, actor }),
  );
  expect(records).toEqual([]);
});

test("removing a member has the same effect through the API and the command line, including on the member's invites", async () => {
  const { invites, records } = await changed(
    ({ path, other, W }) => api.send('DELETE', `${path}/members/${other.uuid}/`, { key: W.key }),
    (tx, { organizationId, other: { userId } }) => removeMember(tx, { organizationId, userId, actor }),
  );
  expect(invites).toEqual([]);
  const withdrawn = 'OrganizationInvite deleted';
  expect(records).toEqual(['OrganizationMembership deleted', withdrawn, withdrawn]);
});

test('withdrawing an invite has the same effect through the API and the command line', async () => {
  const { invites, records } = await changed(
    ({ path, M, inviteIds }) => api.send('DELETE', `${path}/invites/${inviteIds[1]}/`, { key: M.key }),
    (tx, { inviteIds: [, inviteId = ''] }) => revokeInvite(tx, { inviteId, actor }),
  );
  expect([invites, records]).toEqual([[{ level: 1 }], ['OrganizationInvite deleted']]);
});

test('accepting an invite as a new user has the same effect through the API and the command line', async () => {
  const { members, records } = await changed(
    async ({ inviteIds: [id = ''] }) => {
      const { token, hash } = newInviteSecret();
      const data = { token_hash: hash };
      await api.database.prisma.organization_invite.update({ where: { id }, data });
      return api.send('POST', `/api/signup/${id}/`, { body: { token } });
    },
    (tx, { inviteIds: [id = ''] }) => signUpByInvite(tx, id, { now: new Date(), isEmailVerified: false, actor }),
  );
  expect(members.at(-1)).toMatchObject({ level: 1, first_name: 'Grace', is_current: true, label: 'First key' });
  expect(records).toEqual(['User created', 'OrganizationMembership created', 'PersonalAPIKey created']);
});

test('accepting an invite as a user with an account has the same effect through the API and the command line', async () => {
  const invited = async ({ organizationId, off, inviteIds: [, id = ''] }: Scene) => {
    const { email } = await getUser(api.database.sql, { id: off.userId });
    const data = { target_email: email, email_key: email.toLowerCase() };
    await api.database.prisma.organization_invite.update({ where: { id, organization_id: organizationId }, data });
    await api.database.prisma.user.update({ where: { id: off.userId }, data: { is_email_verified: true } });
    return id;
  };
  const { members, records } = await changed(
    async (scene) =>
      api.send('POST', `/api/invites/${await invited(scene)}/accept/`, { key: scene.off.personalApiKey }),
    async (tx, scene) => {
      const chooseUser = () => getUser(tx, { id: scene.off.userId });
      return acceptInvite(tx, await invited(scene), { now: new Date(), chooseUser, actor });
    },
  );
  expect(members.at(-1)).toMatchObject({ level: 8, label: 'Test key' });
  expect(records).toEqual(['OrganizationMembership created']);
});

test('changing access rules has the same effect through the API and the command line', async () => {
  const membershipOf = async ({ organizationId, M: { userId } }: Scene) => {
    const where = { organization_id: organizationId, user_id: userId };
    return (await api.database.prisma.membership.findFirstOrThrow({ where })).id;
  };
  const { rules, records } = await changed(
    async (scene) => {
      const { projectId, W } = scene;
      const path = `/api/projects/${projectId}/access_controls/`;
      await api.send('PUT', path, { key: W.key, body: { access_level: 'none' } });
      const body = { access_level: 'admin', organization_member: await membershipOf(scene) };
      return api.send('PUT', path, { key: W.key, body });
    },
    async (tx, scene) => {
      const { projectId: environmentId } = scene;
      await changeEnvironmentAccessRule(tx, { environmentId, membershipId: null, roleId: null, level: 'none', actor });
      await changeEnvironmentAccessRule(tx, {
        environmentId,
        membershipId: await membershipOf(scene),
        roleId: null,
        level: 'admin',
        actor,
      });
    },
  );
  expect(rules).toEqual([{ access_control: true, default_access_level: null, level: 'admin' }]);
  expect(records).toEqual(['Team updated', 'Team updated']);
});
