import { validationError } from '../../testing/expected-errors.ts';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

let api: TestApi;
let acme: OrganizationActors;
let path: string;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  acme = await createActors(api.database);
  path = `/api/projects/${acme.projectId}/cohorts/`;
});

const tree = (...values: unknown[]) => ({ properties: { type: 'AND', values: [{ type: 'OR', values }] } });
const plan = { type: 'person', key: 'plan', operator: 'exact', value: ['pro'] };
const within = (id: number, more: object = {}) => ({ type: 'cohort', key: 'id', value: id, ...more });
const behavior = { type: 'behavioral', key: '$pageview', value: 'performed_event', event_type: 'events' };

const create = (body: object = {}) => api.send('POST', path, { key: acme.M.key, body });
const change = (id: number, body: object, method: 'PATCH' | 'PUT' = 'PATCH') =>
  api.send(method, `${path}${id}/`, { key: acme.M.key, body });
const read = (id: number) => api.get(`${path}${id}/`, acme.M.key);
const ids = async (query = '') =>
  (await api.get(`${path}${query}`, acme.M.key)).body.results.map((one: { id: number }) => one.id);
async function made(filters: object | null, body: object = {}): Promise<number> {
  const response = await create({ name: 'A cohort', filters, ...body });
  expect([response.status, response.body.detail]).toEqual([201, undefined]);
  return response.body.id;
}
async function flag(
  key: string,
  cohortId: number,
  fields: { active?: boolean; deleted?: boolean } = {},
): Promise<void> {
  const filters = { groups: [{ properties: [{ key: 'id', type: 'cohort', value: cohortId }] }] };
  await api.database.sql.query(
    'INSERT INTO feature_flag (project_id, key, filters, active, deleted) VALUES ($1, $2, $3, $4, $5)',
    [acme.projectId, key, filters, fields.active ?? true, fields.deleted ?? false],
  );
}

describe.each(['projects', 'environments'])('cohort routes under %s', (family) => {
  test('returns the same fields when a cohort is created, read and listed', async () => {
    const where = `/api/${family}/${acme.projectId}/cohorts/`;
    const body = { name: ' Paying ', description: 'who pays', filters: tree(plan), _create_in_folder: 'x' };
    const created = await api.send('POST', where, { key: acme.M.key, body });
    expect(created).toMatchObject({ status: 201 });
    const fields = {
      id: expect.any(Number),
      name: 'Paying',
      description: 'who pays',
      groups: [],
      deleted: false,
      filters: tree(plan),
      query: null,
      is_static: false,
      cohort_type: 'person_property',
      is_calculating: true,
      created_by: expect.objectContaining({ email: acme.M.email }),
      created_at: expect.stringMatching(/Z$/),
      last_calculation: null,
      errors_calculating: 0,
      count: null,
      experiment_set: [],
    };
    expect(created.body).toEqual(fields);
    expect(Object.keys(created.body)).toEqual(Object.keys(fields));
    expect((await api.get(`${where}${created.body.id}/`, acme.M.key)).body).toEqual(created.body);
    expect((await api.get(where, acme.M.key)).body).toEqual({
      count: 1,
      next: null,
      previous: null,
      results: [created.body],
    });
    const current = await api.get(`/api/${family}/@current/cohorts/`, acme.W.key);
    expect(current.body.results).toHaveLength(1);
  });
});

test('keeps cohort fields that a PUT or PATCH request omits', async () => {
  const id = await made(tree(plan), { description: 'who pays' });
  for (const method of ['PATCH', 'PUT'] as const) {
    expect(await change(id, { name: method }, method)).toMatchObject({
      status: 200,
      body: { name: method, description: 'who pays', filters: tree(plan) },
    });
  }
  expect(await change(id, { name: null, filters: null })).toMatchObject({
    status: 200,
    body: { name: null, filters: null },
  });
});

test('schedules a calculation when the filters change, but not when the name changes', async () => {
  const id = await made(tree(plan));
  const { sql } = api.database;
  await sql.query(
    `UPDATE cohort SET count = 3, calculate_at = now() + interval '1 day', last_calculation = now() WHERE id = $1`,
    [id],
  );
  expect((await change(id, { name: 'B' })).body).toMatchObject({ is_calculating: false, count: 3 });
  expect((await change(id, { filters: tree({ ...plan, value: ['free'] }) })).body).toMatchObject({
    is_calculating: true,
  });
});

