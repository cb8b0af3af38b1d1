/** Tests cases variable-001 to variable-012: variables of SQL queries, and their values in queries and dashboards. */

import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

let api: TestApi;
let own: TestTenant;
let path: string;
beforeAll(async () => {
  api = await startTestApi();
  own = await createTestTenant(api.database);
  path = `/api/projects/${own.projectId}/`;
});
afterAll(() => api.stop());

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
const send = (method: Method, below: string, body?: object) =>
  api.send(method, `${path}${below}`, { key: own.personalApiKey, ...(body && { body }) });
const create = (body: object) => send('POST', 'insight_variables/', body);
const created = async (body: object) => {
  const { status, body: variable } = await create(body);
  expect([status, variable.detail]).toEqual([201, undefined]);
  return variable;
};
const run = (query: object, more: object = {}) =>
  send('POST', 'query/', { query: { kind: 'HogQLQuery', ...query }, ...more });

test('variable-001: creates a variable and derives the code name from its name', async () => {
  const variable = await created({ name: 'Min. Order Value (€)', type: 'Number', default_value: 5 });
  expect(variable).toEqual({
    id: expect.any(String),
    name: 'Min. Order Value (€)',
    type: 'Number',
    default_value: 5,
    values: null,
    code_name: 'min_order_value_',
    created_by: own.userId,
    created_at: expect.any(String),
  });
  expect(await send('GET', `insight_variables/${variable.id}/`)).toMatchObject({ status: 200, body: variable });
  const { body } = await api.get(`/api/environments/${own.projectId}/insight_variables/?page=1`, own.personalApiKey);
  expect(body).toMatchObject({ count: 1, next: null, previous: null, results: [{ id: variable.id }] });
  expect(await send('GET', 'insight_variables/?page=2')).toMatchObject({ status: 404 });
});

test.each([
  ['variable-002: without a name', { type: 'String' }, 'name'],
  ['variable-002: with a name without letters and digits', { name: '- -', type: 'String' }, 'name'],
  ['variable-002: with an unknown type', { name: 'a', type: 'Text' }, 'type'],
  [
    'variable-003: with a default value of another type',
    { name: 'a', type: 'Number', default_value: '5' },
    'default_value',
  ],
  [
    'variable-003: with a default value that is not a date',
    { name: 'a', type: 'Date', default_value: 'soon' },
    'default_value',
  ],
  [
    'variable-003: with a default value that is not in the list',
    { name: 'a', type: 'List', values: ['x'], default_value: 'y' },
    'default_value',
  ],
  ['variable-004: with the type List and no values', { name: 'a', type: 'List' }, 'values'],
  ['variable-004: with values although the type is not List', { name: 'a', type: 'String', values: ['x'] }, 'values'],
] as const)('returns 400 for a variable: %s', async (_, body, attr) => {
  expect(await create(body)).toMatchObject({ status: 400, body: { attr } });
});

test('variable-005: returns 400 for a second variable with the same code name', async () => {
  await created({ name: 'Same name', type: 'String' });
  const { status, body } = await create({ name: 'same NAME', type: 'Number' });
  expect([status, body.detail]).toEqual([400, 'Variable with name already exists']);
});

test('variable-006: changes and deletes a variable, keeps its code name and records the activity', async () => {
  const { id } = await created({ name: 'First', type: 'String', default_value: 'a' });
  const changed = await send('PATCH', `insight_variables/${id}/`, { name: 'Second', default_value: 'b' });
  expect(changed).toMatchObject({ status: 200, body: { name: 'Second', code_name: 'first', default_value: 'b' } });
  const replaced = await send('PUT', `insight_variables/${id}/`, {
    name: 'Third',
    type: 'Boolean',
    default_value: true,
  });
  expect(replaced).toMatchObject({ status: 200, body: { type: 'Boolean', default_value: true } });
  const mismatch = await send('PATCH', `insight_variables/${id}/`, { type: 'Number' });
  expect(mismatch).toMatchObject({ status: 400, body: { attr: 'default_value' } });
  expect((await send('DELETE', `insight_variables/${id}/`)).status).toBe(204);
  expect((await send('GET', `insight_variables/${id}/`)).status).toBe(404);
  const { body } = await send('GET', `activity_log/?scope=InsightVariable&item_id=${id}`);
  expect(body.results.map(({ activity }: { activity: string }) => activity)).toEqual([
    'deleted',
    'updated',
    'updated',
    'created',
  ]);
});

