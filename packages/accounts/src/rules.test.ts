import { randomUUID } from 'node:crypto';
import type { MembershipLevel } from '@millrace/contracts';
import { createDatabase, type Database, type Transaction } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import {
  createTestDatabase,
  createTestTenant,
  eventually,
  type TestDatabase,
  type TestTenant,
} from '@millrace/testing';
import {
  acceptInvite,
  addMember,
  assignRole,
  blockAddress,
  changeProvisionedUser,
  changeRoleMembers,
  createInvites,
  createRole,
  createUser,
  findMembership,
  listInvites,
  listMembers,
  listRoleHoldersInDomain,
  listScimUsers,
  type NewInvite,
  provisionUser,
  removeMember,
  removeProvisionedUser,
  removeRole,
  renameRole,
  requireRoleWithinDomain,
  type ScimDomain,
  type ScimUserFields,
  setMemberLevel,
  unassignRole,
} from './index.ts';

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({ url: testDatabase.url, logger: createLogger('test', 'warn') });
});
afterAll(async () => {
  await database.stop();
  await testDatabase.drop();
});

const [member, administrator, owner] = [1, 8, 15] as const;
const names = new Map<number, string>([
  [member, 'a member'],
  [administrator, 'an administrator'],
  [owner, 'an owner'],
]);
const now = new Date();

async function join({ organizationId }: TestTenant, level: MembershipLevel, email = `${randomUUID()}@example.com`) {
  const user = await createUser(database.sql, { email });
  await addMember(database.sql, { organizationId, userId: user.id, level });
  return user;
}

const activities = async ({ organizationId }: TestTenant, scope: string) =>
  (
    await database.sql.query<{ activity: string }>(
      'SELECT activity FROM activity_log WHERE organization_id = $1 AND scope = $2 ORDER BY id',
      [organizationId, scope],
    )
  ).map(({ activity }) => activity);

async function refusalOf(attempt: Promise<unknown>): Promise<unknown> {
  return attempt.then(
    () => {
      throw new Error('The attempt was not refused.');
    },
    (error: unknown) => error,
  );
}

describe('membership levels', () => {
  /** Levels that a caller can give to another member, by the current levels of both. */
  const allowed: [caller: MembershipLevel, target: MembershipLevel, levels: MembershipLevel[]][] = [
    [member, member, []],
    [member, administrator, []],
    [member, owner, []],
    [administrator, member, [member, administrator]],
    [administrator, administrator, [member, administrator]],
    [administrator, owner, []],
    [owner, member, [member, administrator, owner]],
    [owner, administrator, [member, administrator, owner]],
    [owner, owner, [member, administrator, owner]],
  ];

  test.each(
    allowed.map(([caller, target, levels]) => [names.get(caller), names.get(target), levels, caller, target] as const),
  )('%s may change the level of another member, who is %s, to %j', async (_, _target, levels, caller, target) => {
    const tenant = await createTestTenant(database);
    const [by, changed] = [await join(tenant, caller), await join(tenant, target)];
    const addressed = { organizationId: tenant.organizationId, userId: changed.id };
    const possible: MembershipLevel[] = [];
    for (const level of [member, administrator, owner] as const) {
      await database
        .transaction(async (tx) => {
          await setMemberLevel(tx, { ...addressed, level, actor: { userId: by.id } });
          possible.push(level);
          throw new Error('undo');
        })
        .catch(() => undefined);
    }
    expect(possible).toEqual(levels);
  });

  test('prevents members from changing their own level, even to a lower one', async () => {
    const tenant = await createTestTenant(database);
    const { id: userId } = await join(tenant, owner);
    const attempt = database.transaction((tx) =>
      setMemberLevel(tx, { organizationId: tenant.organizationId, userId, level: member, actor: { userId } }),
    );
    expect(await refusalOf(attempt)).toMatchObject({ kind: 'forbidden' });
  });

  test('keeps the level of the last owner, even if an operator tries to change it', async () => {
    const { organizationId, userId } = await createTestTenant(database);
    const demote = database.transaction((tx) =>
      setMemberLevel(tx, { organizationId, userId, level: member, actor: null }),
    );
    expect(await refusalOf(demote)).toMatchObject({ kind: 'conflict' });
    const remove = database.transaction((tx) => removeMember(tx, { organizationId, userId, actor: null }));
    expect(await refusalOf(remove)).toMatchObject({ kind: 'conflict' });
  });

  test('changes levels in an organization one after the other, so that an owner remains', async () => {
    const tenant = await createTestTenant(database);
    const { organizationId, userId } = tenant;
    const other = await join(tenant, owner);
    const demote = (tx: Transaction, target: number, by: number) =>
      setMemberLevel(tx, { organizationId, userId: target, level: member, actor: { userId: by } });
    const second = await database.transaction(async (tx) => {
      await demote(tx, other.id, userId);
      const waiting = refusalOf(database.transaction((otherTx) => demote(otherTx, userId, other.id)));
      const waits = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await eventually(async () => (await database.sql.query(waits)).length > 0, { what: 'a wait for the lock' });
      return { waiting };
    });
    expect(await second.waiting).toMatchObject({ kind: 'forbidden' });
    const levels = (await listMembers(database.sql, tenant)).map(({ level }) => level);
    expect(levels.sort((one, another) => one - another)).toEqual([member, owner]);
  });

  test("revokes a member's invites that grant more than the member's new, lower level", async () => {
    const tenant = await createTestTenant(database);
    const inviter = await join(tenant, administrator);
    await invite(tenant, inviter.id, [{ targetEmail: 'high@example.com', level: administrator }]);
    await invite(tenant, inviter.id, [{ targetEmail: 'low@example.com' }]);
    const { organizationId, userId } = tenant;
    await database.transaction((tx) =>
      setMemberLevel(tx, { organizationId, userId: inviter.id, level: member, actor: { userId } }),
    );
    expect((await listInvites(database.sql, tenant)).map(({ target_email }) => target_email)).toEqual([
      'low@example.com',
    ]);
    await database.transaction((tx) => removeMember(tx, { organizationId, userId: inviter.id, actor: { userId } }));
    expect(await listInvites(database.sql, tenant)).toEqual([]);
  });
});

