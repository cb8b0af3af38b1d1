import { randomUUID } from 'node:crypto';
import { createPersonalApiKey } from '@millrace/accounts';
import type { Scope } from '@millrace/contracts';
import { createTestProject, keepLogs, waitOutStepEnd } from '@millrace/testing';
import { notFound, permissionDenied, validationError } from '../../testing/expected-errors.ts';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi, type TestResponse, testSecretBox } from '../../testing/start-test-api.ts';

/**
 * Tests cases export-001 to export-034 (docs/cases.md#the-rest-api), and rows 1 and 2 of the routes
 * (docs/api/README.md#routes-and-fields).
 */
let api: TestApi;
let acme: OrganizationActors;
let path: string;
let ofOrganization: string;
let otherProject: string;
beforeAll(async () => {
  api = await startTestApi();
  acme = await createActors(api.database);
  path = `/api/projects/${acme.projectId}/batch_exports/`;
  ofOrganization = `/api/organizations/${acme.organizationId}/batch_exports/`;
  const { project } = await createTestProject(api.database, { organizationId: acme.organizationId, name: 'Second' });
  otherProject = `/api/projects/${project.id}/batch_exports/`;
});
afterAll(() => api.stop());

const secret = 'not-to-be-shown';
const s3 = {
  type: 'S3',
  config: {
    bucket_name: 'b',
    region: 'us-east-1',
    prefix: 'posthog-events/',
    aws_access_key_id: secret,
    aws_secret_access_key: secret,
  },
};
const postgres = { type: 'Postgres', config: { host: 'h', database: 'd', user: secret, password: secret } };
const valid = { name: 'my-export', destination: s3, interval: 'hour' };
const create = (body: Record<string, unknown> = {}, where = path, key = acme.M.key) =>
  api.send('POST', where, { key, body: { ...valid, ...body } });
const created = async (body: Record<string, unknown> = {}): Promise<TestResponse['body']> => {
  const response = await create(body);
  expect(response.status).toBe(201);
  return response.body;
};
const post = (rest: string, body?: unknown, headers: Record<string, string> = {}) =>
  api.send('POST', path + rest, { key: acme.M.key, body, headers });
const change = (id: string, body: unknown, method: 'PATCH' | 'PUT' = 'PATCH') =>
  api.send(method, `${path}${id}/`, { key: acme.M.key, body });
const read = async (id: string) => (await api.get(`${path}${id}/`, acme.M.key)).body;
const stored = async (id: string) =>
  (await api.database.sql.query('SELECT * FROM batch_export WHERE id = $1', [id]))[0] ?? {};
/** Returns the changes to an export, each with its user, oldest first. Omits the creation of the export. */
const workOn = async (id: string) =>
  (
    await api.database.sql.query<{ user_id: number; changes: { action: string; field: string }[] }>(
      `SELECT user_id, detail -> 'changes' AS changes FROM activity_log
        WHERE scope = 'BatchExport' AND item_id = $1 AND activity = 'updated' ORDER BY created_at, id`,
      [id],
    )
  ).map(({ user_id, changes }) => [user_id, changes] as const);
const backfills = async (id: string) => (await api.get(`${path}${id}/backfills/`, acme.M.key)).body.results;
const storeRun = async (
  exportId: string,
  fields: { status?: string; createdAt?: string; backfillId?: string } = {},
) => {
  const id = randomUUID();
  await api.database.sql.query(
    `INSERT INTO batch_export_run (id, batch_export_id, data_interval_start, data_interval_end, status, records_completed,
                                   created_at, finished_at, backfill_id)
     VALUES ($1, $2, '2026-11-10T10:00Z', '2026-11-10T11:00Z', $3, 5, $4,
             CASE WHEN $3 IN ('Completed', 'Failed') THEN now() END, $5)`,
    [id, exportId, fields.status ?? 'Completed', fields.createdAt ?? new Date(), fields.backfillId ?? null],
  );
  return id;
};

test.each(['environments', 'projects'])(
  'export-001: under %s, creates an export for each interval and returns it without secrets',
  async (family) => {
    for (const interval of ['hour', 'day', 'week', 'every 5 minutes']) {
      const { status, body } = await create({ interval }, `/api/${family}/${acme.projectId}/batch_exports`);
      const timestamp = expect.stringMatching(/Z$/);
      const fields = {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        team_id: acme.projectId,
        name: 'my-export',
        model: 'events',
        destination: { type: 'S3', config: { bucket_name: 'b', region: 'us-east-1', prefix: 'posthog-events/' } },
        filters: null,
        interval,
        timezone: 'UTC',
        offset_day: null,
        offset_hour: null,
        paused: false,
        created_at: timestamp,
        last_updated_at: timestamp,
        last_paused_at: null,
        start_at: null,
        end_at: null,
        latest_runs: [],
        schema: null,
      };
      expect([status, body]).toEqual([201, fields]);
      expect(Object.keys(body)).toEqual(Object.keys(fields));
      expect(await read(body.id)).toEqual(body);
    }
  },
);

test('export-002: accepts intervals shorter than an hour without a permission, unlike PostHog', async () => {
  expect((await create({ interval: 'every 5 minutes' })).status).toBe(201);
});

test('export-003, export-012, export-014, export-021, export-032, export-033: returns 403 for all requests by a member of another organization', async () => {
  const { id } = await created();
  const key = acme.off.personalApiKey;
  for (const [where, refusal] of [
    [path, permissionDenied("You don't have access to the project.")],
    [ofOrganization, permissionDenied()],
  ] as const) {
    expect(await create({}, where, key)).toMatchObject(refusal);
    expect(await api.get(`${where}${id}/`, key)).toMatchObject(refusal);
    expect(await api.get(`${where}${id}/runs/`, key)).toMatchObject(refusal);
    expect(await api.send('DELETE', `${where}${id}/`, { key })).toMatchObject(refusal);
    for (const action of ['pause', 'unpause', 'backfill']) {
      expect(await api.send('POST', `${where}${id}/${action}/`, { key })).toMatchObject(refusal);
    }
  }
  expect(await api.get(`/api/organizations/${acme.off.organizationId}/batch_exports/${id}/`, key)).toMatchObject(
    notFound(),
  );
  expect(await read(id)).toMatchObject({ paused: false });
});

