import { createTestTenant, keepLogs } from '@millrace/testing';
import { notFound, permissionDenied, validationError } from '../../testing/expected-errors.ts';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/** Tests cases subscription-001 to subscription-027 (docs/cases.md#the-rest-api), and the fields of PostHog's API. */
let api: TestApi;
let acme: OrganizationActors;
let path: string;
beforeAll(async () => {
  api = await startTestApi();
  acme = await createActors(api.database);
  path = `/api/environments/${acme.projectId}/subscriptions/`;
  [insight, dashboard] = [await made('insights'), await made('dashboards')];
});
afterAll(() => api.stop());

let insight: number;
let dashboard: number;
const valid = {
  target_type: 'email',
  target_value: 'test@x.com',
  frequency: 'weekly',
  interval: 1,
  start_date: '2022-01-01T00:00:00',
  title: 'Sign-ups',
};
/** Creates a record in the organization Acme, or in another organization. @returns the ID of the record */
async function made(
  kind: 'insights' | 'dashboards',
  { projectId, key } = { projectId: acme.projectId, key: acme.M.key },
) {
  const response = await api.send('POST', `/api/projects/${projectId}/${kind}/`, {
    key,
    body: {
      name: 'Sign-ups',
      ...(kind === 'insights' && { query: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode' }] } }),
    },
  });
  return response.body.id;
}
const remove = (kind: 'insights' | 'dashboards', id: number) =>
  api.send('PATCH', `/api/projects/${acme.projectId}/${kind}/${id}/`, { key: acme.M.key, body: { deleted: true } });
const create = (body: Record<string, unknown> = {}, where = path) =>
  api.send('POST', where, { key: acme.M.key, body: { insight, ...valid, ...body } });
const change = (id: number, body: unknown, method: 'PATCH' | 'PUT' = 'PATCH') =>
  api.send(method, `${path}${id}/`, { key: acme.M.key, body });
const read = (id: number) => api.get(`${path}${id}/`, acme.M.key);
const deliveries = (id: number) =>
  api.database.sql.query(
    'SELECT occasion, target, invite_message, status FROM subscription_delivery WHERE subscription_id = $1 ORDER BY created_at, target',
    [id],
  );
const dateText =
  'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].';

describe.each(['environments', 'projects'])('subscriptions under %s', (family) => {
  test("returns a subscription with the fields and types of PostHog's API", async () => {
    const where = `/api/${family}/${acme.projectId}/subscriptions`;
    const created = await create({ byweekday: ['monday'], bysetpos: 1, count: 5, until_date: '2100-01-01' }, where);
    expect(created.status).toBe(201);
    const user = {
      id: acme.M.userId,
      uuid: acme.M.uuid,
      distinct_id: expect.any(String),
      first_name: 'Ada',
      last_name: expect.any(String),
      email: acme.M.email,
      is_email_verified: expect.any(Boolean),
      hedgehog_config: {},
      role_at_organization: expect.any(String),
    };
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/);
    const fields = {
      id: expect.any(Number),
      dashboard: null,
      insight,
      target_type: 'email',
      target_value: 'test@x.com',
      frequency: 'weekly',
      interval: 1,
      byweekday: ['monday'],
      bysetpos: 1,
      count: 5,
      start_date: '2022-01-01T00:00:00Z',
      until_date: '2100-01-01T00:00:00Z',
      created_at: timestamp,
      created_by: user,
      deleted: false,
      title: 'Sign-ups',
      enabled: true,
      dashboard_export_insights: [],
      summary: 'sent every week on the first Monday',
      next_delivery_date: null,
      invite_message: null,
    };
    expect(created.body).toEqual(fields);
    expect(Object.keys(created.body)).toEqual(Object.keys(fields));
    expect((await api.get(`${where}/${created.body.id}`, acme.M.key)).body).toEqual(created.body);
    const list = await api.get(`${where}?limit=1000`, acme.M.key);
    expect(list).toMatchObject({ status: 200, body: { next: null, previous: null } });
    expect(list.body.results).toContainEqual(created.body);
    expect(list.body.count).toBe(list.body.results.length);
  });
});

test('subscription-001: returns 402 for all requests if the plan does not include subscriptions', async () => {
  const free = await createActors(api.database, { plan: 'free' });
  const where = `/api/environments/${free.projectId}/subscriptions/`;
  const refused = { status: 402, body: { type: 'server_error', code: 'payment_required', attr: null } };
  expect(await api.get(where, free.W.key)).toMatchObject(refused);
  expect(await api.send('POST', where, { key: free.W.key, body: valid })).toMatchObject(refused);
  expect(await api.send('DELETE', `${where}1/`, { key: free.W.key })).toMatchObject(refused);
});

test('subscription-002, subscription-003: creates a subscription with defaults and a delivery to each recipient', async () => {
  const { status, body } = await create({ invite_message: 'Look' });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    dashboard: null,
    byweekday: null,
    bysetpos: null,
    count: null,
    start_date: '2022-01-01T00:00:00Z',
    until_date: null,
    deleted: false,
    invite_message: null,
    summary: 'sent every week',
  });
  expect(await deliveries(body.id)).toEqual([
    { occasion: 'created', target: 'test@x.com', invite_message: 'Look', status: 'pending' },
  ]);
  expect((await create({ invite_message: null })).status).toBe(201);
  const link = { invite_message: 'See https://evil.example' };
  const refused = { status: 400, body: { attr: 'invite_message', code: 'invalid_input' } };
  expect(await create(link)).toMatchObject(refused);
  expect(await change(body.id, link)).toMatchObject(refused);
});

