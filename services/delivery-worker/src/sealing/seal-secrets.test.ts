import { randomBytes, randomUUID } from 'node:crypto';
import { createSecretBox } from '@millrace/runtime';
import { createTestTenant } from '@millrace/testing';
import { planRun } from '../batch-exports/plan.ts';
import { createExportMetrics, exportDue } from '../batch-exports/run.ts';
import { oneRound } from '../testing/one-round.ts';
import { storeExport } from '../testing/stored-export.ts';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import { sealSecrets } from './seal.ts';

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

test('what was stored before there was a key is encrypted, and what an older key encrypted is encrypted anew', async () => {
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
  expect(await sealSecrets({ ...fixture, secretBox })).toBe(false);
  const young = createSecretBox(youngKey);
  for (const id of [plain, old]) expect(young.open(await secretsOf(id), id)).toEqual(secrets);
  expect(await secretsOf(none)).toEqual({});
  const before = await secretsOf(old);
  await sealSecrets({ ...fixture, secretBox });
  expect(await secretsOf(old)).toEqual(before);
});

test('without a key nothing is touched, nor what no key at hand opens', async () => {
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
  await sealSecrets({ ...fixture, secretBox: createSecretBox(undefined) });
  for (const [id, expected] of Object.entries(stored)) expect(await secretsOf(id)).toEqual(expected);
  await sealSecrets({ ...fixture, secretBox: createSecretBox(`${newKey()},${key}`) });
  for (const id of [foreign, damaged]) expect(await secretsOf(id)).toEqual(stored[id]);
});

test('a run whose secrets cannot be decrypted says so, and is tried again', async () => {
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
  while (await oneRound((slots) => exportDue(due, new AbortController().signal, slots)));
  const rows = await sql.query('SELECT status, latest_error FROM batch_export_run WHERE batch_export_id = $1', [id]);
  expect(rows).toEqual([
    { status: 'FailedRetryable', latest_error: 'The secrets of the destination cannot be decrypted: send them again.' },
  ]);
});
