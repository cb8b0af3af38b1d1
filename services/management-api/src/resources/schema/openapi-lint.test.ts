import { createConfig, lintFromString } from '@redocly/openapi-core';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

test('the OpenAPI document has no problems a linter knows', async () => {
  const { body } = await api.get('/api/schema/');
  const config = await createConfig({
    extends: ['recommended'],
    rules: {
      // The address is that of whoever runs it, and the license is in `info`.
      'no-server-example.com': 'off',
      // The contract writes paths with it; both forms are served.
      'no-path-trailing-slash': 'off',
      // A tag is the plural of what it is about, which its operations describe.
      'tag-description': 'off',
      // Two paths of the contract differ in the name of a parameter only: /projects/{id}/ and /projects/{project_id}/….
      'no-ambiguous-paths': 'off',
      // Public routes and the document itself cannot fail with a 4xx of their own.
      'operation-4xx-response': 'off',
      // Row 22 of the contract is an operation that is always refused.
      'operation-2xx-response': 'off',
    },
  });
  const problems = await lintFromString({ source: JSON.stringify(body), config });
  expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual([]);
});

test('the page for people holds every operation and loads nothing', async () => {
  const response = await fetch(`${api.url}/api/docs/`);
  const page = await response.text();
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
  const { body } = await api.get('/api/schema/');
  for (const methods of Object.values<Record<string, { operationId: string }>>(body.paths)) {
    for (const { operationId } of Object.values(methods)) expect(page).toContain(`id="${operationId}"`);
  }
  expect(page).not.toMatch(/<script|src=|https?:\/\/(?!example|hooks)/);
});