test("accepts a subscription without dashboard and insight, as in PostHog's API example", async () => {
  const { target_type, target_value, frequency, start_date } = valid;
  const body = { target_type, target_value, frequency, start_date };
  expect(await api.send('POST', path, { key: acme.M.key, body })).toMatchObject({
    status: 201,
    body: { dashboard: null, insight: null, interval: 1, title: null },
  });
  expect(await create({ dashboard })).toMatchObject({ status: 201, body: { dashboard, insight } });
});

test('subscription-004: after a change of the target, sends a report only to the new email address', async () => {
  const { body } = await create({ target_value: 'a@x.com' });
  await change(body.id, { target_value: 'a@x.com,b@x.com', invite_message: 'Welcome' });
  await change(body.id, { title: 'Other', invite_message: 'Nobody reads this' });
  expect(await deliveries(body.id)).toMatchObject([
    { occasion: 'created', target: 'a@x.com' },
    { occasion: 'target_changed', target: 'b@x.com', invite_message: 'Welcome' },
  ]);
});

test('subscription-005, subscription-006: changes the next delivery date only if the schedule changes', async () => {
  const { body } = await create();
  expect(Date.parse(body.next_delivery_date)).toBeGreaterThan(Date.now());
  const moved = await change(body.id, { start_date: '2022-01-02T10:30:00Z' });
  expect(moved.body.next_delivery_date).not.toBe(body.next_delivery_date);
  expect(moved.body.next_delivery_date).toMatch(/T10:30:00Z$/);
  const same = await change(body.id, { title: 'Other', target_value: 'other@x.com' });
  expect(same.body.next_delivery_date).toBe(moved.body.next_delivery_date);
});

test('subscription-007-S13: computes the delivery date and the summary (packages/schedule tests all schedules)', async () => {
  const { body } = await create({ frequency: 'monthly', interval: 2, byweekday: ['wednesday'], bysetpos: 1 });
  expect(body.summary).toBe('sent every 2 months on the first Wednesday');
  expect(new Date(body.next_delivery_date).getUTCDay()).toBe(3);
});

test("computes a subscription's days and hours in the project's time zone", async () => {
  const tenant = await createTestTenant(api.database);
  await api.database.sql.query(`UPDATE environment SET timezone = 'America/New_York' WHERE id = $1`, [
    tenant.environmentId,
  ]);
  const { body } = await api.send('POST', `/api/environments/${tenant.environmentId}/subscriptions/`, {
    key: tenant.personalApiKey,
    body: { ...valid, frequency: 'yearly', start_date: '2022-07-01T13:00:00Z', byweekday: null },
  });
  // The report is sent at nine o'clock local time in summer too.
  expect(body.next_delivery_date).toMatch(/-07-01T13:00:00Z$/);
  const winter = await api.send('PATCH', `/api/environments/${tenant.environmentId}/subscriptions/${body.id}/`, {
    key: tenant.personalApiKey,
    body: { frequency: 'monthly', byweekday: null },
  });
  const next = new Date(winter.body.next_delivery_date);
  const isWinter = new Intl.DateTimeFormat('en-US', { timeZone: 'America/New_York', timeZoneName: 'short' })
    .format(next)
    .includes('EST');
  expect(next.getUTCHours()).toBe(isWinter ? 14 : 13);
});

