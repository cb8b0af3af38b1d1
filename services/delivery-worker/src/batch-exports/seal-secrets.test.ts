import { randomBytes, randomUUID } from 'node:crypto';
import { createSecretBox } from '@millrace/runtime';
import { createTestTenant } from '@millrace/testing';
import { oneRound } from '../testing/one-round.ts';
import { storeExport } from '../testing/stored-export.ts';
import { startWorkerBed, type WorkerBed } from '../testing/worker-bed.ts';
import { createExportMetrics, exportDue } from './export-run.ts';
import { planRun } from './plan-runs.ts';
import { sealSecrets } from './seal-secrets.ts';

let bed: WorkerBed;
let environmentId: number;
beforeAll(async () => {
  bed = await startWorkerBed();
  ({ environmentId } = await createTestTenant(bed.database));
});
afterEach(() => bed.database.sql.query('DELETE FROM batch_export'));
afterAll(() => bed.stop());

const secrets = { user: 'u', password: 'hunter2' };
const secretsOf = async (id: string) =>
  (await bed.database.sql.query('SELECT destination_secrets AS s FROM batch_export WHERE id = $1', [id]))[0]
    ?.s as Record<string, unknown>;
const newKey = () => randomBytes(32).toString('base64');

test('what was stored before there was a key is encrypted, and what an older key encrypted is encrypted anew', async () => {
  const { sql } = bed.database;
  const [oldKey, youngKey] = [newKey(), newKey()];
  const [plain, old, none] = [randomUUID(), randomUUID(), randomUUID()];
  await storeExport(sql, environmentId, { id: plain, destination_secrets: secrets });
  await storeExport(sql, environmentId, {
    id: old,
    destination_secrets: createSecretBox(oldKey).seal(secrets, old),
  });
  await storeExport(sql, environmentId, { id: none });
  const secretBox = createSecretBox(`${youngKey},${oldKey}`);
  expect(await sealSecrets({ ...bed, secretBox })).toBe(false);
  const young = createSecretBox(youngKey);
  for (const id of [plain, old]) expect(young.open(await secretsOf(id), id)).toEqual(secrets);
  expect(await secretsOf(none)).toEqual({});
  const before = await secretsOf(old);
  await sealSecrets({ ...bed, secretBox });
  expect(await secretsOf(old)).toEqual(before);
});

test('without a key nothing is touched, nor what no key at hand opens', async () => {
  const { sql } = bed.database;
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
  await sealSecrets({ ...bed, secretBox: createSecretBox(undefined) });
  for (const [id, expected] of Object.entries(stored)) expect(await secretsOf(id)).toEqual(expected);
  await sealSecrets({ ...bed, secretBox: createSecretBox(`${newKey()},${key}`) });
  for (const id of [foreign, damaged]) expect(await secretsOf(id)).toEqual(stored[id]);
});

test('a run whose secrets cannot be decrypted says so, and is tried again', async () => {
  const { sql } = bed.database;
  const id = randomUUID();
  await storeExport(sql, environmentId, {
    id,
    destination_config: { host: '127.0.0.1', database: 'd' },
    destination_secrets: createSecretBox(newKey()).seal(secrets, id),
    end_at: '2026-11-10T11:00:00Z',
  });
  while (await planRun(bed));
  const counter = createExportMetrics(bed.metrics);
  const due = { ...bed, mayBePrivate: true, counter };
  while (await oneRound((places) => exportDue(due, new AbortController().signal, places)));
  const rows = await sql.query('SELECT status, latest_error FROM batch_export_run WHERE batch_export_id = $1', [id]);
  expect(rows).toEqual([
    { status: 'FailedRetryable', latest_error: 'The secrets of the destination cannot be decrypted: send them again.' },
  ]);
});
