import { randomUUID } from 'node:crypto';
import { AppError } from '@millrace/runtime';
import { allToyScopes, startToyApi, type ToyApi } from '../testing/toy-api.ts';

let api: ToyApi;
beforeAll(async () => {
  api = await startToyApi();
});
afterAll(() => api.stop());

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(api.url + path, { method, headers, redirect: 'manual' });
const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  fetch(`${api.url}/api/things/`, {
    method: 'POST',
    headers: { ...allToyScopes, 'content-type': 'application/json', ...headers },
    body,
  });
const bodyOf = async (response: Response) => (await response.json()) as Record<string, unknown>;
const error = (type: string, code: string, detail: string, attr: string | null = null) => ({
  type,
  code,
  detail,
  attr,
});

describe('request paths', () => {
  test.each(['/api/things', '/api/things/'])('%s responds without a redirect', async (path) => {
    const response = await get(path, allToyScopes);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
  });

  test.each(['/api/thing', '/api/', '/', '/API/THINGS/x/y', '/api/things//', '/api/things/x/y/z'])(
    'request-015: %s returns 404 without authentication',
    async (path) => {
      const response = await get(path);
      expect(response.status).toBe(404);
      expect(await response.json()).toEqual(error('invalid_request', 'not_found', 'Endpoint not found.'));
    },
  );

  test('returns 400 for a path that is not valid UTF-8', async () => {
    const response = await get('/api/things/%ff');
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ type: 'invalid_request', code: 'parse_error' });
  });

  test.each(['/api/things/1', '/api/things/a%00b', '/api/things/%F0%9F%92%A9'])(
    'returns 404 for a parameter with the wrong format: %s',
    async (path) => {
      const response = await get(path);
      expect(response.status).toBe(404);
      expect(await response.json()).toEqual(error('invalid_request', 'not_found', 'Not found.'));
    },
  );
});

describe('request methods', () => {
  test('request-012: returns 405 for an unsupported method, with the supported methods in Allow', async () => {
    const response = await get('/api/things/', allToyScopes, 'PUT');
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST, GET, HEAD, OPTIONS');
    expect(await response.json()).toEqual(error('invalid_request', 'method_not_allowed', 'Method "PUT" not allowed.'));
  });

  test('returns 401 without credentials, even for an unsupported method', async () => {
    expect((await get('/api/things/', {}, 'PUT')).status).toBe(401);
  });

  test('returns the methods for OPTIONS, and the headers of GET for HEAD', async () => {
    const options = await get('/api/things/', allToyScopes, 'OPTIONS');
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'POST, GET, HEAD, OPTIONS']);
    const head = await get('/api/things/', allToyScopes, 'HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(0);
  });

  test('sends no content headers with a response that has no body', async () => {
    const response = await get('/api/things/1', allToyScopes, 'DELETE');
    expect([response.status, await response.text(), response.headers.get('content-type')]).toEqual([204, '', null]);
  });
});

describe('order of request checks', () => {
  const broken = { body: '{', headers: { 'content-type': 'application/json' } };

  test('authenticates first, then authorizes, then validates the request', async () => {
    const url = `${api.url}/api/things/`;
    const anonymous = await fetch(url, { method: 'POST', ...broken });
    expect(anonymous.status).toBe(401);
    expect(anonymous.headers.get('www-authenticate')).toBeNull();
    const reader = await fetch(url, {
      method: 'POST',
      body: '{',
      headers: { ...broken.headers, authorization: 'project:read' },
    });
    expect(reader.status).toBe(403);
    expect((await post('{')).status).toBe(400);
  });

  test.each([
    ['text/html', 406],
    ['application/json;q=0', 406],
    ['application/xml, text/html;q=0.5', 406],
    ['text/html, */*;q=0.1', 200],
    ['application/*', 200],
    ['APPLICATION/JSON; q=0.2', 200],
  ])('Accept: %s returns %i', async (accept, status) => {
    const response = await get('/api/things/', { ...allToyScopes, accept });
    expect(response.status).toBe(status);
    if (status === 406) {
      expect(await response.json()).toEqual(
        error('invalid_request', 'not_acceptable', 'Could not satisfy the request Accept header.'),
      );
    }
  });
});

