import { declaredRoutes } from '../../testing/declared-routes.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

test('serves the OpenAPI 3.1 document with every route, to all callers', async () => {
  const { status, body } = await api.get('/api/schema/');
  expect([status, body.openapi]).toEqual([200, '3.1.0']);
  const paths = declaredRoutes().map((route) => `${route.path.replace(/:(\w+)/g, '{$1}')}/`);
  expect(Object.keys(body.paths)).toEqual([...new Set(paths)]);
  expect(paths).toContain('/api/projects/{project_id}/events/');
});

test('every reference in the OpenAPI document resolves', async () => {
  const { body } = await api.get('/api/schema');
  const references = [...JSON.stringify(body).matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)];
  expect(references.length).toBeGreaterThan(2000);
  for (const [, kind = '', name = ''] of references) expect(Object.keys(body.components[kind])).toContain(name);
});

test('the OpenAPI document declares item types, a success response for each operation, and 64-bit offsets', async () => {
  const { paths, components } = (await api.get('/api/schema')).body;
  const listsOfNothing: string[] = [];
  const look = (value: unknown, at: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const { type, items } = value as { type?: unknown; items?: unknown };
    if ([type].flat().includes('array') && items === undefined) listsOfNothing.push(at);
    for (const [name, part] of Object.entries(value)) look(part, `${at}/${name}`);
  };
  look({ paths, schemas: components.schemas }, '');
  expect(listsOfNothing).toEqual([]);

  const operations = Object.values(paths)
    .flatMap((path) => Object.values(path as object))
    .filter((one) => one.responses);
  expect(operations.length).toBeGreaterThan(200);
  const hopeless = operations.filter(
    ({ responses }) => !Object.keys(responses).some((status) => status.startsWith('2')),
  );
  expect(hopeless.map(({ operationId }) => operationId)).toEqual([]);
  const parameters = operations.flatMap((operation) => operation.parameters ?? []);
  const offsets = [...parameters, ...Object.values<{ name: string; schema: unknown }>(components.parameters)].filter(
    ({ name }) => name === 'offset',
  );
  expect(offsets).not.toEqual([]);
  for (const { schema } of offsets) {
    expect(schema).toMatchObject({ format: 'int64', minimum: 0, maximum: expect.any(Number) });
  }
});

test('the OpenAPI document uses only features that client generators support', async () => {
  const { paths, components } = (await api.get('/api/schema')).body;
  const problems: string[] = [];
  const isOfAnyFields = (schema: { type?: string; properties?: object }) =>
    schema.type === 'object' && schema.properties === undefined;
  const look = (value: unknown, at: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const { type, const: only, allOf, anyOf } = value as Record<'type' | 'const' | 'allOf' | 'anyOf', unknown>;
    const isBranch = /\/(anyOf|oneOf)\/\d+$/.test(at);
    if (type === 'null' && !isBranch) problems.push(`${at} is null alone`);
    if (Array.isArray(type) && type.filter((name) => name !== 'null').length > 1)
      problems.push(`${at} has several types`);
    if (typeof only === 'boolean') problems.push(`${at} is a boolean constant`);
    if (Array.isArray(allOf)) problems.push(`${at} is put together by allOf`);
    if (Array.isArray(anyOf) && anyOf.length > 2 && anyOf.some(isOfAnyFields))
      problems.push(`${at} is no type in Java`);
    for (const [name, part] of Object.entries(value)) if (!/^examples?$/.test(name)) look(part, `${at}/${name}`);
  };
  look({ paths, schemas: components.schemas, parameters: components.parameters }, '');
  expect(problems).toEqual([]);

  // Names that differ only in case or punctuation would conflict in generated Go code.
  const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const schemas = Object.keys(components.schemas);
  const types = [components.schemas, components.responses, components.parameters].flatMap(Object.keys).map(plain);
  expect(types.filter((name, index) => types.indexOf(name) !== index)).toEqual([]);
  expect(schemas.filter((name) => /^New[A-Z]/.test(name))).toEqual([]);
  const cohort = paths['/api/projects/{project_id}/cohorts/'].post.requestBody.content;
  expect(cohort['multipart/form-data'].schema).toEqual(cohort['application/json'].schema);
  expect(cohort['application/json'].schema).toEqual({ $ref: expect.any(String) });
});

test('the root URL redirects browsers to the documentation, and returns 404 to other clients', async () => {
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const root = await fetch(`${api.url}/`, { headers: { accept } });
  expect([root.url, root.status]).toEqual([`${api.url}/api/docs`, 200]);
  expect(await root.text()).toContain('<html');
  for (const headers of [{ accept: '*/*' }, { accept: 'application/json' }]) {
    expect(await api.send('GET', '/', { headers })).toMatchObject({
      status: 404,
      body: { detail: 'Endpoint not found.' },
    });
  }
  const elsewhere = await fetch(`${api.url}/somewhere`, { headers: { accept } });
  expect([elsewhere.status, await elsewhere.json()]).toMatchObject([404, { detail: 'Endpoint not found.' }]);
  const behindPath = await startTestApi({ publicUrl: 'https://example.com/millrace/' });
  const response = await fetch(`${behindPath.url}/`, { headers: { accept }, redirect: 'manual' });
  expect([response.status, response.headers.get('location')]).toEqual([302, 'https://example.com/millrace/api/docs']);
  await behindPath.stop();
});