test('omits deleted cohorts from the list, but returns them by ID and can restore them', async () => {
  const id = await made(tree(plan));
  expect(await change(id, { deleted: true })).toMatchObject({
    status: 200,
    body: { deleted: true, is_calculating: false },
  });
  expect(await ids()).toEqual([]);
  expect(await read(id)).toMatchObject({ status: 200, body: { deleted: true } });
  expect(await change(id, { deleted: false })).toMatchObject({
    status: 200,
    body: { deleted: false, is_calculating: true },
  });
  const refused = await api.send('DELETE', `${path}${id}/`, { key: acme.M.key });
  expect([refused.status, refused.body]).toEqual([405, undefined]);
  const log = await api.get(`${path}${id}/activity/`, acme.M.key);
  expect(log.body.results.map((one: { activity: string }) => one.activity)).toEqual(['updated', 'deleted', 'created']);
  expect((await api.get(`${path}activity/`, acme.M.key)).body.total_count).toBe(3);
});

test('filters the list of cohorts by type, creator and name', async () => {
  const dynamic = await made(tree(plan), { name: 'Paying' });
  const fixed = await made(null, { name: 'Testers', is_static: true });
  const other = await made(tree(plan), { name: 'Visitors' });
  expect(await ids()).toEqual([other, fixed, dynamic]);
  expect(await ids('?type=static')).toEqual([fixed]);
  expect(await ids('?type=dynamic')).toEqual([other, dynamic]);
  expect(await ids('?search=PAY')).toEqual([dynamic]);
  expect(await ids('?hide_behavioral_cohorts=true')).toEqual([other, fixed, dynamic]);
  expect(await ids(`?created_by_id=${acme.M.userId}`)).toHaveLength(3);
  expect(await ids(`?created_by_id=${acme.W.userId}`)).toEqual([]);
  expect(await ids('?limit=1&offset=1')).toEqual([fixed]);
});

const wrong = (detail: string, code = 'invalid_input') => validationError(code, 'filters', detail);
test.each<[string, unknown, object]>([
  ['without properties', {}, wrong("Must contain a 'properties' key with type and values")],
  [
    'with properties without values',
    { properties: { type: 'AND' } },
    wrong("Must contain a 'properties' key with type and values"),
  ],
  ['with a list as properties', { properties: [] }, wrong("Must contain a 'properties' key with type and values")],
  [
    'with an unknown group type',
    { properties: { type: 'XOR', values: [] } },
    wrong("The 'type' of a filter group must be 'AND' or 'OR'."),
  ],
  [
    'with an unknown key in a group',
    { properties: { type: 'AND', values: [], x: 1 } },
    wrong("'x' is not allowed in a filter group. Use 'type' and 'values'."),
  ],
  [
    'with a person filter without a value',
    tree({ type: 'person', key: 'a', operator: 'exact' }),
    wrong('Missing required keys for person filter: value'),
  ],
  [
    'with a person filter without a key and an operator',
    tree({ type: 'person' }),
    wrong('Missing required keys for person filter: key, operator'),
  ],
  [
    'with a cohort filter without a value',
    tree({ type: 'cohort', key: 'id' }),
    wrong('Missing required keys for cohort filter: value'),
  ],
  [
    'with a behavioral filter',
    tree(plan, behavior),
    wrong(
      "properties.values.0.values.1: Behavioral filters are not supported. Use filters of type 'person' or 'cohort'.",
    ),
  ],
  [
    'with an unknown operator',
    tree({ ...plan, operator: 'sounds_like' }),
    wrong("'sounds_like' is not a valid operator for a person filter."),
  ],
  [
    'with an unknown filter type',
    tree({ ...plan, type: 'group' }),
    wrong("The 'type' of a filter must be 'person' or 'cohort'."),
  ],
  [
    'with a value that is too long',
    tree({ ...plan, operator: 'icontains', value: 'x'.repeat(1001) }),
    wrong("The 'value' of a person filter with the operator 'icontains' can have at most 1000 characters."),
  ],
  ['with a number as a filter', tree(7), wrong('Every filter must be an object.')],
  ['with an unknown cohort', tree(within(2_000_000_000)), wrong('Invalid Cohort ID in filter')],
  ['with a cohort by name', tree({ type: 'cohort', key: 'id', value: 'vip' }), wrong('Invalid Cohort ID in filter')],
  [
    'that are a string',
    'plan',
    validationError('not_a_dict', 'filters', 'Expected a dictionary of items but got type "str". Send a JSON object.'),
  ],
  [
    'with more than 1000 conditions',
    tree(...Array.from({ length: 1001 }, () => plan)),
    wrong('A cohort can have at most 1000 filters.'),
  ],
])('returns 400 for cohort filters %s', async (_name, filters, expected) => {
  expect(await create({ filters })).toMatchObject(expected);
});

