import { createTestDatabase, createTestTenant, type TestDatabase } from '@millrace/testing';
import { runCli } from '../program.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

let publicUrl: string | undefined;

async function run(...args: string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const exitCode = await runCli(['console-link', ...args, '--json'], {
    env: { DATABASE_URL: database.url, PUBLIC_API_URL: publicUrl },
    out: { write: (text) => out.push(text) },
    err: { write: (text) => err.push(text) },
  });
  return { exitCode, result: out.join('') === '' ? null : JSON.parse(out.join('')), err: err.join('') };
}

const made = (kind: string, address = '') => ({
  exitCode: 0,
  result: {
    kind,
    link: expect.stringMatching(`^${address}/console/enter#[\\w-]{43}$`),
    expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
  },
});

test('creates a setup link if no organization exists, and otherwise a sign-in link for the user in --user', async () => {
  publicUrl = undefined;
  expect(await run()).toMatchObject(made('first_owner'));
  const { userId } = await createTestTenant(database.url);
  publicUrl = 'https://analytics.example/';
  expect(await run('--user', String(userId))).toMatchObject(made('sign_in', 'https://analytics.example'));
  expect(await run()).toMatchObject({ exitCode: 2, err: expect.stringContaining('--user: Specify the user') });
  expect(await run('--user', 'unknown@example.com')).toMatchObject({
    exitCode: 1,
    err: expect.stringContaining('User not found'),
  });
});