describe('removing a member', () => {
  test.each([
    ['a member', 'another member', 'forbidden', member, member],
    ['an administrator', 'a member', 'allowed', administrator, member],
    ['an administrator', 'another administrator', 'allowed', administrator, administrator],
    ['an administrator', 'an owner', 'forbidden', administrator, owner],
    ['an owner', 'an administrator', 'allowed', owner, administrator],
    ['an owner', 'another owner', 'invalid', owner, owner],
  ] as const)('%s removing %s is %s', async (_, _target, outcome, caller, target) => {
    const tenant = await createTestTenant(database);
    const [by, removed] = [await join(tenant, caller), await join(tenant, target)];
    await expectRemoval(tenant, { userId: removed.id, by: by.id, outcome });
  });

  test.each([
    ['a member', 'allowed', member],
    ['an administrator', 'allowed', administrator],
    ['an owner', 'invalid', owner],
  ] as const)('%s leaving the organization is %s', async (_, outcome, level) => {
    const tenant = await createTestTenant(database);
    const { id } = await join(tenant, level);
    await expectRemoval(tenant, { userId: id, by: id, outcome });
  });

  async function expectRemoval(
    { organizationId }: TestTenant,
    { userId, by, outcome }: { userId: number; by: number; outcome: 'allowed' | 'forbidden' | 'invalid' },
  ) {
    const addressed = { organizationId, userId };
    const attempt = database.transaction((tx) => removeMember(tx, { ...addressed, actor: { userId: by } }));
    if (outcome === 'allowed') expect(await attempt).toMatchObject({ user_id: userId });
    else expect(await refusalOf(attempt)).toMatchObject({ kind: outcome });
    expect((await findMembership(database.sql, addressed)) === undefined).toBe(outcome === 'allowed');
  }
});

const wholeKey = { scopes: ['*'], isLimited: false, expiresAt: null };

function invite({ organizationId }: TestTenant, userId: number, invites: NewInvite[], key = wholeKey) {
  return database.transaction((tx) =>
    createInvites(tx, { organizationId, userId, key }, { invites, now, explain: (_, error) => error }),
  );
}

