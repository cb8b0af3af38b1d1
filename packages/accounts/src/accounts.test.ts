import {
  hasPlanFeature,
  listProductFeatures,
  type MembershipLevel,
  type PlanName,
  planFeatures,
} from '@millrace/contracts';
import { createDatabase, type Database } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import {
  createTestDatabase,
  createTestEnvironment,
  createTestOrganization,
  createTestProject,
  createTestTenant,
  setTestPlan,
  type TestDatabase,
  type TestTenant,
} from '@millrace/testing';
import {
  addMember,
  createProject,
  createUser,
  getOrganization,
  getUser,
  listEnvironments,
  listMembers,
  listOrganizations,
  listProjects,
  listUsers,
} from './index.ts';

let testDatabase: TestDatabase;
let database: Database;
let tenant: TestTenant;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({ url: testDatabase.url, logger: createLogger('test', 'warn') });
  tenant = await createTestTenant(database, { email: 'owner@example.com' });
});
afterAll(async () => {
  await database.stop();
  await testDatabase.drop();
});

const unknownOrganization = '00000000-0000-4000-8000-000000000000';

describe('organizations', () => {
  test('creates an organization without paid features', async () => {
    const free = await createTestOrganization(database, { name: '  Free  ', features: [] });
    const full = await createTestOrganization(database, { name: 'Full', features: listProductFeatures('full') });

    expect(free).toMatchObject({ name: 'Free', available_product_features: [] });
    for (const feature of planFeatures) {
      expect(hasPlanFeature(free.available_product_features, feature)).toBe(false);
      expect(hasPlanFeature(full.available_product_features, feature)).toBe(true);
    }
  });

  test('changes the plan of an organization', async () => {
    const { id } = await createTestOrganization(database, { name: 'Changing' });
    await setTestPlan(database, id, 'full');
    const full = await getOrganization(database.sql, id);
    await setTestPlan(database, id, 'free');

    expect(full.available_product_features).toContainEqual({
      key: 'historical_migrations',
      name: 'Historical migrations',
    });
    expect((await getOrganization(database.sql, id)).available_product_features).toEqual([]);
  });

  test('lists an organization only for its members', async () => {
    const other = await createTestTenant(database);
    const own = await listOrganizations(database.sql, { userId: other.userId });

    expect(own.map(({ id }) => id)).toEqual([other.organizationId]);
    expect((await listOrganizations(database.sql)).map(({ id }) => id)).toEqual(
      expect.arrayContaining([other.organizationId, tenant.organizationId]),
    );
  });
});

describe('users', () => {
  test('stores an email address in lower case, and finds the user by the address in any case', async () => {
    const user = await createUser(database.sql, { email: ' Ada@Example.COM ', firstName: 'Ada' });

    expect(user).toMatchObject({ email: 'ada@example.com', first_name: 'Ada', last_name: '', is_active: true });
    expect(await getUser(database.sql, { email: 'ADA@example.com' })).toEqual(user);
    expect(await getUser(database.sql, { id: user.id })).toEqual(user);
  });

  test('lists a member together with the membership level', async () => {
    const user = await createUser(database.sql, { email: 'member@example.com' });
    await addMember(database.sql, { organizationId: tenant.organizationId, userId: user.id, level: 8 });

    const members = await listMembers(database.sql, tenant);
    expect(members.map((member) => [member.email, member.level])).toEqual([
      ['member@example.com', 8],
      ['owner@example.com', 15],
    ]);
    expect((await listUsers(database.sql, tenant)).map(({ id }) => id)).toEqual([tenant.userId, user.id]);
  });
});

describe('projects', () => {
  test("creates a project's first environment with the project's ID, the project's name and its own key", async () => {
    const { project, environment } = await database.transaction((tx) =>
      createProject(tx, {
        organizationId: tenant.organizationId,
        productDescription: 'Sells things',
        settings: { name: 'Shop', timezone: 'Europe/Vienna', anonymize_ips: true },
        actor: null,
      }),
    );

    expect(project).toMatchObject({ name: 'Shop', product_description: 'Sells things' });
    expect(environment).toMatchObject({
      id: project.id,
      project_id: project.id,
      name: 'Shop',
      timezone: 'Europe/Vienna',
      anonymize_ips: true,
      ingested_event: false,
      test_account_filters: [{ key: 'email', value: '@example.com' }, { key: '$host' }],
    });
    expect(environment.api_token).toMatch(/^phc_[0-9a-zA-Z]{43}$/);
  });

  test('takes the IDs of projects and environments from the same sequence', async () => {
    const { project } = await createTestProject(database, { organizationId: tenant.organizationId });
    const second = await createTestEnvironment(database, { projectId: project.id, name: 'Staging' });
    const { project: next } = await createTestProject(database, { organizationId: tenant.organizationId });

    expect(second.id).toBeGreaterThan(project.id);
    expect(next.id).toBeGreaterThan(second.id);
    const environments = await listEnvironments(database.sql, { projectId: project.id });
    expect(environments.map(({ id, name }) => [id, name])).toEqual([
      [project.id, 'Default project'],
      [second.id, 'Staging'],
    ]);
    expect(new Set(environments.map(({ api_token }) => api_token)).size).toBe(2);
    expect((await listProjects(database.sql, tenant)).map(({ id }) => id)).toEqual(
      expect.arrayContaining([project.id, next.id]),
    );
  });

  test('keeps no rows of a new project when the transaction is rolled back', async () => {
    const before = await database.prisma.project.count();
    const failing = database.transaction(async (tx) => {
      await createProject(tx, { organizationId: tenant.organizationId, actor: null });
      throw new Error('changed my mind');
    });

    await expect(failing).rejects.toThrow('changed my mind');
    expect(await database.prisma.project.count()).toBe(before);
  });
});