describe('request bodies', () => {
  test("returns 400 with the route's message for a rejected field, unless its value has no effect", async () => {
    const refused = await post(JSON.stringify({ name: 'a', shape: 'round' }));
    expect(refused.status).toBe(400);
    expect(await refused.json()).toEqual(
      error('validation_error', 'unsupported_field', 'Things have no shape. Leave `shape` out.', 'shape'),
    );
    for (const shape of [null, 'any']) expect((await post(JSON.stringify({ name: 'a', shape }))).status).toBe(201);
  });

  test('passes the parsed fields to the handler and drops undeclared fields', async () => {
    const response = await post(JSON.stringify({ name: ' ab ', size: '8', color: 'red', id: 7, unknown: [1] }));
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ name: 'ab', size: 8, color: 'red' });
  });

  test.each([
    ['request-009', '{"name": }', 400, 'invalid_request', 'parse_error', null],
    ['request-009', '\ufeff\u0000', 400, 'invalid_request', 'parse_error', null],
    ['request-011', '[]', 400, 'validation_error', 'invalid_input', null],
    ['', 'null', 400, 'validation_error', 'null', null],
    ['an empty body is {}', '', 400, 'validation_error', 'required', 'name'],
    ['request-014', '{"size":99,"name":"toolong"}', 400, 'validation_error', 'max_length', 'name'],
    [
      'NUL',
      '{"name":"a","target":{"type":"x\\u0000"}}',
      400,
      'validation_error',
      'null_characters_not_allowed',
      'target__type',
    ],
    [
      'NUL key',
      '{"name":"a","target":{"\\u0000":1}}',
      400,
      'validation_error',
      'null_characters_not_allowed',
      'target',
    ],
    [
      'a lone surrogate',
      '{"name":"a","target":{"type":"x\\ud800y"}}',
      400,
      'validation_error',
      'surrogate_characters_not_allowed',
      'target__type',
    ],
    [
      'a lone surrogate in a key',
      '{"name":"a","target":{"\\udc00":1}}',
      400,
      'validation_error',
      'surrogate_characters_not_allowed',
      'target',
    ],
    ['nesting', `${'['.repeat(4000)}${']'.repeat(4000)}`, 400, 'invalid_request', 'parse_error', null],
    ['too large', `"${'x'.repeat(20_000)}"`, 413, 'client_error', 'request_too_large', null],
  ])('%s %#: rejects an invalid body and names the field', async (_case, body, status, type, code, attr) => {
    const response = await post(body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ type, code, attr });
  });

  test('reports the position of a JSON syntax error', async () => {
    expect((await bodyOf(await post('{"name": }'))).detail).toMatch(/^JSON parse error - /);
  });

  test('rejects invalid UTF-8', async () => {
    const response = await post(new Uint8Array([0x22, 0xff, 0x22]));
    expect([response.status, (await bodyOf(response)).code]).toEqual([400, 'parse_error']);
  });

  test.each(['application/xml', 'text/plain', 'multipart/form-data; boundary=x', 'application/json; charset=utf-16'])(
    'request-010: returns 415 for a body of type %s',
    async (type) => {
      const response = await post('<a/>', { 'content-type': type });
      expect(response.status).toBe(415);
      const detail = `Unsupported media type "${type}" in request.`;
      expect(await response.json()).toEqual(error('invalid_request', 'unsupported_media_type', detail));
    },
  );

  test('returns 415 for an unknown content encoding', async () => {
    expect((await post('{}', { 'content-encoding': 'compress' })).status).toBe(415);
  });

  test('treats a field named __proto__ like any unknown field', async () => {
    const response = await post('{"__proto__":{"name":"evil"},"name":"a"}');
    expect([response.status, await response.json()]).toEqual([201, { name: 'a' }]);
    expect(Object.getPrototypeOf(api.record.last)).toBe(Object.prototype);
  });
});

