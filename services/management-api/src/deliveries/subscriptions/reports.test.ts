import { randomUUID } from 'node:crypto';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createMonths, storeEvent } from '../../testing/stored-data.ts';

let api: TestApi;
let tenant: TestTenant;
let other: TestTenant;
let insight: number;
beforeAll(async () => {
  api = await startTestApi();
  tenant = await createTestTenant(api.database);
  other = await createTestTenant(api.database);
  const { sql } = api.database;
  const month = new Date().toISOString().slice(0, 7);
  await createMonths(sql, month, month);
  await storeEvent(sql, tenant.environmentId, { event: 'order', timestamp: new Date().toISOString() });
  insight = (await post('insights', { name: 'Orders <today>', query: orders })).body.id;
});
afterAll(() => api.stop());

const orders = {
  kind: 'TrendsQuery',
  series: [{ kind: 'EventsNode', event: 'order' }],
  dateRange: { date_from: 'dStart' },
};
const base = (of = tenant) => `/api/projects/${of.environmentId}`;
async function request(
  path: string,
  { key = tenant.personalApiKey, ...init }: RequestInit & { key?: string | null } = {},
) {
  const headers = { 'content-type': 'application/json', ...(key !== null && { authorization: `Bearer ${key}` }) };
  const response = await fetch(`${api.url}${path}`, { ...init, headers });
  const content = Buffer.from(await response.arrayBuffer());
  const text = content.toString();
  const body = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : null;
  return { status: response.status, headers: response.headers, body, text, content };
}
const get = (path: string, key?: string | null) => request(path, key === undefined ? {} : { key });
const post = (path: string, body: object) =>
  request(`${base()}/${path}/`, { method: 'POST', body: JSON.stringify(body) });
const preview = (query: string) => `${base()}/subscriptions/preview/?${query}`;

test('returns a report preview with current results, and stores nothing', async () => {
  const { status, body } = await get(preview(`insight=${insight}&invite_message=Look`));
  expect([status, body]).toEqual([
    200,
    {
      subject: 'Orders <today>',
      text: expect.stringContaining('order: 1 (– vs. 0 in the previous period)'),
      total_insights: 1,
      insights: [
        expect.objectContaining({
          ...{ query_kind: 'TrendsQuery', left_out: { rows: 0, figures: 0 } },
          id: insight,
          name: 'Orders <today>',
          error: null,
          figures: [{ label: 'order', value: 1, unit: 'number', of: 'total', before: 0, change: null }],
        }),
      ],
    },
  ]);
  expect(body.text).toContain('Look');
  const rows = 'SELECT (SELECT count(*)::int FROM subscription) + (SELECT count(*)::int FROM subscription_report) AS n';
  expect(await api.database.sql.query(rows)).toEqual([{ n: 0 }]);
});

test('serves a report preview as a page that has no scripts, loads no resources, and cannot be framed by other sites', async () => {
  const { status, headers, text } = await get(preview(`insight=${insight}&title=Weekly&format=html`));
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*frame-ancestors 'self'; sandbox/);
  expect(headers.get('x-frame-options')).toBe('SAMEORIGIN');
  expect(text).toContain('Orders &lt;today&gt;');
  expect(text).toContain('<title>Weekly</title>');
  expect(text).toMatch(/<img src="data:image\/png;base64,iVBOR/);
  expect(text).not.toContain('cid:');
});

test.each([
  ['insight=999999', 'insight', 'does_not_exist'],
  ['dashboard=999999', 'dashboard', 'does_not_exist'],
  ['insight=x', 'insight', 'invalid_input'],
  [`insight=1&title=${'x'.repeat(101)}`, 'title', 'max_length'],
])('returns 400 for a report preview with ?%s, naming %s', async (query, attr, code) => {
  expect(await get(preview(query))).toMatchObject({ status: 400, body: { type: 'validation_error', attr, code } });
});

test('returns only a title and a link as the report preview without an insight or dashboard', async () => {
  const { status, body } = await get(preview('title=Hello'));
  expect([status, body]).toMatchObject([200, { subject: 'Hello', total_insights: 0, insights: [] }]);
  expect(body.text).toContain(`https://millrace.test/console/projects/${tenant.environmentId}`);
});

