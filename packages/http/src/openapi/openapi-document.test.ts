import { type TObject, type TSchema, Type } from 'typebox';
import { createRouteDefiner } from '../route/route.ts';
import { toyRoutes } from '../testing/toy-routes.ts';
import { createOpenApiDocument } from './openapi-document.ts';

const info = {
  title: 'Things',
  version: '1',
  description: 'Of all kinds.',
  contact: { name: 'Somebody' },
  tags: { things: 'All of them.' },
};
const document = createOpenApiDocument(toyRoutes({ calls: 0, last: undefined }), info);

test('lists each route as an operation under its path with a trailing slash', () => {
  expect(document.openapi).toBe('3.1.0');
  expect(Object.entries(document.paths).map(([path, methods]) => [path, Object.keys(methods)])).toEqual([
    ['/api/things/', ['post', 'get']],
    ['/api/things/{id}/', ['get', 'delete']],
    ['/api/things/{id}/paint/', ['post', 'description']],
    ['/api/things/{id}/copy/', ['get', 'description']],
  ]);
  expect(document.paths['/api/things/{id}/paint/']?.description).toBe(
    'DELETE always returns 405. Refused with an empty body.',
  );
  expect(document.tags).toEqual([{ name: 'things', description: 'All of them.' }]);
});

test("describes an operation's scope, parameters, body and responses", () => {
  const list = document.paths['/api/things/']?.get as Record<string, unknown>;
  expect(list).toMatchObject({ operationId: 'things_list', 'x-required-scopes': ['project:read'] });
  expect(list).not.toHaveProperty('security');
  expect(document.security).toEqual([{ personalApiKey: [] }]);
  const withSessions = createOpenApiDocument([], { ...info, sessionCookie: 'session_of_toys' });
  expect(withSessions.security).toEqual([{ personalApiKey: [] }, { session: [] }]);
  expect(withSessions.components.securitySchemes).toMatchObject({ session: { in: 'cookie', name: 'session_of_toys' } });
  expect(list.parameters).toContainEqual(
    expect.objectContaining({
      name: 'limit',
      in: 'query',
      required: false,
      schema: expect.objectContaining({ default: 100 }),
    }),
  );
  expect(Object.keys(list.responses as object)).toEqual([
    '200',
    '400',
    '401',
    '403',
    '406',
    '429',
    '431',
    '500',
    '503',
  ]);
  const create = document.paths['/api/things/']?.post as Record<string, unknown>;
  expect(create.requestBody).toMatchObject({
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
  });
  const paint = document.paths['/api/things/{id}/paint/']?.post as { requestBody: { required: boolean } };
  expect([create.requestBody, paint.requestBody].map((body) => (body as { required: boolean }).required)).toEqual([
    true,
    false,
  ]);
  expect(document.components.examples.Thing).toEqual({ value: { name: 'x' } });
  const read = document.paths['/api/things/{id}/']?.get as Record<string, unknown>;
  expect(read.security).toEqual([]);
  expect(read.parameters).toEqual([
    { name: 'id', in: 'path', required: true, description: 'id', schema: { type: 'string', pattern: '^[a-z-]+$' } },
  ]);
});

const route = (path: string, given: { schema?: TSchema; query?: TObject; example?: unknown; tag?: string }) =>
  createRouteDefiner<null>().defineRoute({
    method: 'GET',
    path,
    operationId: path.replaceAll('/', '_'),
    summary: 's',
    description: 'd',
    tags: [given.tag ?? 'things'],
    scope: 'public',
    query: given.query ?? Type.Object({}),
    responses: { 200: { description: 'd', schema: given.schema ?? Type.Unknown() } },
    examples: { response: given.example },
    handler: async () => ({}),
  });
const operationOf = (made: typeof document, path: string) =>
  made.paths[path]?.get as { parameters: unknown[]; responses: Record<string, unknown> };

test('adds titled schemas as components, and rejects two different schemas with the same title', () => {
  const owner = Type.Object({ id: Type.Integer() }, { title: 'Owner' });
  const pageOfOwners = () => Type.Object({ owner }, { title: 'Page' });
  const shared = createOpenApiDocument(
    [route('/api/a', { schema: pageOfOwners() }), route('/api/b', { schema: pageOfOwners() })],
    info,
  );
  expect(shared.components.schemas.Owner).toEqual({
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'integer' } },
    title: 'Owner',
  });
  expect(JSON.stringify(shared.components.schemas.Page)).toContain('"$ref":"#/components/schemas/Owner"');
  expect(JSON.stringify(shared.paths).match(/"\$ref":"#\/components\/schemas\/Page"/g)).toHaveLength(2);
  const other = Type.Object({ x: Type.Integer() }, { title: 'Owner' });
  expect(() =>
    createOpenApiDocument([route('/api/a', { schema: owner }), route('/api/b', { schema: other })], info),
  ).toThrow('Owner');
});

test('includes shared error responses, parameters and examples only once', () => {
  const owner = Type.Object({ id: Type.Integer() }, { title: 'Owner' });
  const id = (description: string) => Type.Object({ id: Type.Optional(Type.Integer({ description })) });
  const made = createOpenApiDocument(
    [
      route('/api/a', { schema: owner, query: id('Of one.'), example: { id: 1 } }),
      route('/api/b', { schema: owner, query: id('Of one.'), example: { id: 1 } }),
      route('/api/c', { schema: owner, query: id('Of one.'), example: { id: 2 } }),
      route('/api/d', { query: id('Of another.'), tag: 'other things' }),
      route('/api/e', { query: id('Of another.'), tag: 'other things' }),
      route('/api/f', { query: id('Of a third.') }),
    ],
    info,
  );
  const parameters = ['a', 'b', 'd', 'e'].map((name) => operationOf(made, `/api/${name}/`).parameters);
  expect(parameters).toEqual(
    ['id', 'id', 'other_things.id', 'other_things.id'].map((name) => [{ $ref: `#/components/parameters/${name}` }]),
  );
  expect(operationOf(made, '/api/f/').parameters).toEqual([expect.objectContaining({ description: 'Of a third.' })]);
  expect(operationOf(made, '/api/a/').responses).toMatchObject({
    200: { content: { 'application/json': { examples: { default: { $ref: '#/components/examples/Owner' } } } } },
    429: { $ref: '#/components/responses/rate_limited' },
  });
  expect(made.components.examples).toEqual({ Owner: { value: { id: 1 } } });
  expect(operationOf(made, '/api/c/').responses).toMatchObject({
    200: { content: { 'application/json': { example: { id: 2 } } } },
  });
});
