import { createTestTenant, patienceMs, type TestTenant, waitOutHourEnd } from '@millrace/testing';
import { runOneRound } from '../testing/one-round.ts';
import { storeSubscription } from '../testing/stored-subscription.ts';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import { createDueReports } from './create-reports.ts';
import { deliverDueReports as beginDue, createDeliveryMetrics, type DeliverDueDeps } from './deliver.ts';
import { scheduleDueReports } from './schedule.ts';

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
    publicAppUrl: 'https://app.example.com/',
    publicApiUrl: undefined,
    mayBePrivate: true,
    postTimeoutMs: patienceMs,
    counter: createDeliveryMetrics(fixture.metrics),
  };
});
afterAll(() => fixture.stop());
afterEach(async () => {
  await fixture.database.sql.query('DELETE FROM subscription');
  fixture.mailServer.mails.length = 0;
  fixture.receiver.posts.length = 0;
});

async function subject(
  kind: 'insight' | 'dashboard',
  fields: { name?: string; deleted?: boolean } = {},
): Promise<number> {
  const shortId = kind === 'insight' ? { short_id: Math.random().toString(36).slice(2, 10) } : {};
  const row = { project_id: tenant.environmentId, ...shortId, ...fields };
  const names = Object.keys(row);
  const [created] = await fixture.database.sql.query<{ id: number }>(
    `INSERT INTO ${kind} (${names.join(', ')}) VALUES (${names.map((_, at) => `$${at + 1}`).join(', ')}) RETURNING id`,
    Object.values(row),
  );
  return created?.id ?? 0;
}
const store = (fields: Record<string, unknown> = {}) =>
  storeSubscription(fixture.database.sql, tenant.environmentId, fields);
const deliveries = () =>
  fixture.database.sql.query(
    `SELECT target, status, attempts, error, due_at, (attempt_at > now()) AS is_later
       FROM subscription_delivery ORDER BY target, due_at`,
  );
const nextDate = async (id: number) =>
  (await fixture.database.sql.query('SELECT next_delivery_date FROM subscription WHERE id = $1', [id]))[0]
    ?.next_delivery_date;
const makeReports = () =>
  runOneRound((slots) => createDueReports({ ...fixture, stopping: new AbortController().signal }, slots));
const deliverDue = async (given: DeliverDueDeps) => {
  await makeReports();
  return runOneRound((slots) => beginDue(given, slots));
};
const makeDue = () =>
  fixture.database.sql.query(`UPDATE subscription_delivery SET attempt_at = now() WHERE status = 'pending'`);

test('sends a report with title, link and summary to each address at the due date, and advances the date', async () => {
  const insight = await subject('insight');
  const id = await store({ target_value: 'ada@example.com, grace@example.com', title: 'Weekly sign-ups', insight });
  await scheduleDueReports(fixture.database, now);
  expect(await nextDate(id)).toEqual(new Date('2026-11-16T09:00:00Z'));
  await deliverDue(deps);
  expect(fixture.mailServer.mails.map(({ to }) => to[0]).sort()).toEqual(['ada@example.com', 'grace@example.com']);
  const [mail] = fixture.mailServer.mails;
  expect(mail?.headers.subject).toBe('Weekly sign-ups');
  expect(mail?.body).toContain(`https://app.example.com/project/${tenant.environmentId}/insights/${insight}`);
  expect(mail?.body).toContain('This report is sent every week.');
  const delivered = { status: 'delivered', attempts: 1, error: null, due_at: new Date('2026-11-09T09:00:00Z') };
  expect(await deliveries()).toMatchObject([delivered, delivered]);
});

