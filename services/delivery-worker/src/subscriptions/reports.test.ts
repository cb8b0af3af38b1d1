import { createTestTenant, patienceMs, type TestTenant } from '@millrace/testing';
import { runOneRound } from '../testing/one-round.ts';
import { storeSubscription } from '../testing/stored-subscription.ts';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import { createDueReports } from './create-reports.ts';
import { createDeliveryMetrics, type DeliverDueDeps, deliverDueReports } from './deliver.ts';
import { scheduleDueReports } from './schedule.ts';

const due = '2026-11-09T09:00:00Z';
const now = new Date('2026-11-10T12:00:00Z');
let fixture: WorkerFixture;
let tenant: TestTenant;
let deps: DeliverDueDeps;
beforeAll(async () => {
  fixture = await startWorkerFixture();
  tenant = await createTestTenant(fixture.database);
  deps = {
    ...fixture,
    mailsPerHour: 0,
    publicAppUrl: undefined,
    publicApiUrl: 'https://millrace.example.com',
    mayBePrivate: true,
    postTimeoutMs: patienceMs,
    counter: createDeliveryMetrics(fixture.metrics),
  };
  await fixture.database.sql.query(
    `CREATE TABLE event_all PARTITION OF event FOR VALUES FROM ('2015-01-01Z') TO ('2100-01-01Z')`,
  );
  // Three orders a day in the week before the due date, one order on each of six days in the preceding week, and one
  // order on the day after the due date.
  const november = [2, 3, 4, 5, 6, 7, 8].flatMap((day) => [7, 8, 9].map((hour) => `2026-11-0${day}T0${hour}:00:00Z`));
  const october = [26, 27, 28, 29, 30, 31].map((day) => `2026-10-${day}T08:00:00Z`);
  await fixture.database.sql.query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at, created_at)
     SELECT $1, at, gen_random_uuid(), 'order', 'ada', '00000000-0000-4000-8000-000000000001', '{}', at, at
       FROM unnest($2::timestamptz[]) AS at`,
    [tenant.environmentId, [...november, ...october, '2026-11-10T08:00:00Z']],
  );
});
afterAll(() => fixture.stop());
afterEach(async () => {
  await fixture.database.sql.query('DELETE FROM subscription');
  fixture.mailServer.mails.length = 0;
  fixture.receiver.posts.length = 0;
});

const trends = (more: object = {}) => ({
  kind: 'TrendsQuery',
  series: [{ kind: 'EventsNode', event: 'order' }],
  dateRange: { date_from: '-7d', date_to: '-1d' },
  ...more,
});
const broken = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'order', math: 'sum' }] };

async function insert(table: string, row: Record<string, unknown>): Promise<number> {
  const names = Object.keys(row);
  const [created] = await fixture.database.sql.query<{ id: number }>(
    `INSERT INTO ${table} (${names.map((name) => `"${name}"`).join(', ')})
     VALUES (${names.map((_, at) => `$${at + 1}`).join(', ')}) RETURNING id`,
    Object.values(row),
  );
  return created?.id ?? 0;
}
let made = 0;
const insight = (name: string, query: object | null = trends(), more: object = {}) => {
  made += 1;
  const short_id = `report${made}`;
  return insert('insight', {
    ...{ project_id: tenant.environmentId, short_id, name, query: query && JSON.stringify(query) },
    ...more,
  });
};
const dashboard = (name: string, filters: object = {}) =>
  insert('dashboard', { project_id: tenant.environmentId, name, filters: JSON.stringify(filters) });
const tile = (dashboard_id: number, insight_id: number, y: number, more: object = {}) =>
  insert('dashboard_tile', {
    dashboard_id,
    insight_id,
    layouts: JSON.stringify({ sm: { x: 0, y, w: 6, h: 5 } }),
    ...more,
  });
const subscribe = (fields: Record<string, unknown>) =>
  storeSubscription(fixture.database.sql, tenant.environmentId, { next_delivery_date: due, ...fields });
const makeReports = () =>
  runOneRound((slots) => createDueReports({ ...fixture, stopping: new AbortController().signal }, slots));
async function send() {
  await scheduleDueReports(fixture.database, now);
  await makeReports();
  await runOneRound((slots) => deliverDueReports(deps, slots));
}
const mail = () => {
  const [first] = fixture.mailServer.mails;
  if (first === undefined) throw new Error('No mail came.');
  return first;
};
const post = () => fixture.receiver.posts[0]?.body;

test('an email contains the number in the date range, its change, a picture and a link', async () => {
  const id = await insight('Orders', trends(), { description: 'What is bought.' });
  await subscribe({ insight: id });
  await send();
  const { headers, body, html, attachments } = mail();
  expect(headers.subject).toBe('Orders');
  const [delivery] = await fixture.database.sql.query<{ id: string }>(
    'SELECT unsubscribe_id AS id FROM subscription_delivery',
  );
  const unsubscribeUrl = `https://millrace.example.com/api/unsubscribe/${delivery?.id}`;
  expect([headers['list-unsubscribe'], headers['list-unsubscribe-post']]).toEqual([
    ...[`<${unsubscribeUrl}>`, 'List-Unsubscribe=One-Click'],
  ]);
  expect(html).toContain(`<a href="${unsubscribeUrl}"`);
  expect(body).toBe(
    [
      'Orders',
      '2 November 2026 to 8 November 2026\norder: 21 (+250% vs. 6 in the previous period)',
      `https://millrace.example.com/console/projects/${tenant.environmentId}/insights?insight=report${made}`,
      'This report is sent every week. The next report will be sent on Monday, 16 November 2026.',
      `Unsubscribe: ${unsubscribeUrl}`,
      '',
    ]
      .join('\n\n')
      .replace(/\n\n$/, '\n'),
  );
  expect(html).toContain('What is bought.');
  expect(html).toContain(`<img src="cid:insight-${id}@millrace"`);
  expect(html).toContain('alt="Orders, 2 November 2026 to 8 November 2026"');
  expect(html).toMatch(/order<\/td>.*21<\/td>.*6<\/td>.*\+250%<\/td>/);
  expect(html).not.toMatch(/src="http|<script|url\(/);
  expect(attachments).toEqual([{ cid: `insight-${id}@millrace`, type: 'image/png', content: expect.any(Buffer) }]);
  const png = attachments[0]?.content ?? Buffer.alloc(0);
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  expect(png.readUInt32BE(16)).toBe(1280);
});

