import { hashPersonalApiKey } from '@millrace/accounts';
import { createTestDatabase, createTestTenant, type TestDatabase, type TestTenant } from '@millrace/testing';
import { runCli } from '../program.ts';

let testDatabase: TestDatabase;
let tenant: TestTenant;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  tenant = await createTestTenant(testDatabase.url);
});
afterAll(() => testDatabase.drop());

async function run(...args: string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const environment = ['--environment', String(tenant.environmentId)];
  const exitCode = await runCli(['environment', 'secret-key', ...args, ...environment, '--json'], {
    env: { DATABASE_URL: testDatabase.url },
    out: { write: (text) => out.push(text) },
    err: { write: (text) => err.push(text) },
  });
  return { exitCode, result: out.join('') === '' ? null : JSON.parse(out.join('')), err: err.join('') };
}

test('creates a secret key only once, rolls it, shows it masked, and revokes it', async () => {
  const created = await run('create');
  expect(created).toMatchObject({
    exitCode: 0,
    result: { environmentId: tenant.environmentId, secretKey: expect.stringMatching(/^phs_\w{48}$/), backup: null },
    err: '{"note":"Save the secret key now. It will not be shown again."}\n',
  });
  expect(await run('create')).toEqual({
    exitCode: 1,
    result: null,
    err: expect.stringContaining('The environment already has a secret key. Rotate it to get a new one.'),
  });
  const mask = `phs_...${created.result.secretKey.slice(-4)}`;
  const rolled = await run('roll');
  expect(rolled.result).toMatchObject({ backup: mask });
  expect(hashPersonalApiKey(rolled.result.secretKey)).not.toBe(hashPersonalApiKey(created.result.secretKey));
  const createdAt = expect.any(String);
  expect((await run('show')).result).toEqual([
    { slot: 'primary', maskValue: `phs_...${rolled.result.secretKey.slice(-4)}`, createdAt },
    { slot: 'backup', maskValue: mask, createdAt },
  ]);
  expect((await run('revoke', '--slot', 'backup')).result).toMatchObject({ revoked: ['backup'] });
  expect((await run('revoke')).result).toMatchObject({ revoked: ['primary'] });
  expect((await run('show')).result).toEqual([]);
});

test('secret-key commands name --slot in the error if there is no key in the slot', async () => {
  expect(await run('revoke', '--slot', 'third')).toMatchObject({ err: expect.stringContaining('--slot') });
});