const refusals: [string, () => Promise<unknown>, { kind: string; code?: string; attr: string | null }][] = [
  [
    'an organization without a name',
    () => createTestOrganization(database, { name: '\t' }),
    { kind: 'invalid', code: 'blank', attr: 'name' },
  ],
  [
    'an organization with a name of 65 characters',
    () => createTestOrganization(database, { name: 'x'.repeat(65) }),
    { kind: 'invalid', code: 'max_length', attr: 'name' },
  ],
  [
    'an organization with a null character',
    () => createTestOrganization(database, { name: 'a\0b' }),
    { kind: 'invalid', code: 'null_characters_not_allowed', attr: 'name' },
  ],
  [
    'a plan change of an unknown organization',
    () => setTestPlan(database, unknownOrganization, 'full'),
    { kind: 'not_found', attr: null },
  ],
  [
    'a plan change with an organization ID that is no UUID',
    () => setTestPlan(database, 'mine', 'full'),
    { kind: 'not_found', attr: null },
  ],
  [
    'an unknown plan',
    () => setTestPlan(database, tenant.organizationId, 'gold' as PlanName),
    { kind: 'invalid', code: 'invalid_choice', attr: 'plan' },
  ],
  [
    'an address of an existing user',
    () => createUser(database.sql, { email: 'OWNER@example.com' }),
    { kind: 'conflict', code: 'unique', attr: 'email' },
  ],
  [
    'an address without a host',
    () => createUser(database.sql, { email: 'owner' }),
    { kind: 'invalid', code: 'invalid_input', attr: 'email' },
  ],
  [
    'an address with white space',
    () => createUser(database.sql, { email: 'an owner@example.com' }),
    { kind: 'invalid', code: 'invalid_input', attr: 'email' },
  ],
  [
    'an address of 255 characters',
    () => createUser(database.sql, { email: `${'x'.repeat(243)}@example.com` }),
    { kind: 'invalid', code: 'max_length', attr: 'email' },
  ],
  [
    'a first name of 151 characters',
    () => createUser(database.sql, { email: 'long@example.com', firstName: 'x'.repeat(151) }),
    { kind: 'invalid', code: 'max_length', attr: 'first_name' },
  ],
  [
    'adding a member twice',
    () => addMember(database.sql, tenant),
    { kind: 'conflict', code: 'unique', attr: 'user_id' },
  ],
  [
    'a member of level 3',
    () => addMember(database.sql, { ...tenant, level: 3 as MembershipLevel }),
    { kind: 'invalid', code: 'invalid_choice', attr: 'level' },
  ],
  [
    'a member of an unknown organization',
    () => addMember(database.sql, { ...tenant, organizationId: unknownOrganization }),
    { kind: 'not_found', attr: null },
  ],
  [
    'an unknown user as a member',
    () => addMember(database.sql, { ...tenant, userId: 2_000_000_000 }),
    { kind: 'not_found', attr: null },
  ],
  [
    'a project of an unknown organization',
    () => createTestProject(database, { organizationId: unknownOrganization }),
    { kind: 'not_found', attr: null },
  ],
  [
    'a project without a name',
    () => createTestProject(database, { ...tenant, name: '' }),
    { kind: 'invalid', code: 'blank', attr: 'name' },
  ],
  [
    'a project with a name of 201 characters',
    () => createTestProject(database, { ...tenant, name: 'x'.repeat(201) }),
    { kind: 'invalid', code: 'max_length', attr: 'name' },
  ],
  [
    'a project with an unknown time zone',
    () => createTestProject(database, { ...tenant, timezone: 'Mars/Olympus' }),
    { kind: 'invalid', code: 'invalid_choice', attr: 'timezone' },
  ],
  [
    'a project with a time zone in the wrong case, like the API',
    () => createTestProject(database, { ...tenant, timezone: 'europe/vienna' }),
    { kind: 'invalid', code: 'invalid_choice', attr: 'timezone' },
  ],
  [
    'a project with an offset as its time zone',
    () => createTestProject(database, { ...tenant, timezone: '+02:00' }),
    { kind: 'invalid', code: 'invalid_choice', attr: 'timezone' },
  ],
  [
    'an environment of an unknown project',
    () => createTestEnvironment(database, { projectId: 2_000_000_000 }),
    { kind: 'not_found', attr: null },
  ],
  [
    'an unknown organization',
    () => getOrganization(database.sql, unknownOrganization),
    { kind: 'not_found', attr: null },
  ],
  ['an unknown user', () => getUser(database.sql, { id: 2_000_000_000 }), { kind: 'not_found', attr: null }],
];

test.each(refusals)('rejects %s', async (_, attempt, expected) => {
  const refusal = await attempt().catch((error: unknown) => error);

  expect(refusal).toMatchObject({ name: 'AppError', ...expected });
  expect((refusal as Error).message).not.toMatch(/@example\.com/);
});