test('export-012, export-014, export-021, export-032: returns 404 for an export at the path of another project', async () => {
  const { id } = await created();
  const { key } = acme.M;
  expect(await api.get(`${otherProject}${id}/`, key)).toMatchObject(notFound());
  expect(await api.send('DELETE', `${otherProject}${id}/`, { key })).toMatchObject(notFound());
  expect(await api.send('PATCH', `${otherProject}${id}/`, { key, body: { name: 'x' } })).toMatchObject(notFound());
  for (const action of ['pause', 'unpause', 'backfill']) {
    expect(await api.send('POST', `${otherProject}${id}/${action}/`, { key })).toMatchObject(notFound());
  }
  for (const name of ['abc', randomUUID()]) expect(await api.get(`${path}${name}/`, key)).toMatchObject(notFound());
});

const query = `SELECT toString(uuid) AS uuid, 'test' AS test, 1 + 1 AS n, event FROM events WHERE event != 'noise'`;
const schemaOfQuery = {
  fields: [
    { expression: 'toString(uuid)', alias: 'uuid' },
    { expression: "'test'", alias: 'test' },
    { expression: 'plus(1, 1)', alias: 'n' },
    { expression: 'event', alias: 'event' },
  ],
  values: {},
  hogql_query:
    "SELECT toString(uuid) AS uuid, 'test' AS test, plus(1, 1) AS n, event FROM events WHERE notEquals(event, 'noise')",
};

test("export-004, export-026: returns the columns that an export's query selects, or null after the query is removed", async () => {
  const first = await created({ hogql_query: query });
  expect(first.schema).toEqual(schemaOfQuery);
  expect(first).not.toHaveProperty('hogql_query');
  expect((await read(first.id)).schema).toEqual(schemaOfQuery);
  expect((await change(first.id, { name: 'renamed' })).body.schema).toEqual(schemaOfQuery);
  const changed = await change(first.id, { hogql_query: 'SELECT distinct_id FROM events' });
  expect(changed.body.schema.fields).toEqual([{ expression: 'distinct_id', alias: 'distinct_id' }]);
  for (const none of ['', null]) {
    await change(first.id, { hogql_query: query });
    expect((await change(first.id, { hogql_query: none })).body.schema).toBeNull();
  }
  expect((await created({ hogql_query: '' })).schema).toBeNull();
  const [, changes] =
    (await workOn(first.id)).find(([, all]) => all.some(({ field }) => field === 'hogql_query')) ?? [];
  expect(changes).toMatchObject([{ field: 'hogql_query', before: query, after: 'SELECT distinct_id FROM events' }]);
});

test.each([
  ['export-005', 'SELECT', /^Failed to parse query: /],
  ['export-006', 'SELECT event,, FROM events', /^Failed to parse query: /],
  ['export-007', 'SELECT no_such_column FROM events', /^Invalid HogQL query: Unable to resolve field: no_such_column/],
  ['export-008', 'SELECT event FROM events JOIN persons ON events.person_id = persons.id', /JOINs are not supported/],
  ['export-009', 'SELECT event FROM events UNION ALL SELECT event FROM events', /UNIONs are not supported/],
  ['no table', 'SELECT 1 AS n', /Query must SELECT FROM events/],
  ['another table', 'SELECT id FROM persons', /Query must only SELECT FROM events/],
  ['a subquery as a table', 'SELECT event FROM (SELECT event FROM events)', /Query must only SELECT FROM events/],
  ['a common table expression', 'WITH a AS (SELECT 1) SELECT event FROM events', /Unsupported HogQL query: CTES/],
  ['LIMIT', 'SELECT event FROM events LIMIT 10', /Unsupported HogQL query: LIMIT/],
  ['GROUP BY', 'SELECT event FROM events GROUP BY event', /Unsupported HogQL query: GROUP BY/],
  ['ORDER BY', 'SELECT event FROM events ORDER BY timestamp', /Unsupported HogQL query: ORDER BY/],
  ['DISTINCT', 'SELECT DISTINCT event FROM events', /Unsupported HogQL query: DISTINCT/],
  ['an aggregation', 'SELECT count() AS n FROM events', /Aggregations are not supported/],
  ['a window function', 'SELECT row_number() OVER () AS n FROM events', /Unsupported HogQL query: window functions/],
  ['a subquery', 'SELECT (SELECT 1) AS n FROM events', /Unsupported HogQL query: subqueries/],
  ['arrayJoin', 'SELECT arrayJoin([1, 2]) AS n FROM events', /Unsupported HogQL query: arrayJoin/],
  ['a placeholder', 'SELECT {name} AS n FROM events', /Unsupported HogQL query: placeholders/],
  ['a cohort', 'SELECT event FROM events WHERE person_id IN COHORT 1', /Unsupported HogQL query: cohorts/],
  ['a column without a name', 'SELECT upper(event) FROM events', /Column 1 needs a name/],
  ['all columns', 'SELECT * FROM events', /Column 1 needs a name/],
  ['two columns with the same name', 'SELECT event, uuid AS event FROM events', /Two columns have the name 'event'/],
  [
    'a name that is too long',
    `SELECT event AS ${'a'.repeat(64)} FROM events`,
    /name of column 1 must have 1 to 63 bytes/,
  ],
  ['merged persons', 'SELECT pdi.person_id AS id FROM events', /Unable to resolve field: pdi.person_id/],
  ['another project', 'SELECT event FROM events WHERE project_id = 1', /Unable to resolve field: project_id/],
])('%s: returns 400 for an export with the query %s', async (_, hogql_query, detail) => {
  const { id } = await created();
  for (const response of [await create({ hogql_query }), await change(id, { hogql_query })])
    expect(response).toMatchObject(validationError('invalid_input', 'hogql_query', expect.stringMatching(detail)));
  expect((await read(id)).schema).toBeNull();
});

