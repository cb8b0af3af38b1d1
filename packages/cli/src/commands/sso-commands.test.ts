import { randomUUID } from 'node:crypto';
import { createDatabase, type Database } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import {
  createTestDatabase,
  createTestTenant,
  type MailServer,
  startMailServer,
  type TestDatabase,
} from '@millrace/testing';
import { runCli } from '../program.ts';

let testDatabase: TestDatabase;
let database: Database;
let mailServer: MailServer;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({ url: testDatabase.url, logger: createLogger('test', 'error'), poolSize: 1 });
  mailServer = await startMailServer();
});
afterAll(async () => {
  await database.stop();
  await mailServer.stop();
  await testDatabase.drop();
});

async function off(domain: string, env: Record<string, string> = {}) {
  const [out, err]: [string[], string[]] = [[], []];
  const exitCode = await runCli(['sso', 'off', '--domain', domain, '--json'], {
    env: { DATABASE_URL: testDatabase.url, ...env },
    out: { write: (text) => out.push(text) },
    err: { write: (text) => err.push(text) },
  });
  return { exitCode, result: out.join('') === '' ? null : JSON.parse(out.join('')), err: err.join('') };
}

test('sso-105: `sso off` stops enforcement, records the change and notifies administrators by email', async () => {
  const { organizationId } = await createTestTenant(database);
  const id = randomUUID();
  await database.sql.query(
    `INSERT INTO organization_domain (id, organization_id, domain, verification_challenge, verified_at, sso_enforcement)
     VALUES ($1, $2, 'corp.example', 'c', now(), 'saml')`,
    [id, organizationId],
  );
  const env = { SMTP_URL: mailServer.url };
  expect(await off('Corp.example', env)).toMatchObject({ exitCode: 0, result: { before: 'saml', notified: 1 } });
  expect(mailServer.mails[0]?.headers.subject).toContain('Single sign-on is no longer required');
  const rows = await database.sql.query(
    `SELECT d.sso_enforcement, a.detail -> 'trigger' ->> 'job_id' AS command, a.activity
       FROM organization_domain d JOIN activity_log a ON a.item_id = d.id::text WHERE d.id = $1`,
    [id],
  );
  expect(rows).toEqual([{ sso_enforcement: '', command: 'sso off', activity: 'updated' }]);
  expect(await off('corp.example', env)).toMatchObject({ exitCode: 0, result: { before: '', notified: 0 } });
});

test('reports a domain that does not exist or is not verified as not found', async () => {
  expect(await off('nowhere.example')).toMatchObject({ exitCode: 1, err: expect.stringContaining('not found') });
});
