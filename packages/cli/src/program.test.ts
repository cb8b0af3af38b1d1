import { randomUUID } from 'node:crypto';
import { createUser } from '@millrace/accounts';
import { createDatabase, type Database } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import { createTestDatabase, createTestTenant, type TestDatabase, type TestTenant } from '@millrace/testing';
import { runCli } from './program.ts';

let testDatabase: TestDatabase;
let database: Database;
let tenant: TestTenant;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({ url: testDatabase.url, logger: createLogger('test', 'error') });
  tenant = await createTestTenant(database, {
    organizationName: 'Acme',
    email: 'owner@example.com',
    projectName: 'Shop',
  });
});
afterAll(async () => {
  await database.stop();
  await testDatabase.drop();
});

async function run(args: string[], env: Record<string, string> = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const exitCode = await runCli(args, {
    env: { DATABASE_URL: testDatabase.url, ...env },
    out: { write: (text) => out.push(text) },
    err: { write: (text) => err.push(text) },
  });
  return { exitCode, out: out.join(''), err: err.join('') };
}

async function runJson(...args: string[]): Promise<unknown> {
  const { exitCode, out, err } = await run([...args, '--json']);
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: expect.not.stringContaining('error') });
  return JSON.parse(out);
}

const unknown = '00000000-0000-4000-8000-000000000000';
const anyTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

