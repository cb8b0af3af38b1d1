import { createTestDatabase, createTestTenant, type TestDatabase, type TestTenant } from '@millrace/testing';
import { runCli } from './program.ts';

let testDatabase: TestDatabase;
let tenant: TestTenant;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  tenant = await createTestTenant(testDatabase.url, { organizationName: 'Acme', projectName: 'Shop' });
});
afterAll(() => testDatabase.drop());

async function run(...args: string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const exitCode = await runCli([...args, '--json'], {
    env: { DATABASE_URL: testDatabase.url },
    out: { write: (text) => out.push(text) },
    err: { write: (text) => err.push(text) },
  });
  return { exitCode, result: out.join('') === '' ? null : JSON.parse(out.join('')), err: err.join('') };
}

const anyTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
const ofOrganization = () => ['--organization', tenant.organizationId];
const ofProject = () => ['--project', String(tenant.projectId)];
const ofEnvironment = () => ['--environment', String(tenant.environmentId)];

test('`show` prints the organization, project or environment with the given ID', async () => {
  expect((await run('org', 'show', ...ofOrganization())).result).toEqual({
    id: tenant.organizationId,
    name: 'Acme',
    plan: 'full',
    createdAt: anyTime,
    slug: expect.stringMatching(/^acme/),
    projects: [tenant.projectId],
    members: 1,
  });
  expect((await run('project', 'show', ...ofProject())).result).toEqual({
    projectId: tenant.projectId,
    organizationId: tenant.organizationId,
    name: 'Shop',
    productDescription: null,
    environments: [tenant.environmentId],
    projectApiKey: tenant.projectApiKey,
    createdAt: anyTime,
  });
  expect((await run('environment', 'show', ...ofEnvironment())).result).toEqual({
    environmentId: tenant.environmentId,
    projectId: tenant.projectId,
    name: 'Shop',
    timezone: 'UTC',
    projectApiKey: tenant.projectApiKey,
    createdAt: anyTime,
  });
});

test('renames an organization, a project together with its first environment, or only an environment', async () => {
  expect((await run('project', 'rename', ...ofProject(), '--name', ' Store ')).result).toMatchObject({ name: 'Store' });
  expect((await run('environment', 'show', ...ofEnvironment())).result).toMatchObject({ name: 'Store' });
  expect((await run('environment', 'rename', ...ofEnvironment(), '--name', 'Live')).result).toMatchObject({
    environmentId: tenant.environmentId,
    name: 'Live',
  });
  expect((await run('project', 'show', ...ofProject())).result).toMatchObject({ name: 'Store' });
  expect((await run('org', 'rename', ...ofOrganization(), '--name', 'Example')).result).toMatchObject({
    id: tenant.organizationId,
    name: 'Example',
  });
});

test('delete commands do not delete anything without --yes', async () => {
  for (const [args, what] of [
    [['org', 'delete', ...ofOrganization()], 'the organization '],
    [['project', 'delete', ...ofProject()], 'the project '],
    [['environment', 'delete', ...ofEnvironment()], 'its project and its data'],
  ] as const) {
    expect(await run(...args)).toEqual({ exitCode: 2, result: null, err: expect.stringContaining(what) });
    expect((await run(...args)).err).toContain('--yes');
  }
  expect((await run('environment', 'show', ...ofEnvironment())).exitCode).toBe(0);
});

test('deletes organizations, projects and environments, and a project together with its last environment', async () => {
  const other = await createTestTenant(testDatabase.url, { projectName: 'Other' });
  const added = await run('environment', 'create', '--project', String(other.projectId), '--name', 'Test');
  const { environmentId } = added.result;
  expect((await run('environment', 'delete', '--environment', String(environmentId), '--yes')).result).toEqual({
    environmentId,
    projectId: other.projectId,
    name: 'Test',
    deleted: true,
  });
  expect((await run('project', 'show', '--project', String(other.projectId))).exitCode).toBe(0);
  await run('environment', 'delete', '--environment', String(other.environmentId), '--yes');
  expect((await run('project', 'show', '--project', String(other.projectId))).err).toContain('Project not found');

  const more = (await run('project', 'create', '--organization', other.organizationId)).result;
  expect((await run('project', 'delete', '--project', String(more.projectId), '--yes')).result).toEqual({
    projectId: more.projectId,
    name: 'Default project',
    environments: [more.environmentId],
    deleted: true,
  });
  expect((await run('org', 'delete', '--organization', other.organizationId, '--yes')).result).toMatchObject({
    id: other.organizationId,
    deleted: true,
  });
  expect((await run('org', 'show', '--organization', other.organizationId)).exitCode).toBe(1);
});

const refusals: [string, string[], number, string][] = [
  ['an invalid UUID', ['org', 'show', '--organization', '1'], 1, '--organization: Organization not found.'],
  ['an invalid number', ['project', 'show', '--project', 'x'], 2, 'Must be a number.'],
  ['an unknown project', ['project', 'delete', '--yes', '--project', '2000000000'], 1, '--project: Project not found.'],
  ['an id out of range', ['project', 'rename', '--name', 'x', '--project', '9999999999'], 1, '--project: Project'],
  ['id 0', ['environment', 'delete', '--yes', '--environment', '0'], 1, '--environment: Environment not found.'],
  ['an unknown environment', ['environment', 'rename', '--name', 'x', '--environment', '7'], 1, '--environment: Env'],
];

test.each(refusals)('account commands reject %s', async (_, args, exitCode, err) => {
  expect(await run(...args)).toEqual({ exitCode, result: null, err: expect.stringContaining(err) });
});

test.each(['', '  ', 'x'.repeat(201)])('account commands reject the name %j', async (name) => {
  for (const args of [
    ['org', 'rename', ...ofOrganization()],
    ['project', 'rename', ...ofProject()],
    ['environment', 'rename', ...ofEnvironment()],
  ]) {
    expect(await run(...args, `--name=${name}`)).toEqual({
      exitCode: 1,
      result: null,
      err: expect.stringContaining('--name: '),
    });
  }
});