test('returns 400 for a query that does not fit the exported model or the destination', async () => {
  const withoutId = 'SELECT event FROM events';
  const refused = (detail: RegExp) => validationError('invalid_input', 'hogql_query', expect.stringMatching(detail));
  expect(await create({ hogql_query: query, model: 'persons' })).toMatchObject(refused(/only be used with the model/));
  expect(await create({ hogql_query: withoutId, destination: postgres })).toMatchObject(refused(/must select `uuid`/));
  const shadowed = 'SELECT event AS uuid FROM events';
  expect(await create({ hogql_query: shadowed, destination: postgres })).toMatchObject(refused(/must select `uuid`/));
  const { id } = await created({ hogql_query: query, destination: postgres });
  expect(await change(id, { model: 'persons' })).toMatchObject(refused(/only be used with the model/));
  expect(await change(id, { hogql_query: withoutId })).toMatchObject(refused(/must select `uuid`/));
});

test("export-010, export-011: lists a project's or organization's exports, newest first, without deleted exports", async () => {
  const actors = await createActors(api.database);
  const where = `/api/projects/${actors.projectId}/batch_exports/`;
  const [first, second] = [
    (await create({ name: '1' }, where, actors.M.key)).body,
    (await create({ name: '2' }, where, actors.M.key)).body,
  ];
  const { project } = await createTestProject(api.database, {
    organizationId: actors.organizationId,
    name: 'Other',
  });
  const names = async (parent: string) => {
    const { body } = await api.get(`/api/${parent}/batch_exports/`, actors.M.key);
    expect(body.count).toBe(body.results.length);
    return body.results.map(({ name }: { name: string }) => name);
  };
  expect(await names(`projects/${actors.projectId}`)).toEqual(['2', '1']);
  expect(await names(`projects/${project.id}`)).toEqual([]);
  await create({ name: '3' }, `/api/projects/${project.id}/batch_exports/`, actors.M.key);
  expect(await names(`organizations/${actors.organizationId}`)).toEqual(['3', '2', '1']);
  await api.send('DELETE', `${where}${first.id}/`, { key: actors.M.key });
  expect(await names(`projects/${actors.projectId}`)).toEqual(['2']);
  expect(second.name).toBe('2');
});

describe.each(['organization', 'project'])('pausing an export under the %s (rows 1 and 2)', (parent) => {
  const at = (id: string, action: string) => `${parent === 'project' ? path : ofOrganization}${id}/${action}`;
  const send = (address: string, body?: unknown, headers = {}) =>
    api.send('POST', address, { key: acme.M.key, body, headers });

  test('export-013: pauses or unpauses an export, and returns 200 without a body', async () => {
    const { id } = await created();
    const whole = { ...valid, paused: false, model: 'events', last_paused_at: 'nonsense', hogql_query: 'SELECT' };
    const paused = await send(at(id, 'pause'), whole);
    expect([paused.status, paused.body, paused.headers.get('content-length')]).toEqual([200, undefined, '0']);
    expect(await read(id)).toMatchObject({ paused: true, last_paused_at: expect.any(String), name: 'my-export' });
    const unpaused = await send(at(id, 'unpause'), whole);
    expect([unpaused.status, unpaused.body]).toEqual([200, undefined]);
    expect(await read(id)).toMatchObject({ paused: false, last_paused_at: expect.any(String) });
  });

  test('returns the export if the client requests it with the header Prefer', async () => {
    const { id } = await created();
    const headers = { prefer: 'return=representation' };
    for (const [action, paused] of [
      ['pause', true],
      ['pause', true],
      ['unpause', false],
    ] as const) {
      const response = await send(at(id, action), undefined, headers);
      expect([response.status, response.body]).toEqual([200, { paused }]);
      expect(response.headers.get('preference-applied')).toBe('return=representation');
    }
  });

  test('export-015, export-016: changes nothing if the export already is in the requested state', async () => {
    const { id, last_updated_at } = await created();
    expect((await send(at(id, 'unpause'))).status).toBe(200);
    expect((await read(id)).last_updated_at).toBe(last_updated_at);
    await send(at(id, 'pause'));
    const paused = await read(id);
    expect((await send(at(id, 'pause'))).status).toBe(200);
    expect(await read(id)).toEqual(paused);
  });

  test('export-018: exports the missed intervals with a backfill after unpausing, and each event only once', async () => {
    await waitOutStepEnd(3_600_000);
    const { id } = await created();
    const hours = (count: number) => new Date(Math.floor(Date.now() / 3_600_000 + count) * 3_600_000);
    const pausedAt = new Date(hours(-3).getTime() + 1_200_000);
    await send(at(id, 'pause'));
    await api.database.sql.query(
      'UPDATE batch_export SET last_paused_at = $2, next_interval_start = $3, next_interval_end = $4 WHERE id = $1',
      [id, pausedAt, hours(-3), hours(-2)],
    );
    // A change while the export is paused must not affect which interval is exported next.
    await change(id, { name: 'renamed' });
    await send(at(id, 'unpause'), { backfill: true });
    expect(await stored(id)).toMatchObject({ next_interval_start: hours(0), next_interval_end: hours(1) });
    const text = (time: Date) => time.toISOString().replace('.000Z', 'Z');
    expect(await backfills(id)).toMatchObject([
      { start_at: text(hours(-3)), end_at: text(hours(0)), status: 'Running', batch_export: id },
    ]);
  });

  test('does not backfill the interval in which an export was paused and unpaused, because a run exports all of it', async () => {
    const { id } = await created({ interval: 'week' });
    const before = await stored(id);
    await send(at(id, 'pause'));
    await send(at(id, 'unpause'), { backfill: true });
    expect(await backfills(id)).toEqual([]);
    expect((await stored(id)).next_interval_start).toEqual(before.next_interval_start);
  });

  test("starts a backfill up to the export's end if the export is unpaused after its end", async () => {
    const { id } = await created({ end_at: '2100-01-01T00:00:00Z' });
    await send(at(id, 'pause'));
    await api.database.sql.query(
      `UPDATE batch_export SET next_interval_start = '2026-11-10T10:00Z', end_at = '2026-11-10T12:30Z' WHERE id = $1`,
      [id],
    );
    await send(at(id, 'unpause'), { backfill: true });
    expect(await backfills(id)).toMatchObject([{ start_at: '2026-11-10T10:00:00Z', end_at: '2026-11-10T12:30:00Z' }]);
  });
});