test("insight-300: an email escapes markup in an insight's name, and keeps emoji and right-to-left text", async () => {
  const name = '</td><i>Zahlen</i> & 📈 אנשים היום';
  await subscribe({ insight: await insight(name), title: name });
  await send();
  expect(mail().html).toContain('&lt;/td&gt;&lt;i&gt;Zahlen&lt;/i&gt; &amp; 📈 אנשים היום');
  expect(mail().html).not.toContain('<i>Zahlen');
  expect(mail().body).toContain(name);
});

test("escapes markup in a report's name", async () => {
  const id = await insight('</td><script>alert(1)</script> & "more"');
  await subscribe({ insight: id, title: '<b>Weekly</b>' });
  await send();
  expect(mail().html).not.toMatch(/<script|<b>/);
  expect(mail().html).toContain('&lt;b&gt;Weekly&lt;/b&gt;');
  expect(mail().attachments).toHaveLength(1);
});

/** Each row is a query kind, a query, and the expected key figures with their change. */
test.each<[string, object, string]>([
  [
    'shows the average number of persons, because their sum over days would count some repeatedly',
    trends({ series: [{ kind: 'EventsNode', event: 'order', math: 'dau' }] }),
    'order: 1 on average (+16.7% vs. 0.86 on average in the previous period)',
  ],
  [
    'shows a total whose first day starts at the time of day of the report',
    trends({ trendsFilter: { display: 'BoldNumber' } }),
    'order: 19 (+280% vs. 5 in the previous period)',
  ],
  [
    'shows two series',
    trends({ series: ['order', 'nothing'].map((event) => ({ kind: 'EventsNode', event })) }),
    'order: 21 (+250% vs. 6 in the previous period)\nnothing: 0 (– vs. 0 in the previous period)',
  ],
  ['compares all time with nothing', trends({ dateRange: { date_from: 'all', date_to: '-1d' } }), 'order: 27'],
  [
    'shows a query that a client has wrapped',
    { kind: 'InsightVizNode', source: trends() },
    'order: 21 (+250% vs. 6 in the previous period)',
  ],
  [
    'shows a funnel',
    {
      kind: 'FunnelsQuery',
      series: ['order', 'order'].map((event) => ({ kind: 'EventsNode', event })),
      dateRange: { date_from: '-7d', date_to: '-1d' },
    },
    'Conversion: 100% (0 points vs. 100% in the previous period)',
  ],
  [
    'compares a funnel with nothing if the previous period has no persons',
    {
      kind: 'FunnelsQuery',
      series: ['order', 'order'].map((event) => ({ kind: 'EventsNode', event })),
      dateRange: { date_from: '2026-10-26', date_to: '2026-10-31' },
    },
    'Conversion: 100%\n',
  ],
  [
    'shows retention by days without a time',
    {
      kind: 'RetentionQuery',
      dateRange: { date_from: '-7d' },
      retentionFilter: {
        ...{ period: 'Day', totalIntervals: 3 },
        targetEntity: { id: 'order', type: 'events' },
        returningEntity: { id: 'order', type: 'events' },
      },
    },
    '\n2026-11-08  1',
  ],
  [
    'shows rows of events',
    { kind: 'EventsQuery', select: ['event', 'timestamp'], after: '2026-11-08', limit: 1 },
    'event  timestamp',
  ],
])('%s', async (_, query, expected) => {
  await subscribe({ insight: await insight('Asked', query) });
  await send();
  expect(mail().body).toContain(expected);
});

