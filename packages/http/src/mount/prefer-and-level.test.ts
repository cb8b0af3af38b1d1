import { allToyScopes, startToyApi, type ToyApi } from '../testing/toy-api.ts';

let api: ToyApi;
beforeAll(async () => {
  api = await startToyApi();
});
afterAll(() => api.stop());

const send = (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
  fetch(api.url + path, { method, headers: { ...allToyScopes, ...headers }, ...(body !== undefined && { body }) });

describe('an action without a response body', () => {
  test('an action without a response body returns 200 with an empty body', async () => {
    const response = await send('POST', '/api/things/long-enough/paint/');
    expect([response.status, response.headers.get('content-length'), response.headers.get('content-type')]).toEqual([
      200,
      '0',
      null,
    ]);
    expect(response.headers.get('preference-applied')).toBeNull();
    expect(await response.text()).toBe('');
  });

  test.each(['return=representation', 'Return = "representation"', 'respond-async, return=representation; x=1'])(
    'Prefer: %s returns the record',
    async (prefer) => {
      const response = await send('POST', '/api/things/long-enough/paint', { prefer });
      expect(response.headers.get('preference-applied')).toBe('return=representation');
      expect(await response.json()).toEqual({ name: 'blue' });
    },
  );

  test.each(['return=minimal', 'representation', 'return=representations'])(
    'Prefer: %s returns an empty body',
    async (prefer) => {
      const response = await send('POST', '/api/things/long-enough/paint', { prefer });
      expect([response.status, await response.text()]).toEqual([200, '']);
    },
  );
});

describe('a route with a membership level', () => {
  test("returns 403 before the body is read if the caller's level is too low", async () => {
    const json = { 'content-type': 'application/json' };
    const response = await send('POST', '/api/things/short/paint', json, '{broken');
    expect([response.status, await response.json()]).toEqual([403, expect.objectContaining({ detail: 'too low' })]);
    expect((await send('POST', '/api/things/long-enough/paint', json, '{broken')).status).toBe(400);
  });
});

test('returns 429 after checking key and scope and before calling the handler', async () => {
  const before = api.record.calls;
  const often = { authorization: 'project:write often' };
  const response = await send('POST', '/api/things/long-enough/paint', often);
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '2']);
  expect(await response.json()).toEqual({ type: 'throttled_error', code: 'throttled', detail: 'Slower.', attr: null });
  expect(api.record.calls).toBe(before);
  expect((await send('POST', '/api/things/long-enough/paint', { authorization: 'often' })).status).toBe(403);
});

test('sends an empty 405 from a route declared as 405, only to authenticated callers, and omits it from Allow', async () => {
  const response = await send('DELETE', '/api/things/x/paint/');
  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([405, null, '']);
  expect(response.headers.get('allow')).toBe('POST, OPTIONS');
  expect((await send('DELETE', '/api/things/x/paint/', { authorization: 'project:read' })).status).toBe(403);
});

test('returns the declared body of a route that always returns 400', async () => {
  const response = await send('POST', '/api/things/x/copy/');
  expect([response.status, await response.json()]).toEqual([400, { success: false }]);
});

test('rejects HEAD for a GET route that has side effects', async () => {
  const before = api.record.calls;
  const head = await send('HEAD', '/api/things/x/copy/');
  expect([head.status, head.headers.get('allow')]).toEqual([405, 'GET, POST, OPTIONS']);
  expect(api.record.calls).toBe(before);
  expect((await send('GET', '/api/things/x/copy/')).status).toBe(200);
  expect(api.record.calls).toBe(before + 1);
});

test('parses the body of a form request like a JSON body', async () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const response = await send('POST', '/api/things', form, 'name=a%20b&size=3');
  expect([response.status, await response.json()]).toEqual([201, { name: 'a b', size: 3 }]);
});