test('export-017, export-022: gives every export a schedule, unlike PostHog', async () => {
  const { id } = await created();
  await api.database.sql.query(
    'UPDATE batch_export SET next_interval_start = NULL, next_interval_end = NULL WHERE id = $1',
    [id],
  );
  expect((await post(`${id}/pause`)).status).toBe(200);
  expect((await api.send('DELETE', `${path}${id}/`, { key: acme.M.key })).status).toBe(204);
});

test('export-019, export-020: deletes an export and cancels its backfills and runs', async () => {
  const { id } = await created();
  await post(`${id}/backfill`, { start_at: '2021-01-01T00:00:00+00:00', end_at: '2021-01-01T01:00:00+00:00' });
  await storeRun(id, { status: 'Running' });
  const response = await api.send('DELETE', `${path}${id}/`, { key: acme.M.key });
  expect([response.status, response.body]).toEqual([204, undefined]);
  expect(await api.get(`${path}${id}/`, acme.M.key)).toMatchObject(notFound());
  expect(await api.send('DELETE', `${path}${id}/`, { key: acme.M.key })).toMatchObject(notFound());
  const { sql } = api.database;
  for (const table of ['batch_export_backfill', 'batch_export_run']) {
    expect(await sql.query(`SELECT status FROM ${table} WHERE batch_export_id = $1`, [id])).toEqual([
      { status: 'Cancelled' },
    ]);
  }
});

test('export-023, export-024: PUT requires name, destination and interval, and keeps all other fields', async () => {
  const { id } = await created({ end_at: '2100-01-01T00:00:00Z' });
  expect(await change(id, { name: 'n', interval: 'day' }, 'PUT')).toMatchObject(
    validationError('required', 'destination', 'This field is required.'),
  );
  expect(await change(id, { ...valid, interval: 'day' }, 'PUT')).toMatchObject({
    status: 200,
    body: { interval: 'day', end_at: '2100-01-01T00:00:00Z' },
  });
});

test("export-025: merges changes into a destination's settings, keeps the secrets and never returns them", async () => {
  const { id } = await created();
  const response = await change(id, {
    destination: { type: 'S3', config: { bucket_name: 'other', compression: 'gzip' } },
  });
  expect(response).toMatchObject({
    status: 200,
    body: {
      interval: 'hour',
      destination: { config: { bucket_name: 'other', region: 'us-east-1', compression: 'gzip' } },
    },
  });
  const { destination_secrets: sealed } = await stored(id);
  expect(JSON.stringify(sealed)).not.toContain(secret);
  const opened = testSecretBox.open(sealed as Record<string, unknown>, id);
  expect(opened).toEqual({ aws_access_key_id: secret, aws_secret_access_key: secret });
  await change(id, { destination: { config: { compression: null } } });
  expect((await read(id)).destination.config).toEqual({
    bucket_name: 'other',
    region: 'us-east-1',
    prefix: 'posthog-events/',
  });
  const moved = await change(id, { destination: postgres });
  expect(moved.body.destination).toEqual({ type: 'Postgres', config: { host: 'h', database: 'd' } });
  const { rows } = { rows: await api.database.sql.query('SELECT detail FROM activity_log WHERE item_id = $1', [id]) };
  expect(rows.length).toBe(4);
  for (const shown of [response, moved, await api.get(path, acme.M.key), rows]) {
    expect(JSON.stringify(shown)).not.toContain(secret);
  }
});

