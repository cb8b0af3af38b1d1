import { randomUUID } from 'node:crypto';
import { createUser } from '@millrace/accounts';
import { restrictionKinds } from '@millrace/contracts';
import { createDatabase, type Database } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import { createTestDatabase, createTestTenant, type TestDatabase, type TestTenant } from '@millrace/testing';
import { runCli } from './program.ts';

/**
 * Tests that every change made with the command line is recorded in the activity log, in the transaction that makes the
 * change.
 */
let testDatabase: TestDatabase;
let database: Database;
let tenant: TestTenant;
let userId: number;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({ url: testDatabase.url, logger: createLogger('test', 'error') });
  tenant = await createTestTenant(database, { email: 'owner@example.com' });
  userId = (await createUser(database.sql, { email: 'grace@example.com' })).id;
});
afterAll(async () => {
  await database.stop();
  await testDatabase.drop();
});

async function run(...args: string[]) {
  const out: string[] = [];
  const exitCode = await runCli([...args, '--json'], {
    env: { DATABASE_URL: testDatabase.url },
    out: { write: (text) => out.push(text) },
    err: { write: () => true },
  });
  return { exitCode, result: out.join('') === '' ? null : JSON.parse(out.join('')) };
}

async function historyOf(...args: string[]) {
  await database.sql.query('DELETE FROM activity_log');
  const { exitCode, result } = await run(...args);
  const rows = await database.sql.query(
    `SELECT organization_id, environment_id, user_id, scope, item_id, activity, detail FROM activity_log ORDER BY id`,
  );
  return { exitCode, result, rows };
}

const entry = (command: string, fields: Record<string, unknown>, changes: unknown = null) => ({
  user_id: null,
  ...fields,
  detail: expect.objectContaining({
    trigger: { job_type: 'command_line', job_id: command, payload: {} },
    changes,
  }),
});

test('records the membership level before and after a member is added, changed or removed', async () => {
  const of = ['--organization', tenant.organizationId, '--user', 'grace@example.com'];
  const added = await historyOf('member', 'add', ...of);
  const common = { organization_id: tenant.organizationId, scope: 'OrganizationMembership', item_id: added.result.id };
  expect(added.rows).toMatchObject([entry('member add', { ...common, activity: 'created' })]);
  const level = { type: 'OrganizationMembership', action: 'changed', field: 'level', before: 1, after: 8 };
  const raise = ['member', 'set-level', ...of, '--level', 'administrator'];
  expect((await historyOf(...raise)).rows).toMatchObject([
    entry('member set-level', { ...common, activity: 'updated' }, [level]),
  ]);
  expect((await historyOf(...raise)).rows).toEqual([]);
  expect((await historyOf('member', 'remove', ...of)).rows).toMatchObject([
    entry('member remove', { ...common, activity: 'deleted' }),
  ]);
});

test('records the new account, its membership and its first key when an invite is accepted', async () => {
  const id = randomUUID();
  await database.prisma.organization_invite.create({
    data: {
      id,
      organization_id: tenant.organizationId,
      target_email: 'new@example.com',
      email_key: 'new@example.com',
      token_hash: '',
      key_scopes: ['*'],
      created_by_id: tenant.userId,
    },
  });
  const { result, rows } = await historyOf('invite', 'accept', id);
  expect(result.personalApiKey).toMatch(/^phx_/);
  const created = (scope: string) => entry('invite accept', { scope, activity: 'created' });
  expect(rows).toMatchObject(['User', 'OrganizationMembership', 'PersonalAPIKey'].map(created));
});

test('records creating, rolling and revoking keys without including any part of their values', async () => {
  const made = await historyOf('key', 'create', '--user', String(userId), '--label', 'CI', '--scopes', '*');
  const common = { organization_id: null, scope: 'PersonalAPIKey', item_id: made.result.id };
  const { rows } = made;
  expect(rows).toMatchObject([entry('key create', { ...common, activity: 'created' })]);
  expect(JSON.stringify(rows)).not.toContain(made.result.personalApiKey.slice(-4));
  expect((await historyOf('key', 'roll', made.result.id)).rows).toMatchObject([
    entry('key roll', { ...common, activity: 'updated' }),
  ]);
  expect((await historyOf('key', 'revoke', made.result.id)).rows).toMatchObject([
    entry('key revoke', { ...common, activity: 'deleted' }),
  ]);
});

