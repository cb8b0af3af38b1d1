import { createConfig, lintFromString } from '@redocly/openapi-core';
import { declaredRoutes } from '../../testing/declared-routes.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

test('the OpenAPI document passes the linter', async () => {
  const { body } = await api.get('/api/schema/');
  const config = await createConfig({
    extends: ['recommended'],
    rules: {
      // PostHog's paths end in a slash. Millrace accepts paths with and without a slash at the end.
      'no-path-trailing-slash': 'off',
    },
  });
  const problems = await lintFromString({ source: JSON.stringify(body), config });
  expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual([]);
});

test('the documentation page contains every operation and loads no other resources', async () => {
  const response = await fetch(`${api.url}/api/docs/`);
  const page = await response.text();
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
  for (const { operationId } of declaredRoutes()) expect(page).toContain(`id="${operationId}"`);
  expect(page).not.toMatch(/<script|src=|https?:\/\/(?!example|hooks)/);
});