describe('stored secrets of an export', () => {
  const keep = (what: string, names: string) =>
    validationError(
      'invalid_input',
      'destination',
      `'${what}' changed, so you must also send ${names} again. Otherwise the stored secrets would be sent to a different server.`,
    );

  test('returns 400 if an export gets a new host or port without new secrets', async () => {
    const { id } = await created({ destination: postgres });
    const before = await stored(id);
    for (const [what, value] of [
      ['host', 'evil.example.com'],
      ['port', 6543],
    ] as const) {
      const refusal = keep(what, "'user', 'password'");
      expect(await change(id, { destination: { config: { [what]: value } } })).toMatchObject(refusal);
      const half = { [what]: value, user: 'u' };
      expect(await change(id, { destination: { config: half } })).toMatchObject(keep(what, "'password'"));
    }
    expect(await stored(id)).toEqual(before);
    const config = { host: 'other.example.com', user: 'u', password: 'p' };
    expect((await change(id, { destination: { config } })).status).toBe(200);
    const { destination_secrets: sealed } = await stored(id);
    expect(testSecretBox.open(sealed as Record<string, unknown>, id)).toEqual({ user: 'u', password: 'p' });
  });

  test('returns 400 if an export gets a new storage endpoint without new secrets, even with PUT', async () => {
    const { id } = await created();
    const destination = { config: { endpoint_url: 'https://evil.example.com' } };
    const refusal = keep('endpoint_url', "'aws_access_key_id', 'aws_secret_access_key'");
    expect(await change(id, { destination })).toMatchObject(refusal);
    expect(await change(id, { ...valid, destination }, 'PUT')).toMatchObject(refusal);
    expect((await change(id, { destination: { config: { bucket_name: 'another' } } })).status).toBe(200);
  });

  test('returns 400 for a region that would change the host to which secrets are sent', async () => {
    for (const region of ['@127.0.0.1', 'x/y', 'a.evil.example', '', 'x'.repeat(64)]) {
      const { status, body } = await create({ destination: { ...s3, config: { ...s3.config, region } } });
      expect([status, body.attr]).toEqual([400, 'destination']);
    }
  });

  test("deletes an export's secrets when the export is deleted", async () => {
    const { id } = await created();
    expect((await api.send('DELETE', `${path}${id}/`, { key: acme.M.key })).status).toBe(204);
    expect((await stored(id)).destination_secrets).toEqual({});
  });

  test('encrypts secrets for a single export, and keeps them unchanged when the export is paused', async () => {
    const [one, two] = [await created(), await created({ destination: postgres })];
    const { destination_secrets: sealed } = await stored(two.id);
    expect((await post(`${two.id}/pause`)).status).toBe(200);
    expect((await stored(two.id)).destination_secrets).toEqual(sealed);
    expect(() => testSecretBox.open(sealed as Record<string, unknown>, one.id)).toThrow(
      'belongs to a different record',
    );
  });
});

test('returns 404 for exports of a private environment at every path', async () => {
  const { project } = await createTestProject(api.database, {
    organizationId: acme.organizationId,
    name: 'Private',
  });
  const privatePath = `/api/projects/${project.id}/batch_exports/`;
  const { id } = (await create({}, privatePath, acme.A.key)).body;
  await api.database.sql.query('UPDATE environment SET access_control = true WHERE id = $1', [project.id]);
  const list = async (key: string) => (await api.get(`${ofOrganization}?limit=100`, key)).body.results;
  const ids = (rows: { id: string }[]) => rows.map((row) => row.id);
  expect(ids(await list(acme.A.key))).toContain(id);
  expect(ids(await list(acme.M.key))).not.toContain(id);
  const key = acme.M.key;
  expect(await api.get(`${ofOrganization}${id}/`, key)).toMatchObject(notFound());
  for (const method of ['PATCH', 'DELETE'] as const) {
    expect(await api.send(method, `${ofOrganization}${id}/`, { key, body: {} })).toMatchObject(notFound());
  }
  for (const action of ['pause', 'unpause', 'backfill']) {
    expect(await api.send('POST', `${ofOrganization}${id}/${action}/`, { key, body: {} })).toMatchObject(notFound());
  }
});

describe('unsupported export settings', () => {
  const refuses = (detail: string) => validationError('invalid_input', 'destination', detail);
  const withConfig = (type: string, config: Record<string, unknown>) => ({ destination: { type, config } });
  const pg = postgres.config;
  test.each<[string, Record<string, unknown>, ReturnType<typeof validationError>]>([
    ...['Snowflake', 'BigQuery', 'Redshift', 'HTTP', 'NoOp', 'toString', ''].map(
      (type): [string, Record<string, unknown>, ReturnType<typeof validationError>] => [
        `a destination ${type}`,
        withConfig(type, {}),
        validationError(
          'invalid_choice',
          'destination__type',
          `"${type}" is not a supported destination type. Supported types: S3, Postgres.`,
        ),
      ],
    ),
    ['no type', { destination: {} }, validationError('required', 'destination__type', 'This field is required.')],
    ['no config', { destination: { type: 'S3' } }, refuses("Configuration missing required field: 'bucket_name'")],
    ['an unknown setting', withConfig('Postgres', { ...pg, x: 1 }), refuses("Configuration has unknown field/s: 'x'")],
    [
      'a missing setting',
      withConfig('Postgres', { host: 'h' }),
      refuses("Configuration missing required field: 'user'"),
    ],
    [
      'a wrong type',
      withConfig('Postgres', { ...pg, port: '5432' }),
      refuses("Configuration has invalid type for 'port': expected 'int'"),
    ],
    ['an invalid port', withConfig('Postgres', { ...pg, port: 0 }), refuses("'port' must be between 1 and 65535.")],
    [
      'Parquet',
      withConfig('S3', { ...s3.config, file_format: 'Parquet' }),
      refuses("'file_format' must be one of: JSONLines. Other values are not supported."),
    ],
    [
      'brotli',
      withConfig('S3', { ...s3.config, compression: 'brotli' }),
      refuses("'compression' must be one of: gzip. Other values are not supported."),
    ],
    [
      'an invalid endpoint',
      withConfig('S3', { ...s3.config, endpoint_url: 'file:///etc' }),
      refuses("'endpoint_url' must be an http or https URL without a username or password."),
    ],
    [
      'sessions',
      { model: 'sessions' },
      validationError('invalid_choice', 'model', '"sessions" is not a valid choice. Choose one of: events, persons.'),
    ],
    [
      'another interval',
      { interval: 'month' },
      validationError(
        'invalid_choice',
        'interval',
        '"month" is not a valid choice. Choose one of: hour, day, week, every 5 minutes, every 15 minutes.',
      ),
    ],
    ['no name', { name: '' }, validationError('blank', 'name', 'This field may not be blank.')],
    [
      'an end before the start',
      { start_at: '2026-01-02', end_at: '2026-01-01' },
      validationError('invalid_input', 'end_at', "'end_at' must be later than 'start_at'."),
    ],
  ])('%s', async (_name, body, expected) => expect(await create(body)).toMatchObject(expected));

  test('returns 400 for creating an export with an empty body, or at the path of an organization', async () => {
    expect(await post('', {})).toMatchObject(validationError('required', 'name', 'This field is required.'));
    expect(await create({}, ofOrganization)).toMatchObject(
      validationError('invalid_input', null, expect.stringContaining('belongs to one environment')),
    );
  });
});

