import { Type } from 'typebox';
import { routeDefiner } from '../route/define-route.ts';
import { toyRoutes } from '../testing/toy-routes.ts';
import { openApiDocument } from './openapi-document.ts';

const info = { title: 'Things', version: '1', description: 'Of all kinds.' };
const document = openApiDocument(toyRoutes({ calls: 0, last: undefined }), info);

test('each route is an operation under its path with a trailing slash', () => {
  expect(document.openapi).toBe('3.1.0');
  expect(Object.entries(document.paths).map(([path, methods]) => [path, Object.keys(methods)])).toEqual([
    ['/api/things/', ['post', 'get']],
    ['/api/things/{id}/', ['get', 'delete']],
    ['/api/things/{id}/paint/', ['post', 'delete']],
    ['/api/things/{id}/copy/', ['get', 'post']],
  ]);
});

test('scope, parameters, body and answers are told', () => {
  const list = document.paths['/api/things/']?.get as Record<string, unknown>;
  expect(list).toMatchObject({ operationId: 'things_list', security: [{ personalApiKey: ['project:read'] }] });
  expect(list.parameters).toContainEqual(
    expect.objectContaining({
      name: 'limit',
      in: 'query',
      required: false,
      schema: expect.objectContaining({ default: 100 }),
    }),
  );
  expect(Object.keys(list.responses as object)).toEqual(['200', '400', '401', '403', '406', '429', '500', '503']);
  const create = document.paths['/api/things/']?.post as Record<string, unknown>;
  expect(create.requestBody).toMatchObject({ content: { 'application/json': { example: { name: 'x' } } } });
  const read = document.paths['/api/things/{id}/']?.get as Record<string, unknown>;
  expect(read.security).toEqual([]);
  expect(read.parameters).toEqual([
    { name: 'id', in: 'path', required: true, description: 'id', schema: { type: 'string', pattern: '^[a-z-]+$' } },
  ]);
});

test('titled objects become components; one title cannot mean two', () => {
  const route = (path: string, schema: ReturnType<typeof Type.Object>) =>
    routeDefiner<null>()({
      method: 'GET',
      path,
      operationId: path.replaceAll('/', '_'),
      summary: 's',
      description: 'd',
      tags: ['t'],
      scope: 'public',
      responses: { 200: { description: 'd', schema } },
      handler: async () => ({}),
    });
  const owner = Type.Object({ id: Type.Integer() }, { title: 'Owner' });
  const shared = openApiDocument([route('/api/a', Type.Object({ owner })), route('/api/b', owner)], info);
  expect(shared.components.schemas.Owner).toEqual({
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'integer' } },
    title: 'Owner',
  });
  expect(JSON.stringify(shared.paths)).toContain('"$ref":"#/components/schemas/Owner"');
  const other = Type.Object({ x: Type.Integer() }, { title: 'Owner' });
  expect(() => openApiDocument([route('/api/a', owner), route('/api/b', other)], info)).toThrow('Owner');
});