test.each([
  ['insight', {}],
  ['dashboard', {}],
  ['insight', { dashboard: 'there' }],
] as const)(
  'insight-298: notifies everyone once and deletes a subscription after its %s was deleted (%j)',
  async (kind, more) => {
    const gone = await subject(kind, { name: 'Sign-ups', deleted: true });
    const also = 'dashboard' in more ? { dashboard: await subject('dashboard') } : {};
    const id = await store({ target_value: 'ada@example.com, grace@example.com', [kind]: gone, ...also });
    await scheduleDueReports(fixture.database, now);
    await deliverDue(deps);
    expect(fixture.mailServer.mails.map(({ to }) => to[0]).sort()).toEqual(['ada@example.com', 'grace@example.com']);
    const [mail] = fixture.mailServer.mails;
    expect(mail?.headers.subject).toBe('Sign-ups');
    expect(mail?.body).toMatch(/was deleted\. No more reports will be sent\./);
    expect(mail?.body).not.toContain('https://');
    await scheduleDueReports(fixture.database, new Date('2027-11-10T12:00:00Z'));
    await deliverDue(deps);
    expect(fixture.mailServer.mails).toHaveLength(2);
    const { sql } = fixture.database;
    expect(await sql.query('SELECT deleted FROM subscription WHERE id = $1', [id])).toEqual([{ deleted: true }]);
    const log = `SELECT activity, user_id, organization_id FROM activity_log WHERE scope = 'Subscription' AND item_id = $1`;
    expect(await sql.query(log, [String(id)])).toEqual([
      { activity: 'deleted', user_id: null, organization_id: tenant.organizationId },
    ]);
  },
);

test("a report has its insight's name, and is sent only while the insight exists", async () => {
  const insight = await subject('insight', { name: 'Sign-ups' });
  const dashboard = await subject('dashboard', { name: 'Gone', deleted: true });
  const id = await store({ insight, dashboard });
  await scheduleDueReports(fixture.database, now);
  await deliverDue(deps);
  expect(fixture.mailServer.mails[0]?.headers.subject).toBe('Sign-ups');
  expect(await nextDate(id)).toEqual(new Date('2026-11-16T09:00:00Z'));
});

test('sends no reports for subscriptions that are deleted, finished or not yet due', async () => {
  await store({ next_delivery_date: '2026-11-10T12:00:01Z' });
  await store({ deleted: true });
  await store({ next_delivery_date: null });
  await scheduleDueReports(fixture.database, now);
  expect(await deliveries()).toEqual([]);
});

test('concurrent workers create one report per date', async () => {
  for (let number = 0; number < 20; number += 1) await store({ target_value: `reader-${number}@example.com` });
  await Promise.all([1, 2, 3, 4].map(() => scheduleDueReports(fixture.database, now)));
  expect((await deliveries()).length).toBe(20);
  await Promise.all([1, 2, 3, 4].map(() => deliverDue(deps)));
  await deliverDue(deps);
  expect(fixture.mailServer.mails.map(({ to }) => to[0]).sort()).toEqual(
    Array.from({ length: 20 }, (_, number) => `reader-${number}@example.com`).sort(),
  );
});

test('after downtime, sends one report instead of every missed one, and sends none after the end date', async () => {
  const id = await store({
    frequency: 'daily',
    next_delivery_date: '2026-11-03T09:00:00Z',
    until_date: '2026-11-10T09:00:00Z',
  });
  await scheduleDueReports(fixture.database, now);
  expect(await nextDate(id)).toBeNull();
  expect((await deliveries()).length).toBe(1);
});

test("delivery dates keep their local time in the project's time zone", async () => {
  const { sql } = fixture.database;
  await sql.query(`UPDATE environment SET timezone = 'Europe/Berlin' WHERE id = $1`, [tenant.environmentId]);
  const id = await store({
    frequency: 'daily',
    start_date: '2026-03-27T08:00:00Z',
    next_delivery_date: '2026-03-28T08:00:00Z',
  });
  await scheduleDueReports(fixture.database, new Date('2026-03-28T08:00:01Z'));
  expect(await nextDate(id)).toEqual(new Date('2026-03-29T07:00:00Z'));
  await sql.query(`UPDATE environment SET timezone = 'UTC' WHERE id = $1`, [tenant.environmentId]);
});

test('a webhook receives a document with the same ID at every attempt', async () => {
  const dashboard = await subject('dashboard');
  const id = await store({ target_type: 'webhook', target_value: `${fixture.receiver.url}/hook`, dashboard });
  await scheduleDueReports(fixture.database, now);
  fixture.receiver.respondWith(503);
  await deliverDue(deps);
  expect(await deliveries()).toMatchObject([
    { status: 'pending', attempts: 1, error: 'The webhook URL responded with 503.', is_later: true },
  ]);
  await makeDue();
  await deliverDue(deps);
  expect(await deliveries()).toMatchObject([{ status: 'delivered', attempts: 2, error: null }]);
  const [first, second] = fixture.receiver.posts;
  expect(first).toEqual(second);
  expect(first).toMatchObject({
    path: '/hook',
    headers: { 'idempotency-key': first?.body.delivery_id },
    body: {
      subscription_id: id,
      project_id: tenant.environmentId,
      occasion: 'scheduled',
      title: `Dashboard ${dashboard}`,
      summary: 'sent every week',
      url: `https://app.example.com/project/${tenant.environmentId}/dashboard/${dashboard}`,
      dashboard,
      insight: null,
      end: null,
    },
  });
});