test('accepts the model `persons`, and treats null or an empty model as `events`', async () => {
  for (const [model, expected] of [
    [null, 'events'],
    ['', 'events'],
    ['persons', 'persons'],
  ]) {
    expect((await created({ model })).model).toBe(expected);
  }
});

describe('backfills of an export', () => {
  const range = (start_at?: unknown, end_at?: unknown) => ({ start_at, end_at });
  const preview = (id: string, asked: ReturnType<typeof range>) => {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(asked)) if (typeof value === 'string') query.set(name, value);
    return api.get(`${path}${id}/backfill?${query}`, acme.M.key);
  };

  test("export-027: returns a backfill's ID, and returns the same ID again while the backfill is running", async () => {
    const { id } = await created();
    const body = range('2021-01-01T00:00:00+00:00', '2021-01-01T01:00:00+00:00');
    const backfill_id = `${id}-Backfill-2021-01-01T00:00:00Z-2021-01-01T01:00:00Z`;
    for (let time = 0; time < 2; time += 1) {
      expect(await post(`${id}/backfill`, body)).toMatchObject({ status: 200, body: { backfill_id } });
    }
    expect(await backfills(id)).toMatchObject([
      { id: backfill_id, team: acme.projectId, status: 'Running', progress: { total_runs: 0, finished_runs: 0 } },
    ]);
    const cancel = `${id}/backfills/${encodeURIComponent(backfill_id)}/cancel`;
    expect(await post(cancel)).toMatchObject({ status: 200, body: { cancelled: true } });
    expect(await post(cancel)).toMatchObject(
      validationError('invalid_input', null, "Cannot cancel a backfill that is in 'Cancelled' status"),
    );
    expect((await backfills(id))[0]).toMatchObject({ status: 'Cancelled', finished_at: expect.any(String) });
    const asked = { id: backfill_id, start_at: '2021-01-01T00:00:00Z', end_at: '2021-01-01T01:00:00Z' };
    expect(await workOn(id)).toEqual([
      [acme.M.userId, [{ type: 'BatchExport', action: 'created', field: 'backfill', before: null, after: asked }]],
      [
        acme.M.userId,
        [{ type: 'BatchExport', action: 'deleted', field: 'backfill', before: { id: backfill_id }, after: null }],
      ],
    ]);
  });

  const soon = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  test.each<[string, unknown, unknown, string]>([
    ['no start', undefined, '2021-01-01T00:00:00Z', "Both 'start_at' and 'end_at' must be specified"],
    ['no end', '2021-01-01T00:00:00Z', null, "Both 'start_at' and 'end_at' must be specified"],
    ['export-028', 'not a date', '2021-01-01T00:00:00Z', 'Input not a date is not a valid ISO formatted datetime.'],
    ['export-028', '2021-01-01T00:00:00Z', 'not a date', 'Input not a date is not a valid ISO formatted datetime.'],
    ['export-029', '2021-01-01T00:00:00', '2021-01-01T01:00:00Z', 'Input 2021-01-01T00:00:00 is naive.'],
    ['export-029 a date', '2021-01-01', '2021-01-02T01:00:00Z', 'Input 2021-01-01 is naive.'],
    ['export-030', '2021-01-01T00:00:00Z', soon(2), 'too far into the future'],
    [
      'too many runs',
      '2019-01-01T00:00:00Z',
      '2021-01-01T00:00:00Z',
      "needs more than that with the interval 'hour'. Split the range into several backfills.",
    ],
    ['export-031 equal', '2021-01-01T00:00:00Z', '2021-01-01T00:00:00Z', "'start_at' happens after 'end_at'"],
    ['export-031 reversed', '2021-01-02T00:00:00Z', '2021-01-01T00:00:00Z', "'start_at' happens after 'end_at'"],
  ])('%s: returns 400 for a backfill from %s to %s', async (_name, start, end, detail) => {
    const { id } = await created();
    const refusal = validationError('invalid_input', null, expect.stringContaining(detail));
    expect(await post(`${id}/backfill`, range(start, end))).toMatchObject(refusal);
    expect(await preview(id, range(start, end))).toMatchObject(refusal);
  });

  test.each<[string, string, string, [number, string, string, string, string]]>([
    ['hour', '2021-01-01T00:00Z', '2021-01-02T00:00Z', [24, '01T00:00', '01T01:00', '01T23:00', '02T00:00']],
    ['hour', '2021-01-01T00:30Z', '2021-01-01T02:15Z', [3, '01T00:30', '01T01:00', '01T02:00', '01T02:15']],
    ['day', '2021-01-01T06:00Z', '2021-01-01T07:00Z', [1, '01T06:00', '01T07:00', '01T06:00', '01T07:00']],
    ['week', '2021-01-04T00:00Z', '2021-01-18T00:00Z', [2, '04T00:00', '11T00:00', '11T00:00', '18T00:00']],
  ])(
    'console-037: counts the runs of a backfill by the %s from %s to %s without starting them',
    async (interval, start, end, runs) => {
      const { id } = await created({ interval });
      const { status, body } = await preview(id, range(start, end));
      const { total_runs, first_run: first, last_run: last } = body;
      const times = [first.start_at, first.end_at, last.start_at, last.end_at].map((time) => time.slice(8, 16));
      expect([status, [total_runs, ...times]]).toEqual([200, runs]);
      expect([body.start_at, body.end_at]).toEqual([first.start_at, last.end_at]);
      expect(await backfills(id)).toEqual([]);
    },
  );

  test('accepts a backfill of one year in hourly runs, and ten running backfills', async () => {
    const { id } = await created();
    expect(await post(`${id}/backfill`, range('2020-01-01T00:00:00Z', '2021-01-01T00:00:00Z'))).toMatchObject(ok);
    const day = (number: number) => new Date(Date.UTC(2021, 0, number)).toISOString();
    for (let number = 1; number < 10; number += 1) {
      expect(await post(`${id}/backfill`, range(day(number), day(number + 1)))).toMatchObject(ok);
    }
    const refusal = validationError(
      'invalid_input',
      null,
      'An export can have at most 10 backfills running at the same time. Wait until one finishes, or cancel one.',
    );
    expect(await post(`${id}/backfill`, range(day(20), day(21)))).toMatchObject(refusal);
    expect(await post(`${id}/backfill`, range(day(1), day(2)))).toMatchObject(ok);
  });
  const ok = { status: 200 };
});

