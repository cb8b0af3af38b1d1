import { createTestTenant, type TestTenant } from '@millrace/testing';
import { readAllPages, startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { storeWarning } from '../../testing/stored-data.ts';

const unknown = expect.stringContaining('details');
const ofWarnings = 'docs/ingestion-rules.md#warnings';
let api: TestApi;
let tenant: TestTenant;
let path: string;
beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  tenant = await createTestTenant(api.database);
  path = `/api/projects/${tenant.projectId}/ingestion_warnings`;
});
afterAll(() => api.stop());

const warning = (fields: Parameters<typeof storeWarning>[2]) =>
  storeWarning(api.database.sql, tenant.projectId, fields);
const ids = async (query = '') =>
  (await api.get(path + query, tenant.personalApiKey)).body.results.map((row: { id: string }) => row.id);

test('returns an ingestion warning with an explanation, the number of affected events, and examples', async () => {
  const other = await createTestTenant(api.database);
  await storeWarning(api.database.sql, other.projectId, {});
  const id = await warning({ count: 3, details: { samples: [{ index: 1 }] } });
  expect((await api.get(`${path}/`, tenant.personalApiKey)).body).toEqual({
    next: null,
    results: [
      {
        id,
        type: 'missing_distinct_id',
        severity: 'error',
        outcome: 'dropped',
        detail: expect.stringContaining('distinct_id'),
        rule: 'docs/wire-rules.md#dropped-events',
        count: 3,
        details: { samples: [{ index: 1 }] },
        timestamp: '2026-11-10T12:00:00Z',
      },
    ],
  });
});

test('filters ingestion warnings by type, severity and time, excluding both ends of the time range', async () => {
  const first = await warning({ type: 'a', severity: 'info', timestamp: '2026-11-01T00:00:00Z' });
  const second = await warning({ type: 'b', timestamp: '2026-11-02T00:00:00Z' });
  expect(await ids()).toEqual([second, first]);
  expect(await ids('?type=a')).toEqual([first]);
  expect(await ids('?severity=error')).toEqual([second]);
  expect(await ids('?severity=error&type=a')).toEqual([]);
  expect(await ids('?after=2026-11-01')).toEqual([second]);
  expect(await ids('?before=2026-11-02')).toEqual([first]);
  expect((await api.get(`${path}?after=x`, tenant.personalApiKey)).status).toBe(400);
});

test('returns complete pages of ingestion warnings even if many warnings have the same time', async () => {
  const stored: string[] = [];
  for (let index = 0; index < 11; index += 1) stored.push(await warning({}));
  const seen = await readAllPages<{ id: string }>(api, `${path}?limit=2`, tenant.personalApiKey);
  expect(seen.map((row) => row.id)).toEqual(stored.sort().reverse());
});

describe('counts of ingestion warnings', () => {
  const counts = async (query: string) =>
    (await api.get(`${path}/counts?${query}`, tenant.personalApiKey)).body.results;

  test("console-031: groups warnings by type and hour in the project's time zone, most frequent type first", async () => {
    await api.database.sql.query("UPDATE environment SET timezone = 'Asia/Kolkata' WHERE id = $1", [
      tenant.environmentId,
    ]);
    const other = await createTestTenant(api.database);
    await storeWarning(api.database.sql, other.projectId, { timestamp: '2026-11-10T10:00:00Z' });
    await warning({ type: 'a', timestamp: '2026-11-10T10:29:59Z' });
    await warning({ type: 'b', severity: 'info', timestamp: '2026-11-10T10:30:00Z', count: 2 });
    await warning({ type: 'b', severity: 'info', timestamp: '2026-11-10T11:29:59.500Z', count: 3 });
    await warning({ type: 'b', severity: 'info', timestamp: '2026-11-10T11:30:00Z', count: 2_147_483_647 });
    expect(await counts('after=2026-11-09&before=2026-11-11')).toEqual([
      {
        ...{ type: 'b', severity: 'info', outcome: 'changed', detail: unknown, rule: ofWarnings },
        count: 2_147_483_652,
        first_at: '2026-11-10T10:30:00Z',
        last_at: '2026-11-10T11:30:00Z',
        counts: [
          { start: '2026-11-10T10:30:00Z', count: 5 },
          { start: '2026-11-10T11:30:00Z', count: 2_147_483_647 },
        ],
      },
      {
        ...{ type: 'a', severity: 'error', outcome: 'dropped', detail: unknown, rule: ofWarnings },
        count: 1,
        first_at: '2026-11-10T10:29:59Z',
        last_at: '2026-11-10T10:29:59Z',
        counts: [{ start: '2026-11-10T09:30:00Z', count: 1 }],
      },
    ]);
    expect(await counts('after=2026-11-10T10:29:59Z&before=2026-11-10T10:30:00Z')).toEqual([]);
    const day = 'after=2026-11-10&before=2026-11-11';
    expect(await counts(`${day}&severity=error`)).toMatchObject([{ type: 'a' }]);
    expect(await counts(`${day}&type=b&severity=error`)).toEqual([]);
    expect(await counts(`${day}&type=a&interval=minute`)).toMatchObject([
      { counts: [{ start: '2026-11-10T10:29:00Z', count: 1 }] },
    ]);
  });

  test('returns 400 for warning counts whose time range is too long, empty or missing, naming the field', async () => {
    for (const query of [
      'after=-32d',
      'after=-25h&interval=minute',
      'after=2026-11-02&before=2026-11-01',
      'after=x',
      'before=x',
    ]) {
      const { status, body } = await api.get(`${path}/counts?${query}`, tenant.personalApiKey);
      expect([query, status, body.attr]).toEqual([query, 400, query.slice(0, query.indexOf('='))]);
    }
    expect(await counts('')).toEqual([]);
  });
});