test('insight-290: a report about a dashboard with eight insights contains the first six in layout order', async () => {
  const id = await dashboard('Shop');
  for (const y of [7, 6, 5, 4, 3, 2, 1, 0]) await tile(id, await insight(`Insight at ${y}`), y);
  await subscribe({ dashboard: id });
  await send();
  const { body, attachments } = mail();
  expect([...body.matchAll(/Insight at \d/g)].map(String)).toEqual([0, 1, 2, 3, 4, 5].map((y) => `Insight at ${y}`));
  expect(body).toContain('This report contains 6 of the 8 insights on this dashboard.');
  expect(attachments).toHaveLength(6);
});

test('insight-291: a report omits deleted insights and removed tiles', async () => {
  const id = await dashboard('Shop');
  await tile(id, await insight('Kept'), 0);
  await tile(id, await insight('Deleted', trends(), { deleted: true }), 1);
  await tile(id, await insight('Taken off'), 2, { deleted: true });
  await subscribe({ dashboard: id });
  await send();
  expect(mail().body).toContain('Kept');
  expect(mail().body).not.toMatch(/Deleted|Taken off| of /);
});

test('insight-292: a report shows the error of an insight that fails, and all other insights completely', async () => {
  const id = await dashboard('Shop');
  await tile(id, await insight('Broken', broken), 0);
  await tile(id, await insight('Orders'), 1);
  await tile(id, await insight('Empty', null), 2);
  await subscribe({ dashboard: id });
  await send();
  const { body, html } = mail();
  expect(body).toContain('Broken\nNo results: series.0.math_property');
  expect(body).toContain('order: 21');
  expect(body).toContain('Empty\nNo results: This insight has no query.');
  expect(html).toContain('No results: This insight has no query.');
});