describe('subscription-014: unsubscribe links in emails', () => {
  const three = 'ada@x.com,grace@x.com,alan@x.com';
  const linkOf = async (id: number, target: string) => {
    const [row] = await api.database.sql.query<{ link: string }>(
      "SELECT '/api/unsubscribe/' || unsubscribe_id AS link FROM subscription_delivery WHERE subscription_id = $1 AND target = $2",
      [id, target],
    );
    return row?.link ?? '';
  };
  /** Sends the request that email programs send for the user (one-click unsubscribe). */
  const press = (link: string) =>
    fetch(api.url + link, { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) });

  test('removes a recipient and their deliveries once, and deletes the subscription with the last recipient', async () => {
    const { id } = (await create({ target_value: three })).body;
    const link = await linkOf(id, 'grace@x.com');
    for (const isFirst of [true, false]) {
      const looked = await (await fetch(api.url + link)).json();
      expect(looked).toEqual({ title: 'Sign-ups', email: 'grace@x.com', is_subscribed: isFirst });
      expect((await press(link)).status).toBe(200);
      expect((await read(id)).body).toMatchObject({ target_value: 'ada@x.com,alan@x.com', deleted: false });
    }
    expect((await deliveries(id)).map(({ target, status }) => `${target} ${status}`)).toEqual([
      ...['ada@x.com pending', 'alan@x.com pending', 'grace@x.com cancelled'],
    ]);
    for (const target of ['ada@x.com', 'alan@x.com']) await press(await linkOf(id, target));
    expect((await read(id)).body).toMatchObject({ target_value: 'alan@x.com', deleted: true });
    const history = await api.get(
      `/api/organizations/${acme.organizationId}/activity/?scope=Subscription&item_id=${id}`,
      acme.A.key,
    );
    const told = history.body.results.map((one: { activity: string; user: { first_name: string } }) => [
      ...[one.activity, one.user.first_name],
    ]);
    expect(told).toEqual([
      ['deleted', 'System'],
      ['updated', 'System'],
      ['updated', 'System'],
      ['created', 'Ada'],
    ]);
    expect(JSON.stringify(history.body)).not.toContain('grace@x.com');
  });

  test('serves browsers an unsubscribe page that has one button, escapes titles and loads nothing', async () => {
    const { id } = (await create({ title: '<img src=x onerror=alert(1)>' })).body;
    const look = async (method: 'GET' | 'POST') => {
      const headers = { accept: 'text/html' };
      const response = await fetch(api.url + (await linkOf(id, 'test@x.com')), { method, headers });
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
      return response.text();
    };
    const before = await look('GET');
    expect(before).toContain('&lt;img src=x onerror=alert(1)&gt;');
    expect(before).not.toContain('<img');
    expect(before.match(/<button/g)).toHaveLength(1);
    const after = await look('POST');
    expect(after).toContain('Reports are no longer sent to test@x.com.');
    expect(after).not.toContain('<button');
  });

  test('returns 404 for an unsubscribe link that is unknown, older than 30 days, or built from an ID that members see', async () => {
    const { id } = (await create()).body;
    const link = await linkOf(id, 'test@x.com');
    const [delivery] = (await api.get(`${path}${id}/deliveries/`, acme.M.key)).body.results;
    const good = async (address: string) => (await fetch(api.url + address)).status;
    expect(JSON.stringify(delivery)).not.toContain(link.slice(-36));
    expect([await good(link), await good(`/api/unsubscribe/${delivery.id}`), await good('/api/unsubscribe/x')]).toEqual(
      [...[200, 404, 404]],
    );
    await api.database.sql.query(
      "UPDATE subscription_delivery SET created_at = now() - interval '31 days' WHERE subscription_id = $1",
      [id],
    );
    expect([await good(link), (await press(link)).status, (await read(id)).body.deleted]).toEqual([404, 404, false]);
  });
});

