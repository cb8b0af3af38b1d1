import { AppError, createMetrics, type Logger } from '@millrace/runtime';
import { Type } from 'typebox';
import { createRequestListener } from '../mount/mount.ts';
import { startHttpServer } from '../server/serve.ts';
import { createRouteDefiner } from './route.ts';

const { basePath, defineRoutes } = createRouteDefiner<{ name: string }>();

const shelf = basePath({
  path: '/api/shelves/:shelf',
  operations: 'shelves_',
  params: Type.Object({ shelf: Type.String({ description: 'Its letter.' }) }),
  find: async ({ caller, params }) => ({ owner: caller.name, place: `shelf ${params.shelf}` }),
});
const box = basePath({
  path: '/api/boxes/:box',
  operations: '',
  params: Type.Object({ box: Type.Integer({ description: 'Its number.' }) }),
  find: async ({ caller, params }) => {
    if (params.box === 0) throw new AppError('not_found', 'No such box.');
    return { owner: caller.name, place: `box ${params.box}` };
  },
});

const common = { below: [shelf, box], method: 'GET', description: 'It.', scope: 'project:read' } as const;
const answer = {
  200: { description: 'Where it is.', schema: Type.Object({ text: Type.String() }, { title: 'Text' }) },
};
const routes = [
  ...defineRoutes({
    ...common,
    tags: ['things'],
    path: '/things/:id',
    operationId: 'things_retrieve',
    summary: 'Read a thing',
    params: Type.Object({ id: Type.Integer({ description: 'Its number.' }) }),
    responses: answer,
    handler: async ({ target: { owner, place }, params: { id } }) => ({ text: `${owner}: ${id + 1} in ${place}` }),
  }),
  ...defineRoutes({
    ...common,
    tags: ['things'],
    path: '/lid',
    operationId: 'lid_retrieve',
    summary: 'Read its lid',
    responses: answer,
    target: async ({ found }) => ({ lid: `lid of ${found.place}` }),
    handler: async ({ target: { lid } }) => ({ text: lid }),
  }),
];

test('creates a route for each base path, with its own operation id and parameters', () => {
  expect(routes.map(({ path, operationId, params }) => [path, operationId, Object.keys(params.properties)])).toEqual([
    ['/api/shelves/:shelf/things/:id', 'shelves_things_retrieve', ['shelf', 'id']],
    ['/api/boxes/:box/things/:id', 'things_retrieve', ['box', 'id']],
    ['/api/shelves/:shelf/lid', 'shelves_lid_retrieve', ['shelf']],
    ['/api/boxes/:box/lid', 'lid_retrieve', ['box']],
  ]);
});

test.each([
  ['/api/shelves/a/things/1', 200, { text: 'Ann: 2 in shelf a' }],
  ['/api/boxes/7/things/1/', 200, { text: 'Ann: 2 in box 7' }],
  ['/api/shelves/a/lid', 200, { text: 'lid of shelf a' }],
  ['/api/boxes/7/lid', 200, { text: 'lid of box 7' }],
  ['/api/boxes/0/lid', 404, { detail: 'No such box.' }],
  ['/api/boxes/a/lid', 404, { detail: 'Not found.' }],
])('%s returns the record of its base path', async (path, status, body) => {
  const listener = createRequestListener(routes, {
    access: { authenticate: async () => ({ name: 'Ann' }), authorize: () => {} },
    logger: { log: () => {} } as unknown as Logger,
    metrics: createMetrics({ withProcessMetrics: false }),
    checkResponses: true,
  });
  const server = await startHttpServer(listener, {
    port: 0,
    host: '127.0.0.1',
    setting: 'API_PORT',
    drainTimeoutMs: 1000,
  });
  try {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    expect([response.status, await response.json()]).toEqual([status, expect.objectContaining(body)]);
  } finally {
    await server.stop();
  }
});