describe('commands with --json', () => {
  test('creates and lists organizations, and sets their plans', async () => {
    const created = await runJson('org', 'create', '--name', 'Second', '--plan', 'free');
    expect(created).toEqual({ id: expect.any(String), name: 'Second', plan: 'free', createdAt: anyTime });
    const { id } = created as { id: string };
    expect(await runJson('org', 'list')).toEqual([
      { id: tenant.organizationId, name: 'Acme', plan: 'full', createdAt: anyTime },
      created,
    ]);
    expect(await runJson('plan', 'show', '--organization', id)).toEqual({
      organizationId: id,
      plan: 'free',
      features: [],
      eventsPerMonth: null,
      eventsPerSecond: null,
      flagRequestsPerMonth: null,
    });
    expect(await runJson('plan', 'set', '--organization', id, '--plan', 'full')).toMatchObject({
      plan: 'full',
      features: expect.arrayContaining(['historical_migrations']),
    });
  });

  test('changing one limit of a plan keeps the other limits', async () => {
    const { id } = (await runJson('org', 'create', '--name', 'Limited')) as { id: string };
    const set = (...options: string[]) => runJson('plan', 'set', '--organization', id, '--plan', 'free', ...options);
    expect(await set('--events-per-month', '1000000', '--events-per-second', '0')).toMatchObject({
      plan: 'free',
      eventsPerMonth: 1_000_000,
      eventsPerSecond: 0,
    });
    expect(await set('--events-per-second', 'unlimited')).toMatchObject({
      eventsPerMonth: 1_000_000,
      eventsPerSecond: null,
    });
    expect(await set()).toMatchObject({ plan: 'free', features: [], eventsPerMonth: 1_000_000 });
    for (const wrong of ['-1', '1.5', 'many', '']) {
      const { exitCode, err } = await run([
        ...['plan', 'set', '--organization', id, '--plan', 'free'],
        `--events-per-month=${wrong}`,
      ]);
      expect({ exitCode, err }).toEqual({ exitCode: 2, err: expect.stringContaining('Must be a whole number') });
    }
  });

  test('adds, lists and removes restrictions', async () => {
    const add = (...options: string[]) =>
      runJson('restriction', 'add', '--project-api-key', 'phc_noisy', '--kind', ...options);
    const whole = await add('drop_event', '--note', 'a broken release');
    expect(whole).toEqual({
      id: expect.any(String),
      kind: 'drop_event',
      projectApiKey: 'phc_noisy',
      distinctId: null,
      note: 'a broken release',
      createdAt: anyTime,
    });
    const one = await add('force_overflow', '--distinct-id', 'a:b, c');
    expect(one).toMatchObject({ kind: 'force_overflow', distinctId: 'a:b, c', note: '' });
    expect(await add('drop_event')).toEqual(whole);
    expect(await runJson('restriction', 'list')).toEqual([whole, one]);
    const { id } = whole as { id: string };
    expect(await runJson('restriction', 'remove', id)).toMatchObject({ id, removed: true });
    expect(await runJson('restriction', 'list')).toEqual([one]);
    expect((await run(['restriction', 'remove', id])).err).toContain('Restriction not found.');
    const wrongKind = await run(['restriction', 'add', '--project-api-key', 'x', '--kind', 'ban']);
    expect(wrongKind.err).toContain('Must be drop_event or force_overflow or skip_person_processing.');
  });

  test('creates users and adds them as members', async () => {
    const user = await runJson('user', 'create', '--email', 'new@example.com', '--first-name', 'New');
    const { id } = user as { id: number };
    expect(user).toEqual({
      id: expect.any(Number),
      uuid: expect.any(String),
      email: 'new@example.com',
      firstName: 'New',
      lastName: '',
      isActive: true,
      createdAt: anyTime,
    });
    const member = ['member', 'add', '--organization', tenant.organizationId, '--user', String(id), '--level', '8'];
    expect(await runJson(...member)).toMatchObject({ userId: id, level: 8, role: 'administrator', joinedAt: anyTime });
    expect(await runJson('member', 'list', '--organization', tenant.organizationId)).toMatchObject([
      { userId: id, email: 'new@example.com', role: 'administrator' },
      { userId: tenant.userId, email: 'owner@example.com', role: 'owner' },
    ]);
    expect(await runJson('user', 'list')).toEqual(expect.arrayContaining([user]));
    expect(await runJson('user', 'list', '--organization', tenant.organizationId)).toHaveLength(2);
  });

  test('deactivates and activates users', async () => {
    const { id, email } = await createUser(database.sql, { email: 'leaver@example.com' });
    expect(await runJson('user', 'deactivate', String(id))).toMatchObject({ id, isActive: false });
    expect(await runJson('user', 'activate', email)).toMatchObject({ id, isActive: true });
    expect((await run(['user', 'deactivate', '999999'])).err).toBe('error: --user: User not found.\n');
  });

  test('changes membership levels and removes members, except for the last owner', async () => {
    const { id: userId } = await createUser(database.sql, { email: 'climber@example.com' });
    const member = ['--organization', tenant.organizationId, '--user', String(userId)];
    await runJson('member', 'add', ...member);
    expect(await runJson('member', 'set-level', ...member, '--level', 'administrator')).toMatchObject({
      userId,
      level: 8,
      role: 'administrator',
    });
    expect(await runJson('member', 'remove', ...member)).toMatchObject({ userId, removed: true });
    expect((await run(['member', 'remove', ...member])).err).toBe('error: --user: Member not found.\n');
    const owner = ['--organization', tenant.organizationId, '--user', 'owner@example.com'];
    for (const args of [
      ['remove', ...owner],
      ['set-level', ...owner, '--level', '1'],
    ]) {
      expect(await run(['member', ...args])).toMatchObject({
        exitCode: 1,
        err: expect.stringContaining('at least one owner'),
      });
    }
  });

  test('accepts invites for new and existing users, and withdraws invites', async () => {
    const invite = (email: string) =>
      database.prisma.organization_invite.create({
        data: {
          id: randomUUID(),
          organization_id: tenant.organizationId,
          target_email: email,
          email_key: email,
          first_name: 'Grace',
          level: 8,
          token_hash: 'x',
          key_scopes: ['*'],
        },
      });
    const [first, second, third] = [
      await invite('grace@example.com'),
      await invite('known@example.com'),
      await invite('unknown@example.com'),
    ];
    await createUser(database.sql, { email: 'known@example.com' });
    expect(await runJson('invite', 'list', '--organization', tenant.organizationId)).toMatchObject([
      { id: third.id, email: 'unknown@example.com', role: 'administrator', mailTried: false, expiresAt: anyTime },
      { id: second.id },
      { id: first.id },
    ]);
    expect(await runJson('invite', 'accept', first.id, '--last-name', 'Hopper')).toMatchObject({
      organizationId: tenant.organizationId,
      email: 'grace@example.com',
      role: 'administrator',
      personalApiKey: expect.stringMatching(/^phx_/),
    });
    expect(await runJson('invite', 'accept', second.id)).toMatchObject({
      email: 'known@example.com',
      personalApiKey: null,
    });
    expect(await runJson('invite', 'revoke', third.id)).toMatchObject({ id: third.id, revoked: true });
    for (const verb of ['accept', 'revoke']) {
      expect((await run(['invite', verb, third.id])).err).toBe('error: <id>: Invite not found.\n');
    }
  });

  test('creates and lists projects', async () => {
    const args = ['--organization', tenant.organizationId, '--name', 'App', '--timezone', 'Asia/Tokyo'];
    const created = await runJson('project', 'create', ...args);
    expect(created).toEqual({
      projectId: expect.any(Number),
      environmentId: expect.any(Number),
      organizationId: tenant.organizationId,
      name: 'App',
      environmentName: 'App',
      timezone: 'Asia/Tokyo',
      projectApiKey: expect.stringMatching(/^phc_/),
      createdAt: anyTime,
    });
    expect(await runJson('project', 'list', '--organization', tenant.organizationId)).toMatchObject([
      { projectId: tenant.projectId, projectApiKey: tenant.projectApiKey },
      created as object,
    ]);
  });

  test('creates and lists environments', async () => {
    const created = await runJson('environment', 'create', '--project', String(tenant.projectId), '--name', 'Staging');
    expect(created).toEqual({
      environmentId: expect.any(Number),
      projectId: tenant.projectId,
      name: 'Staging',
      timezone: 'UTC',
      projectApiKey: expect.stringMatching(/^phc_/),
      createdAt: anyTime,
    });
    expect(await runJson('environment', 'list', '--project', String(tenant.projectId))).toMatchObject([
      { environmentId: tenant.environmentId, projectApiKey: tenant.projectApiKey },
      created as object,
    ]);
    expect((await run(['environment', 'create', '--project', '999999'])).err).toBe(
      'error: --project: Project not found.\n',
    );
  });

  test("creates, lists, rolls and revokes a user's personal API keys", async () => {
    const { id: userId } = await createUser(database.sql, { email: 'keys@example.com' });
    expect(await runJson('key', 'list', '--user', 'KEYS@example.com')).toEqual([]);
    const args = ['--label', 'Limited', '--scopes', '*', '--projects', String(tenant.environmentId)];
    expect(await runJson('key', 'create', '--user', 'owner@example.com', ...args)).toMatchObject({
      userId: tenant.userId,
      projects: [tenant.environmentId],
      organizations: [],
      expiresAt: null,
    });
    expect(await runJson('key', 'list', '--user', String(userId))).toEqual([]);
  });

  test('`migrate` reports that no migrations are pending', async () => {
    expect(await run(['migrate', '--json'])).toEqual({
      exitCode: 0,
      out: '{\n  "applied": []\n}\n',
      err: '{"note":"The database is up to date."}\n',
    });
  });
});