test("insight-293: a report's numbers are as of its due time, even if it is sent later", async () => {
  await subscribe({
    insight: await insight('Today', trends({ dateRange: { date_from: '-1d' } })),
    target_type: 'webhook',
    target_value: `${fixture.receiver.url}/`,
  });
  await send();
  expect(post().insights[0]).toMatchObject({ date_from: '2026-11-08T00:00:00Z', figures: [{ value: 3 }] });
});

test("insight-294: the first report contains the next date, and the subscriber's name and message to the recipient", async () => {
  const { sql } = fixture.database;
  await sql.query(`UPDATE "user" SET email = 'grace@example.com', is_email_verified = true WHERE id = $1`, [
    tenant.userId,
  ]);
  const id = await subscribe({
    insight: await insight('Orders'),
    created_by_id: tenant.userId,
    next_delivery_date: '2026-11-16T09:00:00Z',
  });
  await sql.query(
    `INSERT INTO subscription_delivery (id, subscription_id, occasion, due_at, target, invite_message)
     VALUES (gen_random_uuid(), $1, 'created', $2, 'ada@example.com', 'Have a look.')`,
    [id, now],
  );
  await send();
  expect(mail().body).toMatch(/^grace@example\.com subscribed you to this report\.\n\n> Have a look\.\n\nOrders/);
  expect(mail().body).toContain('The next report will be sent on Monday, 16 November 2026.');
});

it('emails show names and titles on one line and not as links', async () => {
  const name = 'Orders\nYour account is locked: https://evil.example';
  await subscribe({ insight: await insight(name) });
  await send();
  const { headers, body, html } = mail();
  const plain = 'Orders Your account is locked: https evil.example';
  expect(headers.subject).toBe(plain);
  expect(body).toContain(plain);
  expect(html).toContain(plain);
  expect(body + html).not.toContain('https://evil.example');
});

test('insight-295: sends each recipient one email with the same numbers, even after a worker has crashed', async () => {
  await subscribe({ insight: await insight('Orders'), target_value: 'ada@example.com,grace@example.com' });
  await scheduleDueReports(fixture.database, now);
  const { sql } = fixture.database;
  await sql.query(
    `INSERT INTO subscription_report (id, subscription_id, due_at, attempt_at)
     SELECT gen_random_uuid(), subscription_id, due_at, now() + interval '1 minute' FROM subscription_delivery LIMIT 1`,
  );
  await makeReports();
  await runOneRound((slots) => deliverDueReports(deps, slots));
  expect(fixture.mailServer.mails).toHaveLength(0);
  await sql.query('UPDATE subscription_report SET attempt_at = now()');
  await Promise.all([makeReports(), makeReports()]);
  await Promise.all([1, 2].map(() => runOneRound((slots) => deliverDueReports(deps, slots))));
  const mails = fixture.mailServer.mails.map(({ to, body }) => [to[0], body]).sort();
  expect(mails.map(([to]) => to)).toEqual(['ada@example.com', 'grace@example.com']);
  const withoutLinks = mails.map(([, body]) => body?.replace(/\/api\/unsubscribe\/\S+/, ''));
  expect(withoutLinks[0]).toBe(withoutLinks[1]);
  expect(mails[0]?.[1]).not.toBe(mails[1]?.[1]);
  expect(await sql.query('SELECT attempts FROM subscription_report')).toEqual([{ attempts: 2 }]);
});

test('sends a report with an explanation instead of numbers if the worker stopped during every attempt', async () => {
  await subscribe({ insight: await insight('Orders') });
  await scheduleDueReports(fixture.database, now);
  await fixture.database.sql.query(
    `INSERT INTO subscription_report (id, subscription_id, due_at, attempt_at, attempts)
     SELECT gen_random_uuid(), subscription_id, due_at, now(), 5 FROM subscription_delivery`,
  );
  await makeReports();
  await runOneRound((slots) => deliverDueReports(deps, slots));
  expect(mail().body).toContain('No results: Every attempt to compute the results was interrupted.');
});