test("variable-007: runs a query with the variable's value from the query, its default value, or null", async () => {
  const { id } = await created({ name: 'Price', type: 'Number', default_value: 5 });
  const of = (more: object) => ({
    query: 'SELECT {variables.price} AS n',
    variables: { [id]: { variableId: id, code_name: 'price', ...more } },
  });
  const resultsOf = async (query: object) => (await run(query)).body.results;
  expect(await resultsOf({ query: 'SELECT {variables.price} AS n' })).toEqual([[5]]);
  expect(await resultsOf(of({}))).toEqual([[5]]);
  expect(await resultsOf(of({ value: 7 }))).toEqual([[7]]);
  expect(await resultsOf(of({ value: 7, isNull: true }))).toEqual([[null]]);
  const { status, body } = await run(of({ value: "7' OR 1 = 1" }));
  expect([status, body.detail]).toEqual([
    400,
    `variables.${id}.value: price is of the type Number. Expected a number.`,
  ]);
});

test('variable-008: uses a new default value immediately, although a result with the old value is cached', async () => {
  const { id } = await created({ name: 'Cached', type: 'String', default_value: 'old' });
  const query = { query: 'SELECT {variables.cached} AS x' };
  expect((await run(query)).body).toMatchObject({ results: [['old']], is_cached: false });
  expect((await run(query)).body).toMatchObject({ results: [['old']], is_cached: true });
  await send('PATCH', `insight_variables/${id}/`, { default_value: 'new' });
  expect((await run(query)).body).toMatchObject({ results: [['new']], is_cached: false });
});

test.each([
  ['variable-009: that does not exist', {}, 'Variable nope is missing from query'],
  [
    'variable-009: that does not exist but has a similar name',
    { query: 'SELECT {variables.similr}' },
    'Variable similr is missing from query. Did you mean: similar?',
  ],
  [
    'variable-010: that is only defined in the query',
    { variables: { x: { code_name: 'nope', value: 1 } } },
    'Variable nope does not exist. Create it with insight_variables/.',
  ],
])('returns 400 and names a variable %s', async (_, more, detail) => {
  await create({ name: 'Similar', type: 'String' });
  const { status, body } = await run({ query: 'SELECT {variables.nope}', ...more });
  expect([status, body.code, body.detail]).toEqual([400, 'hogql_query_error', detail]);
});

test('variable-011: replaces the values in a query with those in variables_override', async () => {
  const { id } = await created({ name: 'Replaced', type: 'List', values: ['a', 'b', 3], default_value: 'a' });
  const query = {
    query: 'SELECT {variables.replaced} AS x',
    variables: { [id]: { variableId: id, code_name: 'replaced', value: 'b' } },
  };
  const override = (value: unknown) => ({ variables_override: { other: { code_name: 'replaced', value } } });
  expect((await run(query, override(3))).body.results).toEqual([[3]]);
  expect((await run(query, override('z'))).body).toMatchObject({ code: 'invalid_input', attr: 'query' });
});

test('variable-012: does not read or use variables of another project', async () => {
  const { id } = await created({ name: 'Mine', type: 'String', default_value: 'secret' });
  const { projectId, personalApiKey: key } = await createTestTenant(api.database);
  const other = `/api/projects/${projectId}/`;
  expect((await api.get(`${other}insight_variables/${id}/`, key)).status).toBe(404);
  expect((await api.get(`${other}insight_variables/`, key)).body.count).toBe(0);
  const query = { kind: 'HogQLQuery', query: 'SELECT {variables.mine}' };
  expect((await api.send('POST', `${other}query/`, { key, body: { query } })).status).toBe(400);
});

test('returns 400 for SQL with `explain`, because the query plan would reveal internal tables', async () => {
  const { status, body } = await run({ query: 'SELECT 1', explain: true });
  expect([status, body.detail]).toEqual([400, 'explain: Only false is supported here.']);
  expect((await run({ query: 'SELECT 1', explain: false })).status).toBe(200);
});
