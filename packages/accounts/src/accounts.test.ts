import {
  hasPlanFeature,
  type MembershipLevel,
  type PlanName,
  planFeatures,
  productFeaturesOf,
} from '@millrace/contracts';
import { createDatabase, type Database } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import { createTestDatabase, createTestTenant, type TestDatabase, type TestTenant } from '@millrace/testing';
import {
  addMember,
  createEnvironment,
  createOrganization,
  createProject,
  createUser,
  getOrganization,
  getUser,
  listEnvironments,
  listMembers,
  listOrganizations,
  listProjects,
  listUsers,
  setOrganizationPlan,
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

describe('an organization', () => {
  test('has no gated feature unless it is given some', async () => {
    const free = await createOrganization(database.prisma, { name: '  Free  ' });
    const full = await createOrganization(database.prisma, { name: 'Full', features: productFeaturesOf('full') });

    expect(free).toMatchObject({ name: 'Free', available_product_features: [] });
    for (const feature of planFeatures) {
      expect(hasPlanFeature(free.available_product_features, feature)).toBe(false);
      expect(hasPlanFeature(full.available_product_features, feature)).toBe(true);
    }
  });

  test('changes its plan', async () => {
    const { id } = await createOrganization(database.prisma, { name: 'Changing' });
    await setOrganizationPlan(database.prisma, id, 'full');
    const full = await getOrganization(database.prisma, id);
    await setOrganizationPlan(database.prisma, id, 'free');

    expect(full.available_product_features).toContainEqual({
      key: 'historical_migrations',
      name: 'Historical migrations',
    });
    expect((await getOrganization(database.prisma, id)).available_product_features).toEqual([]);
  });

  test('is listed for its members only', async () => {
    const other = await createTestTenant(database);
    const own = await listOrganizations(database.prisma, { userId: other.userId });

    expect(own.map(({ id }) => id)).toEqual([other.organizationId]);
    expect((await listOrganizations(database.prisma)).map(({ id }) => id)).toEqual(
      expect.arrayContaining([other.organizationId, tenant.organizationId]),
    );
  });
});

describe('a user', () => {
  test('is stored with the address in lower case and found however it is written', async () => {
    const user = await createUser(database.prisma, { email: ' Ada@Example.COM ', firstName: 'Ada' });

    expect(user).toMatchObject({ email: 'ada@example.com', first_name: 'Ada', last_name: '', is_active: true });
    expect(await getUser(database.prisma, { email: 'ADA@example.com' })).toEqual(user);
    expect(await getUser(database.prisma, { id: user.id })).toEqual(user);
  });

  test('that is a member is listed with the level', async () => {
    const user = await createUser(database.prisma, { email: 'member@example.com' });
    await addMember(database.prisma, { organizationId: tenant.organizationId, userId: user.id, level: 8 });

    const members = await listMembers(database.prisma, tenant);
    expect(members.map((member) => [member.user.email, member.level])).toEqual([
      ['member@example.com', 8],
      ['owner@example.com', 15],
    ]);
    expect((await listUsers(database.prisma, tenant)).map(({ id }) => id)).toEqual([tenant.userId, user.id]);
  });
});

describe('a project', () => {
  test('has a first environment with its own id, name and key', async () => {
    const { project, environment } = await createProject(database.prisma, {
      organizationId: tenant.organizationId,
      name: 'Shop',
      productDescription: 'Sells things',
      timezone: 'Europe/Vienna',
      anonymizeIps: true,
    });

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

  test('gets further environments from the same ids', async () => {
    const { project } = await createProject(database.prisma, { organizationId: tenant.organizationId });
    const second = await createEnvironment(database.prisma, { projectId: project.id, name: 'Staging' });
    const { project: next } = await createProject(database.prisma, { organizationId: tenant.organizationId });

    expect(second.id).toBeGreaterThan(project.id);
    expect(next.id).toBeGreaterThan(second.id);
    const environments = await listEnvironments(database.prisma, { projectId: project.id });
    expect(environments.map(({ id, name }) => [id, name])).toEqual([
      [project.id, 'Default project'],
      [second.id, 'Staging'],
    ]);
    expect(new Set(environments.map(({ api_token }) => api_token)).size).toBe(2);
    expect((await listProjects(database.prisma, tenant)).map(({ id }) => id)).toEqual(
      expect.arrayContaining([project.id, next.id]),
    );
  });

  test('leaves nothing behind in a transaction that is rolled back', async () => {
    const before = await database.prisma.project.count();
    const failing = database.prisma.$transaction(async (tx) => {
      await createProject(tx, { organizationId: tenant.organizationId });
      throw new Error('changed my mind');
    });

    await expect(failing).rejects.toThrow('changed my mind');
    expect(await database.prisma.project.count()).toBe(before);
  });
});

const refusals: [string, () => Promise<unknown>, { kind: string; code?: string; attr: string | null }][] = [
  [
    'an organization without a name',
    () => createOrganization(database.prisma, { name: '\t' }),
    { kind: 'invalid', code: 'blank', attr: 'name' },
  ],
  [
    'an organization with a name of 65 characters',
    () => createOrganization(database.prisma, { name: 'x'.repeat(65) }),
    { kind: 'invalid', code: 'max_length', attr: 'name' },
  ],
  [
    'an organization with a null character',
    () => createOrganization(database.prisma, { name: 'a\0b' }),
    { kind: 'invalid', code: 'null_characters_not_allowed', attr: 'name' },
  ],
  [
    'the plan of an unknown organization',
    () => setOrganizationPlan(database.prisma, unknownOrganization, 'full'),
    { kind: 'not_found', attr: null },
  ],
  [
    'the plan of no UUID',
    () => setOrganizationPlan(database.prisma, 'mine', 'full'),
    { kind: 'not_found', attr: null },
  ],
  [
    'an unknown plan',
    () => setOrganizationPlan(database.prisma, tenant.organizationId, 'gold' as PlanName),
    { kind: 'invalid', code: 'invalid_choice', attr: 'plan' },
  ],
  [
    'an address that is taken',
    () => createUser(database.prisma, { email: 'OWNER@example.com' }),
    { kind: 'conflict', code: 'unique', attr: 'email' },
  ],
  [
    'an address without a host',
    () => createUser(database.prisma, { email: 'owner' }),
    { kind: 'invalid', code: 'invalid_input', attr: 'email' },
  ],
  [
    'an address with white space',
    () => createUser(database.prisma, { email: 'an owner@example.com' }),
    { kind: 'invalid', code: 'invalid_input', attr: 'email' },
  ],
  [
    'an address of 255 characters',
    () => createUser(database.prisma, { email: `${'x'.repeat(243)}@example.com` }),
    { kind: 'invalid', code: 'max_length', attr: 'email' },
  ],
  [
    'a first name of 151 characters',
    () => createUser(database.prisma, { email: 'long@example.com', firstName: 'x'.repeat(151) }),
    { kind: 'invalid', code: 'max_length', attr: 'first_name' },
  ],
  ['a member twice', () => addMember(database.prisma, tenant), { kind: 'conflict', code: 'unique', attr: 'user_id' }],
  [
    'a member of level 3',
    () => addMember(database.prisma, { ...tenant, level: 3 as MembershipLevel }),
    { kind: 'invalid', code: 'invalid_choice', attr: 'level' },
  ],
  [
    'a member of an unknown organization',
    () => addMember(database.prisma, { ...tenant, organizationId: unknownOrganization }),
    { kind: 'not_found', attr: null },
  ],
  [
    'an unknown user as a member',
    () => addMember(database.prisma, { ...tenant, userId: 2_000_000_000 }),
    { kind: 'not_found', attr: null },
  ],
  [
    'a project of an unknown organization',
    () => createProject(database.prisma, { organizationId: unknownOrganization }),
    { kind: 'not_found', attr: null },
  ],
  [
    'a project without a name',
    () => createProject(database.prisma, { ...tenant, name: '' }),
    { kind: 'invalid', code: 'blank', attr: 'name' },
  ],
  [
    'a project with a name of 201 characters',
    () => createProject(database.prisma, { ...tenant, name: 'x'.repeat(201) }),
    { kind: 'invalid', code: 'max_length', attr: 'name' },
  ],
  [
    'a project in no time zone',
    () => createProject(database.prisma, { ...tenant, timezone: 'Mars/Olympus' }),
    { kind: 'invalid', code: 'invalid_choice', attr: 'timezone' },
  ],
  [
    'a project in a time zone written in another case, as the API refuses it',
    () => createProject(database.prisma, { ...tenant, timezone: 'europe/vienna' }),
    { kind: 'invalid', code: 'invalid_choice', attr: 'timezone' },
  ],
  [
    'a project in an offset',
    () => createProject(database.prisma, { ...tenant, timezone: '+02:00' }),
    { kind: 'invalid', code: 'invalid_choice', attr: 'timezone' },
  ],
  [
    'an environment of an unknown project',
    () => createEnvironment(database.prisma, { projectId: 2_000_000_000 }),
    { kind: 'not_found', attr: null },
  ],
  [
    'an unknown organization',
    () => getOrganization(database.prisma, unknownOrganization),
    { kind: 'not_found', attr: null },
  ],
  ['an unknown user', () => getUser(database.prisma, { id: 2_000_000_000 }), { kind: 'not_found', attr: null }],
];

test.each(refusals)('%s is refused', async (_, attempt, expected) => {
  const refusal = await attempt().catch((error: unknown) => error);

  expect(refusal).toMatchObject({ name: 'AppError', ...expected });
  expect((refusal as Error).message).not.toMatch(/@example\.com/);
});
