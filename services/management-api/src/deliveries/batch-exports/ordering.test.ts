import { randomUUID } from 'node:crypto';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { readAllPages, startTestApi, type TestApi } from '../../testing/start-test-api.ts';

let api: TestApi;
let tenant: TestTenant;
let exportId: string;
beforeAll(async () => {
  api = await startTestApi();
  tenant = await createTestTenant(api.database);
  exportId = randomUUID();
  await api.database.sql.query(
    `INSERT INTO batch_export (id, environment_id, name, destination_type, interval) VALUES ($1, $2, 'e', 'S3', 'hour')`,
    [exportId, tenant.environmentId],
  );
  // Rows share a creation time in groups of three, and a start time in pairs. Later rows start earlier.
  await api.database.sql.query(
    `INSERT INTO batch_export_backfill (id, batch_export_id, start_at, end_at, status, created_at)
     SELECT 'b' || n, $1, '2026-01-02'::timestamptz - (n / 2) * interval '1 hour', '2026-01-03', 'Completed',
            now() - interval '1 day' + (n / 3) * interval '1 hour' FROM generate_series(0, 8) n`,
    [exportId],
  );
  await api.database.sql.query(
    `INSERT INTO batch_export_run (id, batch_export_id, backfill_id, data_interval_start, data_interval_end, status, created_at)
     SELECT ('00000000-0000-4000-8000-00000000000' || n)::uuid, $1, 'b' || n,
            '2026-01-02'::timestamptz - (n / 2) * interval '1 hour', '2026-01-03', 'Completed',
            now() - interval '1 day' + (n / 3) * interval '1 hour' FROM generate_series(0, 8) n`,
    [exportId],
  );
});
afterAll(() => api.stop());

async function numbers(kind: 'runs' | 'backfills', ordering: string): Promise<number[]> {
  const path = `/api/projects/${tenant.projectId}/batch_exports/${exportId}/${kind}/?limit=2${ordering}`;
  const rows = await readAllPages<{ id: string }>(api, path, tenant.personalApiKey);
  return rows.map(({ id }) => Number(id.at(-1)));
}

const upwards = [0, 1, 2, 3, 4, 5, 6, 7, 8];
const downwards = upwards.toReversed();
/** A row with a higher number has an earlier start. Rows with the same start are sorted by ID. */
const byStart = [8, 6, 7, 4, 5, 2, 3, 0, 1];

describe.each([
  ['runs', 'data_interval_start'],
  ['backfills', 'start_at'],
] as const)('%s', (kind, start) => {
  test.each([
    ['', downwards],
    ['&ordering=-created_at', downwards],
    ['&ordering=created_at', upwards],
    [`&ordering=${start}`, byStart],
    [`&ordering=-${start}`, byStart.toReversed()],
  ])('lists every row once over all pages, sorted by %j', async (ordering, expected) => {
    expect(await numbers(kind, ordering)).toEqual(expected);
  });

  test.each(['status', '--created_at', ''])('returns 400 for ordering=%s', async (ordering) => {
    const path = `/api/projects/${tenant.projectId}/batch_exports/${exportId}/${kind}/?ordering=${ordering}`;
    const { status, body } = await api.get(path, tenant.personalApiKey);
    expect([status, body.attr]).toEqual([400, 'ordering']);
  });
});