describe('runs of an export', () => {
  test('export-033: lists runs newest first, in pages and within a time range', async () => {
    const { id } = await created();
    const old = await storeRun(id, { createdAt: '2026-01-01T00:00:00Z' });
    const ids: string[] = [];
    for (let hour = 1; hour <= 12; hour += 1) {
      ids.unshift(await storeRun(id, { createdAt: new Date(Date.now() - (20 - hour) * 3_600_000).toISOString() }));
    }
    const listed: string[] = [];
    for (let next: string | null = `${path}${id}/runs/?limit=5`; next !== null; ) {
      const { status, body } = await api.get(next, acme.M.key);
      expect([status, Object.keys(body).sort(), body.previous]).toEqual([200, ['next', 'previous', 'results'], null]);
      listed.push(...body.results.map((run: { id: string }) => run.id));
      next = body.next;
    }
    expect(listed).toEqual(ids);
    const all = await api.get(`${path}${id}/runs/?after=2025-01-01`, acme.M.key);
    expect(all.body.results.map((run: { id: string }) => run.id)).toEqual([...ids, old]);
    expect((await api.get(`${path}${id}/runs/?before=-2d`, acme.M.key)).body.results).toEqual([]);
    expect(await api.get(`${path}${id}/runs/?after=nonsense`, acme.M.key)).toMatchObject({
      status: 400,
      body: { attr: 'after' },
    });
    expect((await read(id)).latest_runs.map((run: { id: string }) => run.id)).toEqual(ids.slice(0, 10));
  });

  test('returns and retries a run, and cancels an unfinished run', async () => {
    const { id } = await created();
    const [done, open] = [await storeRun(id), await storeRun(id, { status: 'Starting' })];
    expect(await api.get(`${path}${id}/runs/${done}/`, acme.M.key)).toMatchObject({
      status: 200,
      body: {
        id: done,
        batch_export: id,
        backfill: null,
        status: 'Completed',
        records_completed: 5,
        records_total_count: 5,
        bytes_exported: null,
      },
    });
    expect(await api.get(`${path}${id}/runs/${randomUUID()}/`, acme.M.key)).toMatchObject(notFound());
    expect(await post(`${id}/runs/${done}/retry`)).toMatchObject({
      status: 200,
      body: { backfill_id: `${id}-Backfill-2026-11-10T10:00:00Z-2026-11-10T11:00:00Z` },
    });
    expect(await post(`${id}/runs/${open}/cancel`)).toMatchObject({ status: 200, body: { cancelled: true } });
    expect((await workOn(id)).map(([, [change]]) => [change?.action, change?.field])).toEqual([
      ['created', 'backfill'],
      ['deleted', 'run'],
    ]);
    expect(await post(`${id}/runs/${done}/cancel`)).toMatchObject(
      validationError('invalid_input', null, "Cannot cancel a run that is in 'Completed' status"),
    );
  });
});

test('selects events by storage time when a scheduled run is repeated, and by timestamp for a backfill run', async () => {
  const { id } = await created();
  const body = { start_at: '2021-01-01T00:00:00Z', end_at: '2021-01-01T01:00:00Z' };
  const { backfill_id } = (await post(`${id}/backfill`, body)).body;
  const [scheduled, ofBackfill] = [await storeRun(id), await storeRun(id, { backfillId: backfill_id })];
  const goesByStoredTime = async (run: string) => {
    const repeated = (await post(`${id}/runs/${run}/retry`)).body.backfill_id;
    const [row] = await api.database.sql.query('SELECT by_stored_time FROM batch_export_backfill WHERE id = $1', [
      repeated,
    ]);
    await post(`${id}/backfills/${encodeURIComponent(repeated)}/cancel`);
    return row?.by_stored_time;
  };
  expect([await goesByStoredTime(scheduled), await goesByStoredTime(ofBackfill)]).toEqual([true, false]);
  expect(await goesByStoredTime(scheduled)).toBe(true);
});