test("insight-296: a dashboard's filters apply to its insights, except to a tile with its own filters", async () => {
  const id = await dashboard('Shop', { date_from: '-14d', date_to: '-1d' });
  await tile(id, await insight('Under the dashboard'), 0);
  await tile(id, await insight('Under its own'), 1, {
    filters_overrides: JSON.stringify({ date_from: '-1d', date_to: '-1d' }),
  });
  await subscribe({ dashboard: id });
  await send();
  expect(mail().body).toContain('Under the dashboard\n26 October 2026 to 8 November 2026\norder: 27');
  expect(mail().body).toMatch(/Under its own\n8 November 2026, .*\norder: 3/);
});

test('insight-297: the report of an empty dashboard says that it contains no insights', async () => {
  await subscribe({ dashboard: await dashboard('Nothing on it') });
  await send();
  expect(mail().body).toContain('This dashboard does not contain any insights.');
  expect(mail().attachments).toEqual([]);
});

test("insight-299: a webhook report contains the numbers, the rows and the picture's URL", async () => {
  const id = await insight('Orders');
  await subscribe({ insight: id, target_type: 'webhook', target_value: `${fixture.receiver.url}/hook` });
  await send();
  expect(post()).toMatchObject({
    due_at: '2026-11-09T09:00:00.000Z',
    timezone: 'UTC',
    total_insights: 1,
    insights: [
      {
        ...{ id, name: 'Orders', query_kind: 'TrendsQuery', error: null },
        date_from: '2026-11-02T00:00:00Z',
        figures: [{ label: 'order', value: 21, unit: 'number', of: 'total', before: 6, change: 250 }],
        table: {
          columns: ['time', 'order · current', 'order · previous'],
          rows: expect.arrayContaining([['2026-11-02', 3, 1]]),
        },
        picture_url: expect.stringMatching(
          /^https:\/\/millrace\.example\.com\/api\/report_pictures\/[0-9a-f-]{36}\/0$/,
        ),
      },
    ],
  });
  expect(post().insights[0]).not.toHaveProperty('chart');
});

test('sends Slack a message with the numbers, a picture that Slack can load, and plain text for clients without blocks', async () => {
  await subscribe({
    insight: await insight('Orders <!channel>'),
    target_type: 'slack',
    target_value: `${fixture.receiver.url}/slack`,
  });
  await send();
  const { text, blocks } = post();
  expect(text).toContain('order: 21');
  expect(text).toContain('Orders &lt;!channel&gt;');
  expect(text).not.toContain('<');
  expect(blocks.map(({ type }: { type: string }) => type)).toEqual([
    'header',
    'section',
    'image',
    'actions',
    'context',
  ]);
  expect(blocks[1].text.text).toMatch(/^\*<https:.*\|Orders &lt;!channel&gt;>\*\n.*\norder: \*21\* \(\+250%\)$/);
  expect(blocks[2].image_url).toMatch(/\/api\/report_pictures\//);
});

test('a report shows the selected insights of its dashboard, in dashboard order', async () => {
  const about = await dashboard('Shop');
  const [first, second, third] = [await insight('First'), await insight('Second'), await insight('Third')];
  for (const [y, id] of [first, second, third].entries()) await tile(about, id, y);
  await subscribe({ dashboard: about, dashboard_export_insights: [third, first] });
  await send();
  expect(mail().body).toMatch(/First[\s\S]*Third/);
  expect(mail().body).not.toContain('Second');
});

test('sends no report for a disabled subscription', async () => {
  await subscribe({ insight: await insight('Orders'), enabled: false });
  await send();
  expect(fixture.mailServer.mails).toEqual([]);
});