describe('query parameters', () => {
  test('validates and converts query parameters by name', async () => {
    const bad = await get('/api/things/?since=yesterday', allToyScopes);
    expect(bad.status).toBe(400);
    expect(await bad.json()).toMatchObject({ code: 'invalid_input', attr: 'since' });
    await get('/api/things/?since=2022-01-01&text=%20x%20&limit=7&limit=3', allToyScopes);
    expect(api.record.last).toEqual({ since: '2022-01-01T00:00:00.000Z', text: ' x ', limit: 3, offset: 0 });
  });

  test('rejects a NUL character in a parameter', async () => {
    const bad = await get('/api/things/?text=a%00b', allToyScopes);
    expect(await bad.json()).toEqual(
      error('validation_error', 'null_characters_not_allowed', 'Null characters are not allowed.', 'text'),
    );
  });

  test.each([
    ['other=1', 'other'],
    ['Limit=2', 'Limit'],
    ['limit=2&is_identified=true', 'is_identified'],
    ['other=a%00b', 'other'],
    ['__proto__=1', '__proto__'],
    ['text[]=x', 'text[]'],
    ['format=csv', 'format'],
    ['format=', 'format'],
  ])('%s: rejects an unknown parameter and names it', async (query, attr) => {
    const response = await get(`/api/things/?${query}`, allToyScopes);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ type: 'validation_error', code: 'unknown_parameter', attr });
  });

  test('accepts a parameter without effect, does not pass it to the handler and keeps it in links', async () => {
    const response = await get('/api/things/?color=blue&limit=1', allToyScopes);
    expect(response.status).toBe(200);
    expect(api.record.last).toEqual({ limit: 1, offset: 0 });
    expect(((await response.json()) as { next: string }).next).toContain('color=blue');
  });

  test("returns 400 with the route's message for a rejected parameter", async () => {
    const response = await get('/api/things/?shape=round', allToyScopes);
    expect(await response.json()).toEqual(
      error('validation_error', 'unsupported_parameter', 'Things have no shape.', 'shape'),
    );
  });

  test('lists the supported parameters in the error for an unknown parameter, but only after checking the key and scope', async () => {
    const response = await get('/api/things/?other=1', allToyScopes);
    expect(((await response.json()) as { detail: string }).detail).toBe(
      'Unknown query parameter "other". Supported parameters: limit, offset, since, text.',
    );
    expect((await get('/api/things/?other=1')).status).toBe(401);
    expect((await get('/api/things/x/?other=1')).status).toBe(400);
  });

  test('accepts format=json on every route, because generated clients add it everywhere', async () => {
    expect((await get('/api/things/?format=json', allToyScopes)).status).toBe(200);
    expect((await get('/api/things/x/?format=json')).status).toBe(200);
  });
});

describe('errors and failed handlers', () => {
  test('reveals nothing about an unexpected error, and logs it once with its cause', async () => {
    api.log.length = 0;
    const response = await get('/api/things/bug', { 'x-request-id': 'trace-1' });
    expect(response.status).toBe(500);
    expect(response.headers.get('x-request-id')).toBe('trace-1');
    expect(await response.text()).toBe(
      '{"type":"server_error","code":"error","detail":"A server error occurred.","attr":null,"error_event_id":"trace-1"}',
    );
    expect(api.log).toHaveLength(1);
    const [line] = api.log;
    expect(line?.level).toBe('error');
    expect(line?.fields).toMatchObject({ requestId: 'trace-1', operation: 'things_retrieve', status: 500 });
    expect(line?.fields).toHaveProperty('error.cause.message', 'password=hunter2');
  });

  test('returns 503 for an unavailable dependency with whole seconds in Retry-After, and logs a warning', async () => {
    api.log.length = 0;
    const response = await get('/api/things/busy');
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await response.json()).toMatchObject({ type: 'server_error', code: 'unavailable', detail: 'Come back.' });
    expect(api.log.map((line) => line.level)).toEqual(['warn']);
  });

  test('does not log a rejected request', async () => {
    api.log.length = 0;
    await get('/api/things/');
    expect(api.log).toEqual([]);
  });

  test('returns 500 for a response that does not match its schema, if responses are checked', async () => {
    expect((await get('/api/things/lie')).status).toBe(500);
  });

  test("uses the service's translation of errors from other libraries", async () => {
    const other = await startToyApi({
      translateError: (cause) => (cause instanceof RangeError ? new AppError('conflict', 'Later.', { cause }) : null),
    });
    const response = await fetch(`${other.url}/api/things/known`);
    expect([response.status, (await bodyOf(response)).code]).toEqual([409, 'conflict']);
    expect((await fetch(`${other.url}/api/things/bug`)).status).toBe(500);
    await other.stop();
  });
});

describe('response headers and metrics', () => {
  test('sends the request ID, Vary and no-store with every response', async () => {
    const response = await get('/api/things/x');
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get('vary')).toBe('Accept, Authorization, Prefer');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('x-powered-by')).toBeNull();
    expect(response.headers.get('etag')).toBeNull();
  });

  test('replaces a request ID that could forge a log line', async () => {
    const response = await get('/api/things/x', { 'x-request-id': 'a b"{}' });
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('counts and times requests by operation and status class', async () => {
    const other = await startToyApi();
    await fetch(`${other.url}/api/things/x`);
    await fetch(`${other.url}/api/things/x/`);
    await fetch(`${other.url}/api/things/`);
    await fetch(`${other.url}/nowhere/${randomUUID()}`);
    await other.stop();
    const text = await other.metrics.registry.metrics();
    expect(text).toContain('millrace_http_request_seconds_count{operation="things_retrieve",status="2xx"} 2');
    expect(text).toContain('millrace_http_request_seconds_count{operation="things_list",status="4xx"} 1');
    expect(text).toContain('millrace_http_request_seconds_count{operation="unknown_path",status="4xx"} 1');
  });
});