test("returns the same report preview error for another project's insight as for a missing insight", async () => {
  const { status, body } = await get(`${base(other)}/subscriptions/preview/?insight=${insight}`, other.personalApiKey);
  expect([status, body.code]).toEqual([400, 'does_not_exist']);
  expect((await get(preview(`insight=${insight}`), other.personalApiKey)).status).toBe(403);
});

describe('sent reports', () => {
  let subscription: number;
  const deliveryId = randomUUID();
  const reportId = randomUUID();
  beforeAll(async () => {
    const made = await post('subscriptions', {
      ...{ insight, target_type: 'email', target_value: 'ada@example.com', frequency: 'daily' },
      start_date: '2026-11-02T09:00:00Z',
    });
    subscription = made.body.id;
    const { sql } = api.database;
    const content = {
      ...{
        ...{ kind: 'insight', id: insight },
        name: 'As it was called',
        description: '',
        due_at: '2026-11-02T09:00:00Z',
        timezone: 'UTC',
        total: 1,
      },
      insights: [
        {
          ...{ id: insight, short_id: 'abc', name: 'As it was called', description: '', query_kind: 'TrendsQuery' },
          ...{ date_from: '2026-11-01T00:00:00Z', date_to: '2026-11-01T23:59:59Z', error: null },
          figures: [{ label: 'order', value: 7, format: { kind: 'number' }, of: 'total', before: null }],
          ...{ table: { columns: [], rows: [] }, left_out: { rows: 0, figures: 0 } },
          chart: {
            ...{ shape: 'lines', times: ['2026-11-01'], open: 1, format: { kind: 'number' } },
            series: [{ label: 'order', color: 0, isBefore: false, data: [7] }],
          },
        },
      ],
    };
    await sql.query('DELETE FROM subscription_delivery');
    await sql.query(
      `INSERT INTO subscription_report (id, subscription_id, due_at, content, attempt_at)
       VALUES ($1, $2, '2026-11-02T09:00:00Z', $3, now())`,
      [reportId, subscription, JSON.stringify(content)],
    );
    await sql.query(
      `INSERT INTO subscription_delivery (id, subscription_id, occasion, due_at, target, status)
       VALUES ($1, $2, 'scheduled', '2026-11-02T09:00:00Z', 'ada@example.com', 'delivered')`,
      [deliveryId, subscription],
    );
  });
  const sent = () => `${base()}/subscriptions/${subscription}/deliveries/${deliveryId}/`;

  test('returns a report with the results at the time of sending, as JSON and as the HTML page of the email', async () => {
    const { status, body } = await get(sent());
    expect([status, body]).toMatchObject([
      200,
      {
        ...{ id: deliveryId, target: 'ada@example.com', status: 'delivered' },
        report: { subject: 'As it was called', insights: [{ figures: [{ value: 7, before: null, change: null }] }] },
      },
    ]);
    const page = await get(`${sent()}?format=html`);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('As it was called')]);
  });

  test('returns 403 or 404 for a report to members of other projects, and 404 for an unknown ID', async () => {
    expect((await get(sent(), other.personalApiKey)).status).toBe(403);
    expect((await get(sent().replace(deliveryId, randomUUID()))).status).toBe(404);
    const elsewhere = sent().replace(base(), base(other));
    expect((await get(elsewhere, other.personalApiKey)).status).toBe(404);
  });

  test("serves a report's images to anyone who knows the report's ID", async () => {
    const picture = (id: string, at: number | string) => get(`/api/report_pictures/${id}/${at}`, null);
    const { status, headers, content } = await picture(reportId, 0);
    expect([status, headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(content.subarray(1, 4).toString()).toBe('PNG');
    expect((await picture(reportId, 1)).status).toBe(404);
    expect((await picture(randomUUID(), 0)).status).toBe(404);
    expect((await picture(deliveryId, 0)).status).toBe(404);
    expect((await picture(reportId, 'x')).status).toBe(404);
    expect((await picture('x', 0)).status).toBe(404);
    const allow = (isAllowed: boolean) =>
      api.database.sql.query('UPDATE organization SET allow_publicly_shared_resources = $1', [isAllowed]);
    await allow(false);
    expect((await picture(reportId, 0)).status).toBe(404);
    await allow(true);
  });

  test('returns null as the content of a report that is still being computed', async () => {
    await api.database.sql.query('UPDATE subscription_report SET content = NULL');
    expect(await get(sent())).toMatchObject({ status: 200, body: { id: deliveryId, report: null } });
  });
});