describe('the next interval of an export', () => {
  test('exports the current interval next, but no interval before start_at or after end_at', async () => {
    const { id } = await created();
    const { next_interval_start: start, next_interval_end: end } = await stored(id);
    expect(end.getTime() - start.getTime()).toBe(3_600_000);
    expect(start.getTime()).toBeLessThanOrEqual(Date.now());
    const later = await created({ start_at: '2100-01-01T10:20:00Z' });
    expect((await stored(later.id)).next_interval_start).toEqual(new Date('2100-01-01T10:00:00Z'));
    const over = await created({ end_at: '2020-01-01T00:00:00Z' });
    expect((await stored(over.id)).next_interval_start).toBeNull();
  });

  const last = new Date('2026-01-01T05:00:00Z');
  const fallBehind = (id: string) =>
    api.database.sql.query('UPDATE batch_export SET next_interval_start = $2 WHERE id = $1', [id, last]);

  test('continues after the last exported interval when the export is changed', async () => {
    const { id } = await created();
    await fallBehind(id);
    await change(id, { name: 'x' });
    expect((await stored(id)).next_interval_start).toEqual(last);
    await change(id, { interval: 'day' });
    expect(await stored(id)).toMatchObject({
      next_interval_start: last,
      next_interval_end: new Date('2026-01-02T00:00:00Z'),
    });
  });

  test('exports the current interval next when an export is unpaused', async () => {
    const { id } = await created();
    await post(`${id}/pause`);
    await fallBehind(id);
    await post(`${id}/unpause`);
    expect((await stored(id)).next_interval_end.getTime()).toBeGreaterThan(Date.now());
  });
});

describe('filters, time zone and offsets of an export', () => {
  const filters = [
    { type: 'event', key: '$browser', operator: 'exact', value: ['Firefox'] },
    { type: 'person', key: 'email', operator: 'icontains', value: '@example.com' },
    { type: 'event_metadata', key: 'event', operator: 'exact', value: ['$pageview'] },
  ];

  test('stores and returns filters, time zone and offsets, and changes only those in the request', async () => {
    const rhythm = { interval: 'week', timezone: 'America/New_York', offset_day: 2, offset_hour: 6 };
    const { id, ...made } = await created({ ...rhythm, filters });
    expect(made).toMatchObject({ ...rhythm, filters });
    expect((await change(id, { name: 'renamed' })).body).toMatchObject({ ...rhythm, filters });
    const start: Date = (await stored(id)).next_interval_start;
    const local = new Intl.DateTimeFormat('en', {
      ...{ timeZone: 'America/New_York', weekday: 'long', hour: 'numeric', hourCycle: 'h23' },
    } as const);
    expect(local.format(start)).toBe('Tuesday, 06');
    const changes = { interval: 'day', timezone: null, filters: null };
    expect((await change(id, changes)).body).toMatchObject({
      ...{ interval: 'day', timezone: 'UTC', offset_day: null, offset_hour: 6, filters: null },
    });
  });

  test.each([
    ['filters', { filters: [{ type: 'hogql', key: 'event = 1' }] }, 'filters.0.type: Filters of the type "hogql"'],
    [
      'filters',
      { filters: [filters[0], { type: 'event', key: 'a', operator: 'eqals', value: 1 }] },
      'filters.1.operator',
    ],
    ['filters', { filters: [{ type: 'cohort', key: 'id', value: 999_999 }] }, 'Cohort 999999 does not exist'],
    ['filters', { filters: { data_interval_start: 1 } }, 'Expected'],
    ['filters', { filters, model: 'persons' }, "can only be set when 'model' is 'events'"],
    ['timezone', { timezone: 'Mars/Base' }, 'is not a known time zone'],
    ['offset_day', { offset_day: 7, interval: 'week' }, '6'],
    ['offset_day', { offset_day: 1, interval: 'day' }, "can only be set when 'interval' is 'week'"],
    ['offset_hour', { offset_hour: 24, interval: 'day' }, '23'],
    ['offset_hour', { offset_hour: 1 }, "can only be set when 'interval' is 'day' or 'week'"],
  ])('returns 400 and names the invalid export field: %s %j', async (attr, body, detail) => {
    const response = await create(body);
    expect(response).toMatchObject({ status: 400, body: { attr, detail: expect.stringContaining(detail) } });
    const { id } = await created();
    expect(await change(id, body)).toMatchObject({ status: 400, body: { attr } });
  });
});

test('export-034: returns 403 for an export and names the scope that the key lacks', async () => {
  const { id } = await created();
  const { value: key } = await createPersonalApiKey(api.database.sql, {
    actor: null,
    userId: acme.W.userId,
    label: 'reader',
    scopes: ['batch_export:read', 'project:write'] satisfies Scope[],
  });
  const refusal = permissionDenied("API key missing required scope 'batch_export:write'");
  expect(await api.send('POST', `${ofOrganization}${id}/pause/`, { key })).toMatchObject(refusal);
  expect((await api.get(`${ofOrganization}${id}/`, key)).status).toBe(200);
});

test('rolls back a change to an export if the change cannot be recorded in the activity log', async () => {
  const { id } = await created();
  await api.database.sql.query('ALTER TABLE activity_log RENAME TO activity_log_away');
  const { result: responses, logged } = await keepLogs(api.logger, async () => [
    await post(`${id}/pause`),
    await change(id, { name: 'lost' }),
    await create({ name: 'never made' }),
  ]);
  await api.database.sql.query('ALTER TABLE activity_log_away RENAME TO activity_log');
  expect(responses.map(({ status }) => status)).toEqual([500, 500, 500]);
  expect(logged).toMatchObject(responses.map(() => ({ level: 'error', error: { cause: { code: '42P01' } } })));
  expect(await read(id)).toMatchObject({ paused: false, name: 'my-export' });
  expect(await api.database.sql.query(`SELECT 1 FROM batch_export WHERE name = 'never made'`)).toEqual([]);
});

test('runs the same number of SQL statements for an export list of any length', async () => {
  const count = (query: string) => api.statementsOf(() => api.get(`${path}?${query}`, acme.M.key));
  expect(await count('limit=1')).toBe(await count('limit=1000'));
});