test.each([404, 301])('fails a webhook delivery immediately if the response is %i', async (status) => {
  await store({ target_type: 'webhook', target_value: `${fixture.receiver.url}/hook` });
  await scheduleDueReports(fixture.database, now);
  fixture.receiver.respondWith(status);
  await deliverDue(deps);
  expect(await deliveries()).toMatchObject([
    { status: 'failed', attempts: 1, error: `The webhook URL responded with ${status}.` },
  ]);
  expect(fixture.receiver.posts.length).toBe(1);
});

test('fails a delivery to an unreachable webhook after five attempts', async () => {
  await store({ target_type: 'webhook', target_value: 'http://127.0.0.1:1/' });
  await scheduleDueReports(fixture.database, now);
  for (let attempt = 1; attempt <= 6; attempt += 1) {
    await makeDue();
    await deliverDue(deps);
  }
  expect(await deliveries()).toMatchObject([
    { status: 'failed', attempts: 5, error: 'The webhook URL could not be reached (ECONNREFUSED).' },
  ]);
});

test.each([
  'http://127.0.0.1:PORT/',
  'http://localhost:PORT/',
  'http://[::1]:PORT/',
  'http://169.254.169.254/latest/',
  'http://2130706433:PORT/',
  'http://0x7f000001:PORT/',
  'http://0177.0.0.1:PORT/',
  'http://127.1:PORT/',
  'http://0:PORT/',
  'http://[::ffff:127.0.0.1]:PORT/',
  'http://[::127.0.0.1]:PORT/',
  'http://[64:ff9b::7f00:1]:PORT/',
  'http://[2002:7f00:1::]:PORT/',
  'http://user@127.0.0.1:PORT/',
  'http://１２７.０.０.１:PORT/',
])('rejects a webhook in a private network, unless private networks are allowed: %s', async (address) => {
  const target_value = address.replace('PORT', new URL(fixture.receiver.url).port);
  await store({ target_type: 'webhook', target_value });
  await scheduleDueReports(fixture.database, now);
  await deliverDue({ ...deps, mayBePrivate: false });
  expect(fixture.receiver.posts).toEqual([]);
  expect(await deliveries()).toMatchObject([
    { status: 'failed', attempts: 1, error: 'The webhook URL could not be reached (EPRIVATEADDRESS).' },
  ]);
});

test('fails a delivery to an unknown mailbox, but retries after an outage of the mail server', async () => {
  fixture.mailServer.refuse('gone@example.com');
  await store({ target_value: 'gone@example.com' });
  await scheduleDueReports(fixture.database, now);
  await deliverDue(deps);
  expect(await deliveries()).toMatchObject([
    { status: 'failed', attempts: 1, error: 'The mail server rejected the email (550).' },
  ]);
  await store({ target_value: 'ada@example.com' });
  await scheduleDueReports(fixture.database, now);
  await deliverDue({ ...deps, mailer: null });
  expect((await deliveries())[0]).toMatchObject({ status: 'failed', error: expect.stringContaining('SMTP_URL') });
});

test('sends no report if the subscription is deleted while it is due', async () => {
  await store();
  await scheduleDueReports(fixture.database, now);
  await fixture.database.sql.query('UPDATE subscription SET deleted = true');
  await deliverDue(deps);
  expect(await deliveries()).toMatchObject([{ status: 'cancelled' }]);
  expect(fixture.mailServer.mails).toEqual([]);
});

test("sends to a Slack webhook URL, but requires the project's webhook for a Slack channel", async () => {
  await store({ target_type: 'slack', target_value: `${fixture.receiver.url}/services/T1`, title: 'Sign-ups' });
  await store({ target_type: 'slack', target_value: 'C1|#general' });
  await scheduleDueReports(fixture.database, now);
  await deliverDue(deps);
  expect(fixture.receiver.posts).toMatchObject([
    { path: '/services/T1', body: { text: expect.stringContaining('Sign-ups') } },
  ]);
  expect((await deliveries()).map(({ status, error }) => [status, error])).toEqual([
    [
      'failed',
      'The project has no slack_incoming_webhook. Set one in the project, or set a webhook URL in the subscription.',
    ],
    ['delivered', null],
  ]);
});