test('subscription-015: returns 405 without a body for DELETE with any ID, after checking key, scope and project', async () => {
  const { body } = await create();
  for (const id of [body.id, 999_999, 'abc']) {
    const response = await fetch(`${api.url}${path}${id}/`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${acme.M.key}` },
    });
    expect([response.status, await response.text(), response.headers.get('content-type')]).toEqual([405, '', null]);
    expect(response.headers.get('allow')).not.toContain('DELETE');
  }
  expect((await fetch(`${api.url}${path}${body.id}/`, { method: 'DELETE' })).status).toBe(401);
  expect((await read(body.id)).body.deleted).toBe(false);
});

test('subscription-016: omits a subscription deleted by PATCH from the list, and returns and restores it by ID', async () => {
  const dashboard = await made('dashboards');
  const { body } = await create({ dashboard });
  const ids = async (query: string) =>
    (await api.get(`${path}?${query}`, acme.M.key)).body.results.map(({ id }: { id: number }) => id);
  expect(await change(body.id, { deleted: true })).toMatchObject({ status: 200, body: { deleted: true } });
  expect(await deliveries(body.id)).toMatchObject([{ status: 'cancelled' }]);
  expect(await ids(`dashboard=${dashboard}`)).toEqual([]);
  for (const yes of ['true', '1', 'yes', 'Y', 't', 'on'])
    expect(await ids(`dashboard=${dashboard}&deleted=${yes}`)).toEqual([body.id]);
  expect(await ids(`dashboard=${dashboard}&deleted=no`)).toEqual([]);
  expect(await read(body.id)).toMatchObject({ status: 200, body: { deleted: true } });
  expect((await change(body.id, { deleted: false })).body.deleted).toBe(false);
  expect(await ids(`dashboard=${dashboard}&insight=${insight}`)).toEqual([body.id]);
  expect(await ids(`dashboard=${dashboard}&insight=${insight + 1}`)).toEqual([]);
});

describe('invalid subscriptions', () => {
  const text = (detail: string) => expect.stringContaining(detail);
  test.each<[string, Record<string, unknown>, ReturnType<typeof validationError>]>([
    [
      'subscription-018 target_type sms',
      { target_type: 'sms' },
      validationError(
        'invalid_choice',
        'target_type',
        '"sms" is not a valid choice. Choose one of: email, slack, webhook.',
      ),
    ],
    [
      'subscription-018 target_type null',
      { target_type: null },
      validationError('null', 'target_type', 'This field may not be null.'),
    ],
    [
      'subscription-018 target_type empty',
      { target_type: '' },
      validationError(
        'invalid_choice',
        'target_type',
        '"" is not a valid choice. Choose one of: email, slack, webhook.',
      ),
    ],
    [
      'subscription-019',
      { frequency: 'hourly' },
      validationError(
        'invalid_choice',
        'frequency',
        '"hourly" is not a valid choice. Choose one of: daily, weekly, monthly, yearly.',
      ),
    ],
    [
      'subscription-020 a bad weekday',
      { byweekday: ['monday', 'funday'] },
      validationError(
        'invalid_choice',
        'byweekday__1',
        '"funday" is not a valid choice. Choose one of: monday, tuesday, wednesday, thursday, friday, saturday, sunday.',
      ),
    ],
    [
      'subscription-020 a weekday that is not a list',
      { byweekday: 'monday' },
      validationError('not_a_list', 'byweekday', 'Expected a list of items but got type "str". Send a JSON array.'),
    ],
    [
      'subscription-021 insight as a string',
      { insight: 'abc' },
      validationError('incorrect_type', 'insight', 'Incorrect type. Expected pk value, received str.'),
    ],
    [
      'subscription-021 insight true',
      { insight: true },
      validationError('incorrect_type', 'insight', 'Incorrect type. Expected pk value, received bool.'),
    ],
    [
      'insight 0',
      { insight: 0 },
      validationError('does_not_exist', 'insight', 'Invalid pk "0" - object does not exist.'),
    ],
    [
      'subscription-023 start_date as a word',
      { start_date: 'tomorrow' },
      validationError('invalid_input', 'start_date', dateText),
    ],
    [
      'subscription-023 start_date as a number',
      { start_date: 5 },
      validationError('invalid_input', 'start_date', dateText),
    ],
    [
      'subscription-023 start_date null',
      { start_date: null },
      validationError('null', 'start_date', 'This field may not be null.'),
    ],
    [
      'subscription-025',
      { title: 'x'.repeat(101) },
      validationError('max_length', 'title', 'Ensure this field has no more than 100 characters.'),
    ],
    [
      'interval 0',
      { interval: 0 },
      validationError('min_value', 'interval', 'Ensure this value is greater than or equal to 1.'),
    ],
    [
      'count 0',
      { count: 0 },
      validationError('min_value', 'count', 'Ensure this value is greater than or equal to 1.'),
    ],
    [
      'bysetpos 0',
      { byweekday: ['monday'], bysetpos: 0 },
      validationError('invalid_input', 'bysetpos', text('between 1 and 366')),
    ],
    [
      'bysetpos 367',
      { byweekday: ['monday'], bysetpos: 367 },
      validationError('invalid_input', 'bysetpos', text('between 1 and 366')),
    ],
    [
      'no address',
      { target_value: 'a' },
      validationError('invalid_input', 'target_value', 'Enter a valid email address.'),
    ],
    [
      'only commas',
      { target_value: ',,' },
      validationError('invalid_input', 'target_value', 'Enter a valid email address.'),
    ],
    ['blank', { target_value: '  ' }, validationError('blank', 'target_value', 'This field may not be blank.')],
    [
      'an invalid webhook URL',
      { target_type: 'webhook', target_value: 'ftp://x' },
      validationError('invalid_input', 'target_value', 'Enter a valid URL.'),
    ],
  ])('%s', async (_name, body, expected) => expect(await create(body)).toMatchObject(expected));

  test('subscription-017: returns 400 for a subscription with an empty body', async () => {
    expect(await api.send('POST', path, { key: acme.M.key, body: {} })).toMatchObject(
      validationError('required', 'target_type', 'This field is required.'),
    );
  });

  const nothing = (name: string, id: number) =>
    validationError('does_not_exist', name, `Invalid pk "${id}" - object does not exist.`);

  test('subscription-021: returns 400 for a subscription to an insight or dashboard that does not exist', async () => {
    for (const name of ['insight', 'dashboard']) {
      expect(await create({ [name]: 2_000_000_000 })).toMatchObject(nothing(name, 2_000_000_000));
    }
    const deletedId = await made('insights');
    await remove('insights', deletedId);
    expect(await create({ insight: deletedId })).toMatchObject(nothing('insight', deletedId));
    const { body } = await create();
    expect(await change(body.id, { insight: deletedId })).toMatchObject(nothing('insight', deletedId));
    expect((await read(body.id)).body.insight).toBe(insight);
  });

  test("subscription-022: returns the same error for another project's records as for missing ones, unlike PostHog", async () => {
    const { projectId, personalApiKey: key } = acme.off;
    const theirs = [await made('insights', { projectId, key }), await made('dashboards', { projectId, key })] as const;
    expect(await create({ insight: theirs[0] })).toMatchObject(nothing('insight', theirs[0]));
    expect(await create({ dashboard: theirs[1] })).toMatchObject(nothing('dashboard', theirs[1]));
  });

  test('returns 400 for restoring a subscription whose dashboard was deleted, but allows other changes', async () => {
    const own = await made('dashboards');
    const { body } = await create({ dashboard: own, insight: null });
    await remove('dashboards', own);
    expect(await change(body.id, { title: 'Other', dashboard: own })).toMatchObject({ status: 200 });
    expect((await change(body.id, { deleted: true })).status).toBe(200);
    expect(await change(body.id, { deleted: false })).toMatchObject(nothing('dashboard', own));
    expect((await change(body.id, { deleted: false, dashboard })).body).toMatchObject({ deleted: false, dashboard });
  });
});

test('subscription-024: accepts a time with an offset and returns it in UTC', async () => {
  expect((await create({ start_date: '2022-01-01T02:00:00+02:00' })).body.start_date).toBe('2022-01-01T00:00:00Z');
});

test('subscription-026, subscription-027: PUT requires the same subscription fields as POST, and PATCH requires none', async () => {
  const { body } = await create({ count: 4 });
  expect(await change(body.id, { title: 'x' }, 'PUT')).toMatchObject(
    validationError('required', 'target_type', 'This field is required.'),
  );
  expect(await change(body.id, {})).toMatchObject({ status: 200, body: { ...body } });
  const { target_type, target_value, frequency, start_date } = valid;
  expect(await change(body.id, { target_type, target_value, frequency, start_date }, 'PUT')).toMatchObject({
    status: 200,
    body: { count: 4, title: 'Sign-ups' },
  });
});

test("returns 404 for another project's subscriptions, and 403 for another organization's environment", async () => {
  const { body } = await create();
  const { off } = acme;
  expect(await read(2_000_000_000)).toMatchObject(notFound());
  expect(await api.get(`${path}99999999999/`, acme.M.key)).toMatchObject(notFound());
  expect(await api.get(`${path}abc/`, acme.M.key)).toMatchObject(notFound());
  expect(await api.get(`${path}${body.id}/`, off.personalApiKey)).toMatchObject(
    permissionDenied("You don't have access to the project."),
  );
  expect(
    await api.get(`/api/environments/${off.projectId}/subscriptions/${body.id}/`, off.personalApiKey),
  ).toMatchObject(notFound());
});

test('keeps concurrent changes to different subscription fields', async () => {
  const { body } = await create();
  await Promise.all([
    change(body.id, { title: 'New' }),
    change(body.id, { interval: 3 }),
    change(body.id, { count: 9 }),
  ]);
  expect((await read(body.id)).body).toMatchObject({ title: 'New', interval: 3, count: 9 });
});

test('lists the deliveries of a subscription with their results', async () => {
  const { body } = await create();
  await api.database.sql.query(
    `UPDATE subscription_delivery SET status = 'failed', attempts = 1, error = 'No.', finished_at = now() WHERE subscription_id = $1`,
    [body.id],
  );
  const list = await api.get(`${path}${body.id}/deliveries/`, acme.M.key);
  expect(list).toMatchObject({
    status: 200,
    body: { count: 1, results: [{ occasion: 'created', target: 'test@x.com', status: 'failed', error: 'No.' }] },
  });
});

test('logs creating, changing and deleting a subscription without its email addresses', async () => {
  const { body } = await create();
  await change(body.id, { title: 'New', target_value: 'secret@x.com' });
  await change(body.id, { deleted: true });
  const rows = await api.database.sql.query(
    `SELECT activity, user_id, detail FROM activity_log WHERE scope = 'Subscription' AND item_id = $1 ORDER BY created_at`,
    [String(body.id)],
  );
  expect(rows.map(({ activity, user_id }) => [activity, user_id])).toEqual(
    ['created', 'updated', 'deleted'].map((activity) => [activity, acme.M.userId]),
  );
  expect(JSON.stringify(rows)).not.toContain('secret@x.com');
  expect(JSON.stringify(rows[1])).toContain('New');
});

test('rolls back a change to a subscription if its activity cannot be recorded', async () => {
  const { body } = await create();
  await api.database.sql.query('ALTER TABLE activity_log RENAME TO activity_log_away');
  const { result: response, logged } = await keepLogs(api.logger, () => change(body.id, { title: 'Lost' }));
  await api.database.sql.query('ALTER TABLE activity_log_away RENAME TO activity_log');
  expect(response.status).toBe(500);
  expect(logged).toMatchObject([{ level: 'error', error: { cause: { code: '42P01' } } }]);
  expect((await read(body.id)).body.title).toBe('Sign-ups');
});

test('runs the same number of SQL statements for a subscription list of any length', async () => {
  const count = (query: string) => api.statementsOf(() => api.get(`${path}?${query}`, acme.M.key));
  expect(await count('limit=1')).toBe(await count('limit=1000'));
});

describe('the subscription limit of an organization', () => {
  let small: TestApi;
  let actors: OrganizationActors;
  beforeAll(async () => {
    small = await startTestApi({ maxSubscriptions: 2 });
    actors = await createActors(small.database);
  });
  afterAll(() => small.stop());
  const refusal = validationError(
    'limit_exceeded',
    null,
    'An organization can have at most 2 subscriptions. Delete one that you no longer need.',
  );
  const send = (method: 'POST' | 'PATCH', id: string, body: object) =>
    small.send(method, `/api/environments/${actors.projectId}/subscriptions/${id}`, { key: actors.M.key, body });

  test('counts concurrent and restored subscriptions toward the limit, but not deleted ones', async () => {
    const made = await Promise.all([1, 2, 3, 4].map(() => send('POST', '', valid)));
    expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400]);
    expect(made.find(({ status }) => status === 400)).toMatchObject(refusal);
    const [first, second] = made.filter(({ status }) => status === 201).map(({ body }) => body.id);
    expect((await send('PATCH', `${first}/`, { deleted: false, title: 'As it was' })).status).toBe(200);
    expect((await send('PATCH', `${second}/`, { deleted: true })).status).toBe(200);
    expect((await send('POST', '', valid)).status).toBe(201);
    expect(await send('PATCH', `${second}/`, { deleted: false })).toMatchObject(refusal);
  });
});

describe('the subscription fields enabled and send_test_now', () => {
  const occasions = async (id: number) => (await deliveries(id)).map(({ occasion }) => occasion);

  test('removes the next delivery date of a disabled subscription', async () => {
    const { body } = await create({ enabled: false });
    expect(body).toMatchObject({ enabled: false, next_delivery_date: null });
    expect(await deliveries(body.id)).toEqual([]);
    const enabled = await change(body.id, { enabled: true });
    expect(enabled.body).toMatchObject({ enabled: true, next_delivery_date: expect.any(String) });
    expect(await deliveries(body.id)).toEqual([]);
  });

  test('cancels pending deliveries when a subscription is disabled', async () => {
    const { body } = await create();
    expect((await change(body.id, { enabled: false })).body).toMatchObject({ next_delivery_date: null });
    expect(await deliveries(body.id)).toMatchObject([{ occasion: 'created', status: 'cancelled' }]);
    await change(body.id, { target_value: 'test@x.com,new@x.com' });
    expect(await deliveries(body.id)).toHaveLength(1);
  });

  test('sends nothing immediately if send_test_now is false, even to new targets', async () => {
    const { body } = await create({ send_test_now: false });
    expect(body.next_delivery_date).not.toBeNull();
    await change(body.id, { target_value: 'test@x.com,new@x.com', send_test_now: false });
    expect(await deliveries(body.id)).toEqual([]);
  });

  test('sends a disabled subscription to all targets if send_test_now is true', async () => {
    const { body } = await create({ enabled: false, send_test_now: true });
    expect(await occasions(body.id)).toEqual(['created']);
    await change(body.id, { target_value: 'test@x.com,new@x.com', send_test_now: true });
    expect(await occasions(body.id)).toEqual(['created', 'test', 'test']);
  });
});

describe('the subscription field dashboard_export_insights', () => {
  const onDashboard = async () => {
    const id = await made('insights');
    await api.send('PATCH', `/api/projects/${acme.projectId}/insights/${id}/`, {
      key: acme.M.key,
      body: { dashboards: [dashboard] },
    });
    return id;
  };

  test("accepts only insights that are on the subscription's dashboard", async () => {
    const [first, second] = [await onDashboard(), await onDashboard()];
    const chosen = [second, first];
    const { status, body } = await create({ insight: null, dashboard, dashboard_export_insights: [...chosen, first] });
    expect([status, body.dashboard_export_insights]).toEqual([201, chosen]);
    expect((await change(body.id, { title: 'x' })).body.dashboard_export_insights).toEqual(chosen);
    await remove('insights', second);
    expect((await change(body.id, { title: 'y' })).status).toBe(200);
    expect((await change(body.id, { dashboard_export_insights: null })).body.dashboard_export_insights).toEqual([]);
  });

  test.each([
    ['an insight that is not on it', () => ({ insight: null, dashboard, dashboard_export_insights: [insight] })],
    ['insights without a dashboard', () => ({ insight: null, dashboard_export_insights: [insight] })],
    ['insights together with an insight', () => ({ dashboard, dashboard_export_insights: [insight] })],
    ['more than six insights', () => ({ insight: null, dashboard, dashboard_export_insights: [1, 2, 3, 4, 5, 6, 7] })],
  ])('returns 400 for %s', async (_kind, body) => {
    const response = await create(body());
    expect(response).toMatchObject({
      status: 400,
      body: { attr: expect.stringContaining('dashboard_export_insights') },
    });
  });
});
