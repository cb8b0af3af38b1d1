import { declaredRoutes } from '../../testing/declared-routes.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

test('anybody may read the document, which is OpenAPI 3.1 and knows every route', async () => {
  const { status, body } = await api.get('/api/schema/');
  expect([status, body.openapi]).toEqual([200, '3.1.0']);
  const paths = declaredRoutes().map((route) => `${route.path.replace(/:(\w+)/g, '{$1}')}/`);
  expect(Object.keys(body.paths)).toEqual([...new Set(paths)]);
  expect(paths).toContain('/api/projects/{project_id}/events/');
});

test('every reference in it leads somewhere', async () => {
  const { body } = await api.get('/api/schema');
  const references = [...JSON.stringify(body).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
  expect(references.length).toBeGreaterThan(20);
  for (const [, name] of references) expect(body.components.schemas).toHaveProperty(name ?? '');
});