test("sends to a Slack channel through the project's webhook", async () => {
  const { sql } = fixture.database;
  const set = (address: string | null) =>
    sql.query('UPDATE environment SET slack_incoming_webhook = $2 WHERE id = $1', [tenant.environmentId, address]);
  await set(`${fixture.receiver.url}/services/T2`);
  await store({ target_type: 'slack', target_value: 'C1|#general' });
  await scheduleDueReports(fixture.database, now);
  await deliverDue(deps);
  await set(null);
  expect(fixture.receiver.posts).toMatchObject([{ path: '/services/T2', body: { channel: 'C1' } }]);
  expect(await deliveries()).toMatchObject([{ status: 'delivered' }]);
});

test('postpones emails beyond the hourly limit with a reason, and sends them in the next hour', async () => {
  await waitOutHourEnd(fixture.database.sql);
  const addresses = Array.from({ length: 5 }, (_, number) => `reader-${number}@example.com`);
  await store({ target_value: addresses.join(',') });
  await scheduleDueReports(fixture.database, now);
  await deliverDue({ ...deps, mailsPerHour: 3 });
  expect(fixture.mailServer.mails.length).toBe(3);
  const waiting = (await deliveries()).filter(({ status }) => status === 'pending');
  const reason =
    'The organization has reached its limit of 3 emails per hour. This email will be sent in the next hour.';
  const putOff = { attempts: 0, error: reason, is_later: true };
  expect(waiting).toMatchObject([putOff, putOff]);
  await store({ target_value: 'late@example.com' });
  await scheduleDueReports(fixture.database, now);
  await deliverDue({ ...deps, mailsPerHour: 3 });
  expect(fixture.mailServer.mails.length).toBe(3);
  await fixture.database.sql.query(`UPDATE organization_mail_hour SET hour = hour - interval '1 hour'`);
  await makeDue();
  await deliverDue({ ...deps, mailsPerHour: 3 });
  expect(fixture.mailServer.mails.length).toBe(6);
});

test('the hourly email limit does not affect webhooks or other organizations', async () => {
  await waitOutHourEnd(fixture.database.sql);
  const other = await createTestTenant(fixture.database);
  await store({ target_value: 'a@example.com,b@example.com,c@example.com' });
  await store({ target_type: 'webhook', target_value: `${fixture.receiver.url}/hook` });
  await storeSubscription(fixture.database.sql, other.environmentId, { target_value: 'other@example.com' });
  await scheduleDueReports(fixture.database, now);
  await fixture.database.sql.query('DELETE FROM organization_mail_hour');
  await deliverDue({ ...deps, mailsPerHour: 1 });
  expect([fixture.mailServer.mails.length, fixture.receiver.posts.length]).toEqual([2, 1]);
});

test('organizations take turns with their reports, each within its slots', async () => {
  const other = await createTestTenant(fixture.database);
  await store({ target_value: Array.from({ length: 10 }, (_, number) => `many-${number}@example.com`).join(',') });
  await scheduleDueReports(fixture.database, now);
  await storeSubscription(fixture.database.sql, other.environmentId, { target_value: 'one@example.com' });
  await scheduleDueReports(fixture.database, now);
  await makeReports();
  await runOneRound((slots) => beginDue(deps, slots), { max: 4, maxEach: 3 });
  const sent = fixture.mailServer.mails.map(({ to }) => to[0]);
  expect([sent.length, sent.includes('one@example.com')]).toEqual([4, true]);
});

test("another worker can claim a report when a crashed worker's lease expires", async () => {
  await store();
  await scheduleDueReports(fixture.database, now);
  // Simulate a worker that was killed after it had claimed the delivery.
  await fixture.database.sql.query(
    `UPDATE subscription_delivery SET attempts = 1, attempt_at = now() + interval '1 minute'`,
  );
  await deliverDue(deps);
  expect(fixture.mailServer.mails).toEqual([]);
  await makeDue();
  await deliverDue(deps);
  expect(await deliveries()).toMatchObject([{ status: 'delivered', attempts: 2 }]);
});