test.each<[string, object, object]>([
  [
    'name that is too long',
    { name: 'x'.repeat(401) },
    validationError('max_length', 'name', 'Ensure this field has no more than 400 characters.'),
  ],
  [
    'description that is too long',
    { description: 'x'.repeat(1001) },
    validationError('max_length', 'description', 'Ensure this field has no more than 1000 characters.'),
  ],
  [
    'query together with filters',
    { is_static: true, query: { a: 1 }, filters: tree(plan) },
    validationError(
      'invalid_input',
      'query',
      'Cohorts defined by a query are not supported. Use `filters` instead of `query`.',
    ),
  ],
  [
    'query for a dynamic cohort',
    { query: { a: 1 } },
    validationError(
      'invalid_input',
      'query',
      'Cohorts defined by a query are not supported. Use `filters` instead of `query`.',
    ),
  ],
])('returns 400 for a cohort with a %s', async (_name, body, expected) => {
  expect(await create(body)).toMatchObject(expected);
});

test('normalizes the operators and cohort IDs in filters before storing them', async () => {
  const inner = await made(tree(plan));
  const sent = tree(
    { type: 'person', key: 'age', operator: 'min', value: '5' },
    { type: 'person', key: 'age', operator: 'max', value: 9, negation: true },
    { type: 'person', key: 'email', operator: 'is_set' },
    within(inner, { operator: 'exact' }),
    { ...within(inner), value: String(inner), operator: 'not_in' },
  );
  expect((await create({ filters: sent })).body.filters).toEqual(
    tree(
      { type: 'person', key: 'age', operator: 'gte', value: '5' },
      { type: 'person', key: 'age', operator: 'lte', value: 9, negation: true },
      { type: 'person', key: 'email', operator: 'is_set' },
      within(inner, { operator: 'in' }),
      within(inner, { operator: 'not_in' }),
    ),
  );
});

test('converts the former cohort field `groups` to filters', async () => {
  const groups = [{ properties: { plan: 'pro', age__gt: '5' } }, { properties: [{ key: 'a', value: 'b' }] }];
  const { body } = await create({ groups });
  expect(body).toMatchObject({ groups, cohort_type: 'person_property' });
  expect(body.filters.properties).toMatchObject({
    type: 'OR',
    values: [
      {
        values: [
          { key: 'plan', operator: 'exact', value: 'pro' },
          { key: 'age', operator: 'gt', value: '5' },
        ],
      },
      { values: [{ key: 'a', operator: 'exact', value: 'b' }] },
    ],
  });
});

test.each([
  ['an event', { event_id: '$pageview', days: 7 }],
  ['an action', { action_id: 3 }],
])('returns 400 for a cohort group defined by %s', async (_kind, group) => {
  expect(await create({ groups: [{ properties: { plan: 'pro' } }, group] })).toMatchObject({
    status: 400,
    body: { attr: 'groups', detail: expect.stringMatching(/^groups\.1: Groups defined by an event or an action/) },
  });
});

test('returns 400 for a cohort that is defined by a query, because it would have no members', async () => {
  const query = { kind: 'ActorsQuery' };
  expect(await create({ is_static: true, query })).toMatchObject({ status: 400, body: { attr: 'query' } });
  expect((await create({ is_static: true, query: null })).status).toBe(201);
});