describe('commands without --json', () => {
  test('aligns the columns of a table, without white space at the end of lines', async () => {
    const { out } = await run(['project', 'list', '--organization', tenant.organizationId]);
    const [head = '', first = ''] = out.split('\n');
    expect(head).toMatch(/^project id {2}environment id {2}organization id/);
    expect(first.indexOf(tenant.organizationId)).toBe(head.indexOf('organization id'));
    expect(out).not.toMatch(/ \n/);
  });

  test('prints a message about an empty table on standard error', async () => {
    await createUser(database.sql, { email: 'nokeys@example.com' });
    expect(await run(['key', 'list', '--user', 'nokeys@example.com'])).toEqual({
      exitCode: 0,
      out: '',
      err: '(none)\n',
    });
  });

  test('replaces control characters in the cells of a table', async () => {
    // Write the name directly to the database, because commands reject control characters.
    await database.sql.query('UPDATE project SET name = $2 WHERE organization_id = $1', [
      tenant.organizationId,
      'a\u001b[2Jb',
    ]);
    const { out } = await run(['project', 'list', '--organization', tenant.organizationId]);
    expect(out).toContain('a\uFFFD[2Jb');
  });
});

const withoutDatabase: [string, string, number, string][] = [
  [
    'a missing URL',
    '',
    2,
    '--database-url: Pass the URL of the database, or set DATABASE_URL. Neither is needed in a clone where `npm start` is running.',
  ],
  [
    'an unreachable server',
    'postgresql://u:secret@127.0.0.1:1/x',
    1,
    '--database-url: Could not connect to the database (ECONNREFUSED). Check the URL and that PostgreSQL is running.',
  ],
];