describe('invites', () => {
  test('rejects an invite that grants a higher level than its creator has', async () => {
    const tenant = await createTestTenant(database);
    const inviter = await join(tenant, administrator);
    const asOwner = invite(tenant, inviter.id, [{ targetEmail: 'a@example.com', level: owner }]);
    expect(await refusalOf(asOwner)).toMatchObject({ kind: 'forbidden' });
    await invite(tenant, inviter.id, [{ targetEmail: 'a@example.com', level: administrator }]);
    expect(await listInvites(database.sql, tenant)).toMatchObject([{ level: administrator }]);
  });

  test('requires a key with all scopes to invite administrators and owners', async () => {
    const tenant = await createTestTenant(database);
    const key = { ...wholeKey, scopes: ['organization_member:write'] };
    const high = invite(tenant, tenant.userId, [{ targetEmail: 'a@example.com', level: administrator }], key);
    expect(await refusalOf(high)).toMatchObject({ kind: 'forbidden' });
    expect((await invite(tenant, tenant.userId, [{ targetEmail: 'a@example.com' }], key)).created).toHaveLength(1);
  });

  test('creates none of the invites in a request if one is rejected', async () => {
    const tenant = await createTestTenant(database);
    const colleague = await join(tenant, member);
    const invites = [{ targetEmail: 'new@example.com' }, { targetEmail: colleague.email.toUpperCase() }];
    expect(await refusalOf(invite(tenant, tenant.userId, invites))).toMatchObject({ kind: 'invalid' });
    expect(await listInvites(database.sql, tenant)).toEqual([]);
  });

  test('replaces a pending invite for the same address, and keeps its higher level only if requested', async () => {
    const tenant = await createTestTenant(database);
    const target = { targetEmail: 'Ada@example.com' };
    const levels = async () => (await listInvites(database.sql, tenant)).map(({ level }) => level);
    await invite(tenant, tenant.userId, [{ ...target, level: administrator }]);
    await invite(tenant, tenant.userId, [{ targetEmail: 'ada@EXAMPLE.com', combinePendingInvites: true }]);
    expect(await levels()).toEqual([administrator]);
    await invite(tenant, tenant.userId, [target]);
    expect(await levels()).toEqual([member]);
  });

  test('accepts an invite only once', async () => {
    const tenant = await createTestTenant(database);
    const { created } = await invite(tenant, tenant.userId, [{ targetEmail: 'ada@example.org', level: administrator }]);
    const user = await createUser(database.sql, { email: 'ada@example.org' });
    const id = created[0]?.id ?? '';
    const accept = () => database.transaction((tx) => acceptInvite(tx, id, { now, chooseUser: async () => user }));
    expect((await accept()).membership).toMatchObject({ level: administrator });
    expect(await refusalOf(accept())).toMatchObject({ kind: 'not_found' });
    expect(await activities(tenant, 'OrganizationInvite')).toContain('created');
  });

  test('rejects an invite after three days', async () => {
    const tenant = await createTestTenant(database);
    const { created } = await invite(tenant, tenant.userId, [{ targetEmail: 'late@example.org' }]);
    const user = await createUser(database.sql, { email: 'late@example.org' });
    const later = new Date(Date.now() + 3 * 86_400_000 + 60_000);
    const attempt = database.transaction((tx) =>
      acceptInvite(tx, created[0]?.id ?? '', { now: later, chooseUser: async () => user }),
    );
    expect(await refusalOf(attempt)).toMatchObject({ kind: 'invalid', code: 'expired' });
  });
});

describe('roles', () => {
  test('rejects a role name that the organization already uses, ignoring case', async () => {
    const [tenant, other] = [await createTestTenant(database), await createTestTenant(database)];
    const create = ({ organizationId }: TestTenant, name: string) =>
      database.transaction((tx) => createRole(tx, { organizationId, name, actor: null }));
    const { id: roleId } = await create(tenant, 'Support');
    await create(other, 'Support');
    expect(await refusalOf(create(tenant, 'SUPPORT'))).toMatchObject({ kind: 'invalid', attr: 'name' });
    await create(tenant, 'Sales');
    const of = { organizationId: tenant.organizationId, actor: null, roleId };
    const taken = database.transaction((tx) => renameRole(tx, { ...of, name: 'sales' }));
    expect(await refusalOf(taken)).toMatchObject({ kind: 'invalid', attr: 'name' });
    const foreign = database.transaction((tx) => removeRole(tx, { ...of, organizationId: other.organizationId }));
    expect(await refusalOf(foreign)).toMatchObject({ kind: 'not_found' });
  });

  test('gives a role to a member only once, and removes it together with the membership', async () => {
    const tenant = await createTestTenant(database);
    const { organizationId } = tenant;
    const user = await join(tenant, member);
    const stranger = await createUser(database.sql, { email: `${randomUUID()}@example.com` });
    const of = { organizationId, actor: null };
    const { id: roleId } = await database.transaction((tx) => createRole(tx, { ...of, name: 'Support' }));
    const give = (userUuid: string) => database.transaction((tx) => assignRole(tx, { ...of, roleId, userUuid }));
    const id = await give(user.uuid);
    expect(await refusalOf(give(user.uuid))).toMatchObject({ kind: 'invalid', attr: 'user_uuid', code: 'unique' });
    expect(await refusalOf(give(stranger.uuid))).toMatchObject({ attr: 'user_uuid', code: 'does_not_exist' });
    await database.transaction((tx) => removeMember(tx, { ...of, userId: user.id }));
    const taken = database.transaction((tx) => unassignRole(tx, { ...of, roleId, id }));
    expect(await refusalOf(taken)).toMatchObject({ kind: 'not_found' });
  });
});