describe('cohorts that reference other cohorts', () => {
  const loop = wrong('Cohorts cannot reference other cohorts in a loop.');

  test('returns 400 for a reference to the cohort itself, directly or through other cohorts', async () => {
    const first = await made(tree(plan));
    expect(await change(first, { filters: tree(within(first)) })).toMatchObject(loop);
    const second = await made(tree(within(first)));
    const third = await made(tree(within(second)));
    expect(await change(first, { filters: tree(plan, within(third)) })).toMatchObject(loop);
    expect((await read(first)).body.filters).toEqual(tree(plan));
  });

  test('accepts only one of two concurrent changes that together would create a loop', async () => {
    const [a, b] = [await made(tree(plan)), await made(tree(plan))];
    const responses = await Promise.all([
      change(a, { filters: tree(within(b)) }),
      change(b, { filters: tree(within(a)) }),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test('returns 400 for a deleted cohort and for a cohort of another project', async () => {
    const foreign = await api.send('POST', `/api/projects/${acme.off.projectId}/cohorts/`, {
      key: acme.off.personalApiKey,
      body: { name: 'theirs' },
    });
    expect(await create({ filters: tree(within(foreign.body.id)) })).toMatchObject(
      wrong('Invalid Cohort ID in filter'),
    );
    const gone = await made(tree(plan));
    await change(gone, { deleted: true });
    expect(await create({ filters: tree(within(gone)) })).toMatchObject(wrong('Invalid Cohort ID in filter'));
  });

  test('finds a loop of 200 cohorts, and a flag that uses a cohort through 200 others', async () => {
    let id = await made(tree(plan));
    const first = id;
    for (let level = 0; level < 200; level += 1) id = await made(tree(within(id)));
    expect(await change(first, { filters: tree(within(id)) })).toMatchObject(loop);
    await flag('deep', id);
    expect(await change(first, { deleted: true })).toMatchObject({ status: 400 });
  });

  test('checks each cohort only once, although there are 2^100 paths through the references', async () => {
    let [before, last] = [await made(tree(plan)), await made(tree(plan))];
    const first = before;
    for (let level = 0; level < 100; level += 1)
      [before, last] = [last, await made(tree(within(before), within(last)))];
    expect(await change(first, { filters: tree(within(last)) })).toMatchObject(loop);
  });
});

describe('deleting a cohort that feature flags use', () => {
  test('returns 400 for deleting a cohort while flags that use it are active, and names the flags', async () => {
    const inner = await made(tree(plan));
    const outer = await made(tree(within(inner)));
    await flag('beta', outer);
    await flag('checkout', inner);
    await flag('off', inner, { active: false });
    await flag('gone', inner, { deleted: true });
    const refused = (keys: string, count: number) =>
      validationError(
        'invalid_input',
        null,
        `This cohort is used in ${count} active feature flag(s): ${keys}. Please remove the cohort from these feature flags before deleting it.`,
      );
    expect(await change(inner, { deleted: true })).toMatchObject(refused('beta, checkout', 2));
    expect(await change(outer, { deleted: true })).toMatchObject(refused('beta', 1));
    await api.database.sql.query('UPDATE feature_flag SET active = false WHERE project_id = $1', [acme.projectId]);
    expect(await change(inner, { deleted: true })).toMatchObject({ status: 200 });
  });
});

describe('very deep and very large cohort filters', () => {
  const nested = (levels: number): unknown => (levels === 0 ? plan : { type: 'AND', values: [nested(levels - 1)] });

  test('accepts 40 levels of filters and returns 400 for 64 levels', async () => {
    expect(await create({ filters: { properties: nested(64) } })).toMatchObject({
      status: 400,
      body: { code: 'parse_error' },
    });
    expect(await create({ filters: { properties: nested(40) } })).toMatchObject({ status: 201 });
  });

  test('accepts filters of 1 MB and returns 413 for larger ones', async () => {
    const filters = tree({ ...plan, value: ['x'.repeat(1_000_000)] });
    const { status } = await create({ filters });
    expect(status).toBe(201);
    expect(await create({ filters: tree({ ...plan, value: ['x'.repeat(1_100_000)] }) })).toMatchObject({ status: 413 });
  });
});