test.each(withoutDatabase)(
  'if the database is unavailable, %s prints one line without the password',
  async (_, url, exitCode, line) => {
    expect(await run(['org', 'list'], { DATABASE_URL: url })).toEqual({ exitCode, out: '', err: `error: ${line}\n` });
  },
);

test('if the database has no tables, a command prints one line that says what to do', async () => {
  const empty = await createTestDatabase({ isMigrated: false });
  try {
    const err = 'error: The database has no tables yet. Run `millrace migrate` first.\n';
    expect(await run(['org', 'list', '--database-url', empty.url])).toEqual({ exitCode: 1, out: '', err });
  } finally {
    await empty.drop();
  }
});

const refusals: [string[], number, RegExp][] = [
  [['org', 'create', '--name', ' '], 1, /^error: --name: This field may not be blank\.$/],
  [
    ['org', 'create', '--name', 'x', '--plan', 'gold'],
    2,
    /^error: option '--plan <plan>' argument 'gold' is invalid\. Must be free or full\.$/,
  ],
  [['org', 'create', '--title', 'x', '--name', 'x'], 2, /^error: unknown option '--title'$/],
  [['org', 'crate'], 2, /^error: unknown command 'crate' \(Did you mean create\?\)$/],
  [
    ['user', 'create', '--email', 'owner@EXAMPLE.com'],
    1,
    /^error: --email: There is already a user with this email address\.$/,
  ],
  [['user', 'create', '--email', 'owner'], 1, /^error: --email: Enter a valid email address\.$/],
  [
    ['user', 'create', '--email', 'x@example.com', '--first-name', 'x'.repeat(151)],
    1,
    /^error: --first-name: Ensure this field has no more than 150/,
  ],
  [['user', 'list', '--organization', unknown], 1, /^error: --organization: Organization not found\.$/],
  [
    ['member', 'add', '--organization', unknown, '--user', 'owner@example.com'],
    1,
    /^error: --organization: Organization not found\.$/,
  ],
  [['member', 'add', '--organization', 'x', '--user', 'unknown@example.com'], 1, /^error: --user: User not found\.$/],
  [['member', 'add', '--organization', 'x', '--user', 'someone'], 1, /^error: --user: User not found\.$/],
  [
    ['member', 'add', '--organization', 'x', '--user', '1', '--level', '3'],
    2,
    /^error: option '--level <level>' argument '3' is invalid\. Must be member, administrator or owner\.$/,
  ],
  [['member', 'list', '--organization', 'x'], 1, /^error: --organization: Organization not found\.$/],
  [['project', 'create', '--organization', unknown], 1, /^error: --organization: Organization not found\.$/],
  [['project', 'list', '--organization', unknown], 1, /^error: --organization: Organization not found\.$/],
  [
    ['key', 'create', '--user', 'owner@example.com', '--label', 'x'],
    2,
    /^error: required option '--scopes <list>' not specified$/,
  ],
  [
    ['key', 'create', '--user', 'owner@example.com', '--label', 'x', '--scopes', ','],
    1,
    /^error: --scopes: A key needs at least one scope\.$/,
  ],
  [
    ['key', 'create', '--user', 'owner@example.com', '--label', 'x', '--scopes', 'all'],
    1,
    /^error: --scopes: Invalid scope: all$/,
  ],
  [
    ['key', 'create', '--user', 'owner@example.com', '--label', '', '--scopes', '*'],
    1,
    /^error: --label: This field may not be blank\.$/,
  ],
  [
    ['key', 'create', '--user', 'owner@example.com', '--label', 'x', '--scopes', '*', '--expires', 'soon'],
    2,
    /^error: option '--expires <when>' argument 'soon' is invalid\./,
  ],
  [
    ['key', 'create', '--user', 'owner@example.com', '--label', 'x', '--scopes', '*', '--expires', '2027-02-30T00:00'],
    2,
    /^error: option '--expires <when>' argument/,
  ],
  [
    ['key', 'create', '--user', 'owner@example.com', '--label', 'x', '--scopes', '*', '--expires', '2001-01-01'],
    1,
    /^error: --expires: The expiry time must be in the future\.$/,
  ],
  [
    ['key', 'create', '--user', 'owner@example.com', '--label', 'x', '--scopes', '*', '--organizations', unknown],
    1,
    /^error: --organizations: You must be a member/,
  ],
  [
    ['key', 'create', '--user', 'owner@example.com', '--label', 'x', '--scopes', '*', '--projects', '1,two'],
    2,
    /^error: option '--projects <list>' argument '1,two' is invalid\./,
  ],
  [
    ['key', 'create', '--user', 'owner@example.com', '--label', 'x', '--scopes', '*', '--projects', '2000000000'],
    1,
    /^error: --projects: You must be a member/,
  ],
  [['key', 'roll', 'x'], 1, /^error: <id>: Personal API key not found\.$/],
  [['key', 'roll'], 2, /^error: missing required argument 'id'$/],
  [['plan', 'show', '--organization', unknown], 1, /^error: --organization: Organization not found\.$/],
  [
    ['plan', 'set', '--organization', unknown, '--plan', 'full'],
    1,
    /^error: --organization: Organization not found\.$/,
  ],
  [['plan', 'set', '--organization', unknown], 2, /^error: required option '--plan <plan>' not specified$/],
  [['bootstrap'], 2, /^error: required option '--email <address>' not specified$/],
  [['bootstrap', '--email', 'x', '--force'], 1, /^error: --email: Enter a valid email address\.$/],
  [
    ['bootstrap', '--email', 'x@example.com', '--timezone', 'Mars', '--force'],
    1,
    /^error: --timezone: "Mars" is not a valid choice\. Use an IANA time zone name such as Europe\/Berlin\.$/,
  ],
  [['migrate', '--database-url', 'mysql://x'], 2, /^error: --database-url: Must be a URL such as postgresql/],
  [['migrate', '--prisma-directory', '/nowhere'], 2, /^error: --prisma-directory: \/nowhere contains no migrations\.$/],
];

describe('invalid command lines', () => {
  test.each(refusals)('rejects the command line %p', async (args, exitCode, line) => {
    const before = await counts();
    const outcome = await run(args);

    expect(outcome).toMatchObject({ exitCode, out: '' });
    expect(outcome.err).toMatch(/^[^\n]+\n$/);
    expect(outcome.err.trimEnd()).toMatch(line);
    expect(await counts()).toEqual(before);
  });
});

test.each([[['--help']], [['key', 'create', '--help']]])('prints help for %p and exits with code 0', async (args) => {
  expect(await run(args)).toMatchObject({ exitCode: 0, out: expect.stringContaining('Usage: millrace'), err: '' });
});

async function counts() {
  const { prisma } = database;
  return Promise.all([
    prisma.organization.count(),
    prisma.user.count(),
    prisma.membership.count(),
    prisma.project.count(),
    prisma.personal_api_key.count(),
  ]);
}