describe('user provisioning by an identity provider', () => {
  async function world(mayChangeOwners = false) {
    const tenant = await createTestTenant(database);
    const domain: ScimDomain = {
      ...{ id: randomUUID(), organizationId: tenant.organizationId, name: `${randomUUID()}.example`, mayChangeOwners },
    };
    await database.sql.query(
      `INSERT INTO organization_domain (id, organization_id, domain, verification_challenge, verified_at)
       VALUES ($1, $2, $3, '', now())`,
      [domain.id, domain.organizationId, domain.name],
    );
    const fields = (name: string, more: Partial<ScimUserFields> = {}): ScimUserFields => ({
      ...{ userName: `${name}@${domain.name}`, firstName: '', lastName: '', externalId: null, isActive: true },
      ...more,
    });
    const provision = (sent: ScimUserFields) =>
      database.transaction((tx) => provisionUser(tx, domain, { ...sent, now }));
    const change = (uuid: string, sent: ScimUserFields) =>
      database.transaction((tx) => changeProvisionedUser(tx, domain, { uuid, fields: sent, now }));
    const list = async () => (await listScimUsers(database.sql, domain, { filter: {}, limit: 9, offset: 0 })).rows;
    return { tenant, domain, fields, provision, change, list };
  }

  test('adds, deactivates and reactivates a user of the domain without changing the account', async () => {
    const { domain, fields, provision, change, list } = await world();
    const { uuid } = await provision(fields('ada', { externalId: 'ext-1' }));
    expect(await list()).toMatchObject([{ uuid, external_id: 'ext-1', is_active: true }]);
    expect(await refusalOf(provision(fields('ADA')))).toMatchObject({ kind: 'conflict', code: 'uniqueness' });
    await change(uuid, fields('ada', { isActive: false }));
    expect(await list()).toMatchObject([{ uuid, is_active: false }]);
    await change(uuid, fields('ada'));
    expect(await list()).toMatchObject([{ uuid, is_active: true }]);
    await database.transaction((tx) => removeProvisionedUser(tx, domain, uuid));
    expect(await list()).toEqual([]);
  });

  test('an identity provider cannot change users outside its domain', async () => {
    const { tenant, fields, provision, change } = await world();
    const colleague = await join(tenant, member);
    const outside = provision(fields('ada', { userName: 'ada@other.example' }));
    expect(await refusalOf(outside)).toMatchObject({ kind: 'invalid', attr: 'userName' });
    const foreign = change(colleague.uuid, fields('colleague'));
    expect(await refusalOf(foreign)).toMatchObject({ kind: 'not_found' });
  });

  test('an identity provider cannot add a user whose email address an administrator has blocked', async () => {
    const { domain, fields, provision } = await world();
    const { organizationId } = domain;
    const email = fields('ada').userName;
    await database.transaction((tx) => blockAddress(tx, { organizationId, email, actor: null }));
    expect(await refusalOf(provision(fields('ada')))).toMatchObject({ kind: 'forbidden' });
  });

  test.each([
    ['removes an owner with a token that an owner created', true],
    ['does not remove an owner with a token that an administrator created', false],
  ])('%s', async (_, mayChangeOwners) => {
    const { tenant, domain, fields, change } = await world(mayChangeOwners);
    const boss = await join(tenant, owner, fields('boss').userName);
    const address = { organizationId: domain.organizationId, userId: boss.id };
    const attempt = change(boss.uuid, fields('boss', { isActive: false }));
    if (mayChangeOwners) await attempt;
    else expect(await refusalOf(attempt)).toMatchObject({ kind: 'forbidden' });
    expect((await findMembership(database.sql, address)) === undefined).toBe(mayChangeOwners);
  });

  test('an identity provider assigns and removes a role only for users of its domain', async () => {
    const { tenant, domain, fields, provision } = await world();
    const of = { organizationId: domain.organizationId, actor: null };
    const { id: roleId } = await database.transaction((tx) => createRole(tx, { ...of, name: 'Support' }));
    const colleague = await join(tenant, member);
    await database.transaction((tx) => assignRole(tx, { ...of, roleId, userUuid: colleague.uuid }));
    const [ada, ben] = [await provision(fields('ada')), await provision(fields('ben'))];
    const set = (members: string[]) =>
      database.transaction((tx) => changeRoleMembers(tx, domain, { roleId, members: { set: members } }));
    const holders = async () => (await listRoleHoldersInDomain(database.sql, domain, roleId)).map(({ uuid }) => uuid);
    await set([ada.uuid, ben.uuid]);
    await set([ben.uuid]);
    expect(await holders()).toEqual([ben.uuid]);
    expect(await refusalOf(set([colleague.uuid]))).toMatchObject({ kind: 'invalid', attr: 'members' });
    expect(await holders()).toEqual([ben.uuid]);
    const shared = database.transaction((tx) => requireRoleWithinDomain(tx, domain, roleId));
    expect(await refusalOf(shared)).toMatchObject({ kind: 'forbidden' });
  });
});