test('records changes to organizations, plans, projects, environments, users and restrictions', async () => {
  const organization = await historyOf('org', 'create', '--name', 'Second', '--plan', 'free');
  const { id } = organization.result;
  expect(organization.rows).toMatchObject([
    entry('org create', { organization_id: id, scope: 'Organization', item_id: id, activity: 'created' }),
  ]);
  const plan = await historyOf('plan', 'set', '--organization', id, '--plan', 'full');
  expect(plan.rows).toMatchObject([
    entry('plan set', { organization_id: id, activity: 'updated' }, [
      expect.objectContaining({ field: 'available_product_features', before: [] }),
    ]),
  ]);
  const project = await historyOf('project', 'create', '--organization', id, '--name', 'Shop');
  const { projectId } = project.result;
  const target = { organization_id: id, environment_id: projectId, item_id: String(projectId), activity: 'created' };
  expect(project.rows).toMatchObject([
    entry('project create', { ...target, scope: 'Project' }),
    entry('project create', { ...target, scope: 'Team' }),
  ]);
  const environment = await historyOf('environment', 'create', '--project', String(projectId), '--name', 'Staging');
  expect(environment.rows).toMatchObject([
    entry('environment create', {
      organization_id: id,
      environment_id: environment.result.environmentId,
      scope: 'Team',
    }),
  ]);
  const user = await historyOf('user', 'create', '--email', 'alan@example.com');
  expect(user.rows).toMatchObject([entry('user create', { scope: 'User', item_id: user.result.uuid })]);
  expect((await historyOf('user', 'deactivate', 'alan@example.com')).rows).toMatchObject([
    entry('user deactivate', { activity: 'updated' }, [
      { type: 'User', action: 'changed', field: 'is_active', before: true, after: false },
    ]),
  ]);
  const key = project.result.projectApiKey;
  const restriction = await historyOf('restriction', 'add', '--kind', restrictionKinds[0], '--project-api-key', key);
  expect([restriction.exitCode, restriction.rows.length]).toEqual([0, 1]);
  expect(JSON.stringify(restriction.rows)).not.toContain(key);
});

test('`project create` sets the default test account filters and rejects an invalid time zone', async () => {
  const of = ['project', 'create', '--organization', tenant.organizationId];
  const { result } = await run(...of);
  const { test_account_filters: filters } = await database.prisma.environment.findUniqueOrThrow({
    where: { id: result.environmentId },
  });
  expect(filters).toMatchObject([{ key: 'email', value: '@example.com' }, { key: '$host' }]);
  expect((await historyOf(...of, '--timezone', 'europe/vienna')).exitCode).toBe(1);
});

test('records nothing for a command that fails', async () => {
  const { exitCode, rows } = await historyOf(
    'member',
    'add',
    '--organization',
    tenant.organizationId,
    '--user',
    '999999',
  );
  expect([exitCode, rows]).toEqual([1, []]);
});

test('records renaming and deleting environments, projects and organizations', async () => {
  const { id } = (await run('org', 'create', '--name', 'Third')).result;
  const { projectId } = (await run('project', 'create', '--organization', id, '--name', 'Shop')).result;
  const { environmentId } = (await run('environment', 'create', '--project', `${projectId}`, '--name', 'Test')).result;
  const renamed = (scope: string, before: string, after: string) => [
    { type: scope, action: 'changed', field: 'name', before, after },
  ];
  const ofProject = { organization_id: id, environment_id: projectId, item_id: `${projectId}` };
  const ofEnvironment = {
    organization_id: id,
    environment_id: environmentId,
    item_id: `${environmentId}`,
    scope: 'Team',
  };
  const ofOrganization = { organization_id: id, scope: 'Organization', item_id: id };
  const updated = { activity: 'updated' };
  const deleted = { activity: 'deleted' };
  const environment = ['--environment', String(environmentId)];
  const project = ['--project', String(projectId)];
  const organization = ['--organization', id];

  expect((await historyOf('environment', 'rename', ...environment, '--name', 'Stage')).rows).toMatchObject([
    entry('environment rename', { ...ofEnvironment, ...updated }, renamed('Team', 'Test', 'Stage')),
  ]);
  expect((await historyOf('environment', 'rename', ...environment, '--name', 'Stage')).rows).toEqual([]);
  expect((await historyOf('project', 'rename', ...project, '--name', 'Store')).rows).toMatchObject([
    entry('project rename', { ...ofProject, ...updated, scope: 'Team' }, renamed('Team', 'Shop', 'Store')),
    entry('project rename', { ...ofProject, ...updated, scope: 'Project' }, renamed('Project', 'Shop', 'Store')),
  ]);
  expect((await historyOf('org', 'rename', ...organization, '--name', 'Fourth')).rows).toMatchObject([
    entry('org rename', { ...ofOrganization, ...updated }, renamed('Organization', 'Third', 'Fourth')),
  ]);
  expect((await historyOf('environment', 'delete', ...environment, '--yes')).rows).toMatchObject([
    entry('environment delete', { ...ofEnvironment, ...deleted }),
  ]);
  expect((await historyOf('project', 'delete', ...project, '--yes')).rows).toMatchObject([
    entry('project delete', { ...ofProject, ...deleted, scope: 'Team' }),
    entry('project delete', { ...ofProject, ...deleted, scope: 'Project' }),
  ]);
  expect((await historyOf('org', 'delete', ...organization, '--yes')).rows).toMatchObject([
    entry('org delete', { ...ofOrganization, ...deleted }),
  ]);
});
