import { randomBytes, randomUUID } from 'node:crypto';
import { createSecretBox } from '@millrace/runtime';
import { createTestTenant } from '@millrace/testing';
import { planRun } from '../batch-exports/plan.ts';
import { createExportMetrics, runDueExports } from '../batch-exports/run.ts';
import { runOneRound } from '../testing/one-round.ts';
import { storeExport } from '../testing/stored-export.ts';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import { encryptClientSecrets, encryptExportSecrets, encryptTotpSecrets } from './seal.ts';

let fixture: WorkerFixture;
let environmentId: number;
beforeAll(async () => {
  fixture = await startWorkerFixture();
  ({ environmentId } = await createTestTenant(fixture.database));
});
afterEach(() => fixture.database.sql.query('DELETE FROM batch_export'));
afterAll(() => fixture.stop());

const secrets = { user: 'u', password: 'hunter2' };
const secretsOf = async (id: string) =>
  (await fixture.database.sql.query('SELECT destination_secrets AS s FROM batch_export WHERE id = $1', [id]))[0]
    ?.s as Record<string, unknown>;
const newKey = () => randomBytes(32).toString('base64');

test('encrypts secrets that were stored without a key or with an older key', async () => {
  const { sql } = fixture.database;
  const [oldKey, youngKey] = [newKey(), newKey()];
  const [plain, old, none] = [randomUUID(), randomUUID(), randomUUID()];
  await storeExport(sql, environmentId, { id: plain, destination_secrets: secrets });
  await storeExport(sql, environmentId, {
    id: old,
    destination_secrets: createSecretBox(oldKey).seal(secrets, old),
  });
  await storeExport(sql, environmentId, { id: none });
  const secretBox = createSecretBox(`${youngKey},${oldKey}`);
  expect(await encryptExportSecrets({ ...fixture, secretBox })).toBe(false);
  const young = createSecretBox(youngKey);
  for (const id of [plain, old]) expect(young.open(await secretsOf(id), id)).toEqual(secrets);
  expect(await secretsOf(none)).toEqual({});
  const before = await secretsOf(old);
  await encryptExportSecrets({ ...fixture, secretBox });
  expect(await secretsOf(old)).toEqual(before);
});

test('leaves secrets unchanged if no key is configured or no key can decrypt them', async () => {
  const { sql } = fixture.database;
  const [plain, foreign, damaged] = [randomUUID(), randomUUID(), randomUUID()];
  const [key, other] = [newKey(), newKey()];
  const stored = {
    [plain]: secrets,
    [foreign]: createSecretBox(other).seal(secrets, foreign),
    [damaged]: createSecretBox(key).seal(secrets, 'elsewhere'),
  };
  for (const [id, destination_secrets] of Object.entries(stored)) {
    await storeExport(sql, environmentId, { id, destination_secrets });
  }
  await encryptExportSecrets({ ...fixture, secretBox: createSecretBox(undefined) });
  for (const [id, expected] of Object.entries(stored)) expect(await secretsOf(id)).toEqual(expected);
  await encryptExportSecrets({ ...fixture, secretBox: createSecretBox(`${newKey()},${key}`) });
  for (const id of [foreign, damaged]) expect(await secretsOf(id)).toEqual(stored[id]);
});

test("reports that an export's secrets cannot be decrypted, and retries the run", async () => {
  const { sql } = fixture.database;
  const id = randomUUID();
  await storeExport(sql, environmentId, {
    id,
    destination_config: { host: '127.0.0.1', database: 'd' },
    destination_secrets: createSecretBox(newKey()).seal(secrets, id),
    end_at: '2026-11-10T11:00:00Z',
  });
  while (await planRun(fixture));
  const counter = createExportMetrics(fixture.metrics);
  const due = { ...fixture, mayBePrivate: true, counter };
  while (await runOneRound((slots) => runDueExports(due, new AbortController().signal, slots)));
  const rows = await sql.query('SELECT status, latest_error FROM batch_export_run WHERE batch_export_id = $1', [id]);
  expect(rows).toEqual([
    { status: 'FailedRetryable', latest_error: 'The secrets of the destination cannot be decrypted. Set them again.' },
  ]);
});

test('signin-022: encrypts authenticator app secrets with the newest key, if they can be decrypted', async () => {
  const { sql } = fixture.database;
  const [oldKey, youngKey, foreignKey] = [newKey(), newKey(), newKey()];
  const box = createSecretBox(`${youngKey},${oldKey}`);
  const users: number[] = [];
  const stored = async (user = 0) =>
    (await sql.query<{ secret: string }>('SELECT secret FROM user_totp WHERE user_id = $1', [user]))[0]?.secret ?? '';
  for (const key of [null, oldKey, foreignKey]) {
    const { userId } = await createTestTenant(fixture.database);
    const secret = key === null ? 'JBSWY3DP' : createSecretBox(key).seal({ text: 'JBSWY3DP' }, `totp:${userId}`).sealed;
    await sql.query('INSERT INTO user_totp (user_id, secret, last_step) VALUES ($1, $2, 0)', [userId, secret]);
    users.push(userId);
  }
  const [plain, old, foreign] = users;
  const before = await stored(foreign);
  expect(await encryptTotpSecrets({ ...fixture, secretBox: box })).toBe(false);
  for (const user of [plain, old]) {
    const opened = createSecretBox(youngKey).open({ sealed: await stored(user) }, `totp:${user}`);
    expect(opened).toEqual({ text: 'JBSWY3DP' });
  }
  expect(await stored(foreign)).toBe(before);
});

test('sso-157: encrypts OpenID client secrets with the newest key, if they can be decrypted', async () => {
  const { sql } = fixture.database;
  const [oldKey, youngKey, foreignKey] = [newKey(), newKey(), newKey()];
  const { organizationId } = await createTestTenant(fixture.database);
  const stored = async (id = '') =>
    (await sql.query<{ s: string }>('SELECT oidc_client_secret AS s FROM organization_domain WHERE id = $1', [id]))[0]
      ?.s ?? '';
  const ids: string[] = [];
  for (const key of [null, oldKey, foreignKey]) {
    const id = randomUUID();
    const secret = key === null ? 'hunter2' : createSecretBox(key).seal({ text: 'hunter2' }, `oidc:${id}`).sealed;
    await sql.query(
      `INSERT INTO organization_domain (id, organization_id, domain, verification_challenge, oidc_client_secret)
       VALUES ($1, $2, $3, 'c', $4)`,
      [id, organizationId, `${id}.example`, secret],
    );
    ids.push(id);
  }
  const [plain, old, foreign] = ids;
  const before = await stored(foreign);
  await encryptClientSecrets({ ...fixture, secretBox: createSecretBox(`${youngKey},${oldKey}`) });
  for (const id of [plain, old]) {
    expect(createSecretBox(youngKey).open({ sealed: await stored(id) }, `oidc:${id}`)).toEqual({ text: 'hunter2' });
  }
  expect(await stored(foreign)).toBe(before);
});
