import { randomUUID } from 'node:crypto';
import { createTestTenant } from '@millrace/testing';
import { v1Batch, v1Event } from './testing/send-v1.ts';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from './testing/test-gateway.ts';
import { readTopics, type TopicReader } from './testing/topic-reader.ts';

/**
 * Tests the rows for events and probes in docs/wire-rules.md#paths: each path with and without a trailing slash, always
 * without a redirect. config/sdk-config-routes.kafka.test.ts tests all other rows, and capture/v1.kafka.test.ts tests
 * the responses of row 20.
 */
let fixture: GatewayFixture;
let gateway: TestGateway;
let reader: TopicReader;
const origin = 'https://app.example';

beforeAll(async () => {
  fixture = await createGatewayFixture();
  gateway = await fixture.startGateway();
  reader = await readTopics(fixture.log, [fixture.topics.live]);
});
afterAll(async () => {
  await reader.stop();
  await fixture.stop();
});

const newToken = async () => (await createTestTenant(fixture.database)).token;
const event = (name: string) => ({ event: name, distinct_id: 'u', uuid: randomUUID() });

async function ask(path: string, init: RequestInit = {}) {
  const headers = { origin, ...init.headers };
  const response = await fetch(gateway.url + path, { redirect: 'manual', ...init, headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const capturePaths: [string, string][] = [
  ['1', '/capture'],
  ['2', '/batch'],
  ['3', '/e'],
  ['3', '/i/v0/e'],
  ['4', '/track'],
  ['4', '/engage'],
  ['21', '/i/v0/ai'],
  ['21', '/i/v0/ai/batch'],
];
const withSlash = (rows: [string, string][]) =>
  rows.flatMap(([row, path]): [string, string][] => [
    [row, path],
    [row, `${path}/`],
  ]);

describe.each(withSlash(capturePaths))('the capture path in row %s: %s', (_row, path) => {
  test('accepts POST and returns 200 with a JSON object and CORS headers', async () => {
    const token = await newToken();
    const response = await ask(path, { method: 'POST', body: JSON.stringify({ api_key: token, ...event('posted') }) });
    expect([response.status, response.text]).toEqual([200, '{"status":"Ok"}']);
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    expect(await reader.events(token, 1)).toMatchObject([{ event: 'posted' }]);
  });

  test('row 5: accepts GET with the query parameter `data`', async () => {
    const token = await newToken();
    const data = Buffer.from(JSON.stringify({ api_key: token, ...event('pixel') })).toString('base64');
    expect(await ask(`${path}?data=${encodeURIComponent(data)}`)).toMatchObject({ status: 200 });
    expect(await reader.events(token, 1)).toMatchObject([{ event: 'pixel' }]);
  });

  test('drops an event without a name, except on /engage', async () => {
    const token = await newToken();
    const body = JSON.stringify({ api_key: token, batch: [{ distinct_id: 'u', properties: {} }, event('after')] });
    expect(await ask(path, { method: 'POST', body })).toMatchObject({ status: 200 });
    const names = path.startsWith('/engage') ? ['$identify', 'after'] : ['after'];
    expect((await reader.events(token, names.length)).map((stored) => stored.event)).toEqual(names);
  });

  test.each(['PUT', 'PATCH', 'DELETE', 'HEAD'])('returns 405 to %s, with the allowed methods', async (method) => {
    const response = await ask(path, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST, OPTIONS']);
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
  });
});

test.each(['//batch', '//batch/', '/batch//', '///i//v0///e/', '//e/?ver=1//2'])(
  'stores an event if the host setting ends with a slash: POST %s',
  async (path) => {
    const token = await newToken();
    const body = JSON.stringify({ api_key: token, batch: [event('posted')] });
    expect(await ask(path, { method: 'POST', body })).toMatchObject({ status: 200, text: '{"status":"Ok"}' });
    expect(await reader.events(token, 1)).toMatchObject([{ event: 'posted' }]);
  },
);

test.each(['//flags/?v=2', '//decide/?v=3', '//flags//'])(
  'serves flags if the host setting ends with a slash: POST %s',
  async (path) => {
    const body = JSON.stringify({ token: await newToken(), distinct_id: 'u' });
    expect(await ask(path, { method: 'POST', body })).toMatchObject({ status: 200 });
  },
);

test('accepts repeated slashes in other paths: remote config, a preflight and an unknown path', async () => {
  const token = await newToken();
  expect(await ask(`//array/${token}/config`)).toMatchObject({ status: 200 });
  expect(await ask('//batch/', { method: 'OPTIONS' })).toMatchObject({ status: 200 });
  expect(await ask('//nope//')).toMatchObject({ status: 404 });
});

const browserPaths: [string, string][] = [
  ...capturePaths,
  ['7', '/flags'],
  ['9', '/decide'],
  ['10', '/array/phc_any/config'],
  ['11', '/array/phc_any/config.js'],
  ['13', '/s'],
  ['14', '/api/surveys'],
  ['15', '/api/early_access_features'],
  ['16', '/api/web_experiments'],
  ['20', '/i/v1/analytics/events'],
];

test.each(withSlash(browserPaths))('rows 6 and %s: responds to OPTIONS %s', async (_row, path) => {
  const asked = 'content-type, traceparent, x-of-tomorrow';
  const response = await ask(path, {
    method: 'OPTIONS',
    headers: { 'access-control-request-method': 'POST', 'access-control-request-headers': asked },
  });
  expect(response.status).toBe(/^\/(?:flags|decide)/.test(path) ? 204 : 200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-allow-methods': 'GET,POST,OPTIONS',
    'access-control-allow-headers': asked,
  });
});

test.each(withSlash([['20', '/i/v1/analytics/events']]))('row %s: responds to POST %s', async (_row, path) => {
  const token = await newToken();
  const sent = v1Event();
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'test/1',
    'posthog-sdk-info': 'posthog-test/1.0.0',
    'posthog-attempt': '2',
    'posthog-request-id': randomUUID(),
    'posthog-request-timestamp': '2026-11-21T01:02:03.456789+01:00',
  };
  const response = await ask(path, { method: 'POST', headers, body: JSON.stringify(v1Batch(sent)) });
  expect([response.status, JSON.parse(response.text)]).toEqual([200, { results: { [sent.uuid]: { result: 'ok' } } }]);
});

const servedPaths: [string, string, string, unknown][] = [
  ['10', 'GET', '/array/<token>/config', { hasFeatureFlags: false, supportedCompression: ['gzip', 'gzip-js'] }],
  ['11', 'GET', '/array/<token>/config.js', null],
  ['13', 'POST', '/s', { status: 'Ok', quota_limited: ['recordings'] }],
  ['14', 'GET', '/api/surveys?token=<token>', { surveys: [] }],
  ['15', 'GET', '/api/early_access_features?token=<token>', { earlyAccessFeatures: [] }],
  ['16', 'GET', '/api/web_experiments?token=<token>', { experiments: [] }],
];

test.each(servedPaths)('row %s: responds to %s %s, with and without a slash', async (_row, method, path, expected) => {
  const token = await newToken();
  for (const slash of ['', '/']) {
    const [before = '', query] = path.replaceAll('<token>', token).split('?');
    const response = await ask(`${before}${slash}${query === undefined ? '' : `?${query}`}`, { method });
    expect([slash, response.status]).toEqual([slash, 200]);
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    if (expected === null) expect(response.headers.get('content-type')).toMatch(/javascript/);
    else expect(JSON.parse(response.text)).toMatchObject(expected as object);
  }
});

test.each(['GET', 'HEAD'])('row 24: %s succeeds on the paths that health probes request', async (method) => {
  for (const path of ['/', '/_liveness', '/_readiness']) {
    const response = await ask(path, { method });
    expect([path, response.status]).toEqual([path, 200]);
    expect(response.text === '').toBe(method === 'HEAD');
  }
});

test.each(['/array/phc_any/array.js', '/static/array.js', '/static/recorder.js', '/static/1.449.2/surveys.js'])(
  'row 12: %s returns 404 as JSON that web pages can read if this library file does not exist',
  async (path) => {
    const response = await ask(path);
    expect([response.status, JSON.parse(response.text).code]).toEqual([404, 'not_found']);
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
  },
);

test('returns the valid paths in the error for events that are sent to the root path', async () => {
  const response = await ask('/', { method: 'POST', body: '{}' });
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
});
