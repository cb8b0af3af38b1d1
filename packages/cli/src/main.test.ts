import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { hashPersonalApiKey } from '@millrace/accounts';
import { hasPlanFeature, planFeatures } from '@millrace/contracts';
import { createDatabase, type Database } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import {
  type CompiledPrograms,
  collectAnnouncedKeys,
  compilePrograms,
  createTestDatabase,
  createTestTenant,
  eventually,
  type TestDatabase,
} from '@millrace/testing';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const logger = createLogger('test', 'error');

/** On a busy machine, starting a process takes seconds, and a test starts up to six processes. */
const timeoutMs = 180_000;

let testDatabase: TestDatabase;
let database: Database;

let compiled: CompiledPrograms;
beforeAll(async () => {
  compiled = await compilePrograms(['packages/cli/src/main.ts']);
});
afterAll(() => compiled.remove());

async function useDatabase({ isMigrated }: { isMigrated: boolean }): Promise<void> {
  testDatabase = await createTestDatabase({ isMigrated });
  database = createDatabase({ url: testDatabase.url, logger });
}
afterEach(async () => {
  await database.stop();
  await testDatabase.drop();
});

interface Outcome {
  exitCode: number | null;
  out: string;
  err: string;
}

function millrace(args: string[], env: Record<string, string> = { DATABASE_URL: testDatabase.url }): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [...compiled.files, ...args], { env, cwd: root }, (_, out, err) =>
      resolve({ exitCode: child.exitCode, out, err }),
    );
  });
}

async function millraceJson(...args: string[]): Promise<Record<string, unknown>> {
  const outcome = await millrace([...args, '--json']);
  expect(outcome).toMatchObject({ exitCode: 0 });
  return JSON.parse(outcome.out) as Record<string, unknown>;
}

const keyCount = (personalApiKey: unknown) =>
  database.prisma.personal_api_key.count({ where: { secure_value: hashPersonalApiKey(String(personalApiKey)) } });

test(
  '`bootstrap` creates an organization in an empty database, but only once',
  async () => {
    await useDatabase({ isMigrated: false });
    const first = await millraceJson(
      'bootstrap',
      '--email',
      'Ada@example.com',
      '--organization',
      'Acme',
      '--project',
      'Shop',
    );
    expect(first).toEqual({
      created: true,
      organizationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      userId: expect.any(Number),
      projectId: expect.any(Number),
      environmentId: first.projectId,
      projectApiKey: expect.stringMatching(/^phc_\w{43}$/),
      personalApiKey: expect.stringMatching(/^phx_\w{48}$/),
    });
    const stored = await database.prisma.organization.findUniqueOrThrow({
      where: { id: String(first.organizationId) },
      include: { memberships: { include: { user: true } }, projects: { include: { environments: true } } },
    });
    expect(stored).toMatchObject({
      name: 'Acme',
      memberships: [{ level: 15, user: { id: first.userId, email: 'ada@example.com' } }],
      projects: [{ id: first.projectId, name: 'Shop', environments: [{ api_token: first.projectApiKey }] }],
    });
    for (const feature of planFeatures) expect(hasPlanFeature(stored.available_product_features, feature)).toBe(true);
    expect(await database.prisma.personal_api_key.findMany()).toMatchObject([
      { secure_value: hashPersonalApiKey(String(first.personalApiKey)), scopes: ['*'] },
    ]);

    const again = await millrace(['bootstrap', '--email', 'eve@example.com']);
    expect(again).toMatchObject({ exitCode: 0, err: expect.stringContaining('An organization already exists') });
    expect(again.out).not.toContain('phx_');
    expect(await database.prisma.user.count()).toBe(1);

    const forced = await millraceJson('bootstrap', '--email', 'ada@example.com', '--force', '--plan', 'free');
    expect(forced).toMatchObject({ created: true, userId: first.userId });
    expect(await database.prisma.organization.count()).toBe(2);
  },
  timeoutMs,
);

test(
  'a key stops working after it is rolled or revoked',
  async () => {
    await useDatabase({ isMigrated: true });
    const tenant = await createTestTenant(database, { email: 'ada@example.com' });
    const created = await millraceJson(
      ...['key', 'create', '--user', 'ada@example.com', '--label', 'CI', '--scopes', 'project:read, event:read'],
      ...['--expires', '2999-12-31'],
    );
    expect(created).toMatchObject({
      label: 'CI',
      scopes: ['project:read', 'event:read'],
      expiresAt: '2999-12-31T23:59:59.999Z',
      lastUsedAt: null,
    });
    expect(await keyCount(created.personalApiKey)).toBe(1);

    const rolled = await millraceJson('key', 'roll', String(created.id));
    expect(rolled).toMatchObject({ id: created.id, personalApiKey: expect.stringMatching(/^phx_/) });
    expect([await keyCount(created.personalApiKey), await keyCount(rolled.personalApiKey)]).toEqual([0, 1]);

    expect(await millraceJson('key', 'revoke', String(created.id))).toMatchObject({ id: created.id, revoked: true });
    expect(await keyCount(rolled.personalApiKey)).toBe(0);
    expect(await keyCount(tenant.personalApiKey)).toBe(1);
    expect(await millrace(['key', 'revoke', String(created.id)])).toEqual({
      exitCode: 1,
      out: '',
      err: 'error: <id>: Personal API key not found.\n',
    });
  },
  timeoutMs,
);

test(
  'running gateways apply new projects and plan changes without a restart',
  async () => {
    await useDatabase({ isMigrated: true });
    const { organizationId } = await createTestTenant(database);
    const announced = await collectAnnouncedKeys(database);
    try {
      const env = { DATABASE_URL: testDatabase.url };
      const created = await millrace(['project', 'create', '--organization', organizationId, '--json'], env);
      const { projectApiKey } = JSON.parse(created.out) as { projectApiKey: string };
      await eventually(() => announced.keys.includes(projectApiKey), { what: 'The announcement of the project' });

      announced.keys.length = 0;
      const plan = await millrace(['plan', 'set', '--organization', organizationId, '--plan', 'free'], env);
      expect(plan).toMatchObject({ exitCode: 0, err: '' });
      await eventually(() => announced.keys.includes(projectApiKey), { what: 'The announcement of the plan' });
    } finally {
      await announced.stop();
    }
  },
  timeoutMs,
);

test(
  'exits without an error if the reader of its output closes the pipe early',
  async () => {
    await useDatabase({ isMigrated: true });
    const env = { DATABASE_URL: testDatabase.url };
    for (const args of [['--help'], ['org', 'list', '--json']]) {
      const child = spawn(process.execPath, [...compiled.files, ...args], { env, cwd: root });
      child.stdout.destroy();
      const [err, [exitCode]] = await Promise.all([child.stderr.toArray(), once(child, 'exit')]);
      expect([exitCode, String(Buffer.concat(err))]).toEqual([0, '']);
    }
  },
  timeoutMs,
);

test(
  'invalid arguments result in exit code 2 and a one-line error',
  async () => {
    await useDatabase({ isMigrated: false });
    const err = `error: required option '--name <name>' not specified\n`;
    expect(await millrace(['org', 'create'])).toEqual({ exitCode: 2, out: '', err });
  },
  timeoutMs,
);
