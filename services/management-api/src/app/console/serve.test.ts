import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { serveConsole } from './serve.ts';

const script = 'export const x = 1;';
const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
let directory: string;
let api: TestApi;
let below: TestApi;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-console-'));
  await mkdir(join(directory, 'assets'));
  const head = '<meta name="millrace-ingest" content=""><meta name="millrace-mail" content="">';
  const scripts = '<script src="./assets/a-1.js"></script>';
  await writeFile(join(directory, 'index.html'), `<html><head>${head}${scripts}</head></html>`);
  await writeFile(join(directory, 'icon.svg'), '<svg/>');
  await writeFile(join(directory, 'assets/a-1.js'), script);
  await writeFile(join(directory, 'assets/a-1.js.gz'), gzipSync(script));
  api = await startTestApi({ publicUrl: undefined, console: await serveConsole({ directory }) });
  const publicUrl = 'https://example.com/analytics/';
  const ingestUrl = 'https://in.example.com/"><b>';
  below = await startTestApi({
    publicUrl,
    console: await serveConsole({ directory, publicUrl, ingestUrl, sendsMail: true }),
  });
});
afterAll(async () => {
  await api.stop();
  await below.stop();
  await rm(directory, { recursive: true });
});

const get = (path: string, headers: Record<string, string> = browser, on = api) =>
  fetch(on.url + path, { headers, redirect: 'manual' });

test("every URL under the console's path returns the page to browsers, uncached and with a policy against inline scripts", async () => {
  for (const path of ['/console/', '/console/projects/1/live?event=a', '/console/no/such/page']) {
    const response = await get(path);
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await response.text()).toContain('src="/console/assets/a-1.js"');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(policy).not.toContain('unsafe');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  }
});

test('browsers can cache console files for a year, and files are compressed if the client supports it', async () => {
  const response = await get('/console/assets/a-1.js', { 'accept-encoding': 'gzip' });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-encoding': 'gzip',
    'content-type': 'text/javascript; charset=utf-8',
    vary: 'Accept-Encoding',
  });
  expect(await response.text()).toBe(script);
  for (const encoding of ['identity', 'gzip;q=0, br']) {
    const plain = await get('/console/assets/a-1.js', { 'accept-encoding': encoding });
    expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([null, script]);
  }
});

test('returns 404 as JSON to a client other than a browser, and for a missing file', async () => {
  const asked: [string, Record<string, string>][] = [
    ['/console/', { accept: 'application/json' }],
    ['/console/assets/b-2.js', browser],
    ['/console/assets/..%2findex.html', browser],
    ['/consoles', browser],
  ];
  for (const [path, headers] of asked) {
    const response = await get(path, headers);
    expect([path, response.status, await response.json()]).toMatchObject([path, 404, { code: 'not_found' }]);
  }
  expect((await fetch(`${api.url}/console/`, { method: 'POST', headers: browser })).status).toBe(405);
});

test('redirects browsers from the root URL of the API to the console', async () => {
  for (const path of ['/', '/console']) expect((await get(path)).headers.get('location')).toBe('/console/');
});

test('console-046: behind a proxy with a path, file URLs include the path, and the ingest URL is escaped', async () => {
  const text = await (await get('/console/projects/1/live', browser, below)).text();
  expect(text).toContain('src="/analytics/console/assets/a-1.js"');
  expect(text).toContain('content="https://in.example.com/&quot;>&lt;b>"');
  expect(text).toContain('name="millrace-mail" content="on"');
  const root = await get('/', browser, below);
  expect(root.headers.get('location')).toBe('https://example.com/analytics/console/');
});

test('console-046: without a built console, the page returns 404 and the root URL redirects to the documentation', async () => {
  expect(await serveConsole({ directory: join(directory, 'nowhere') })).toBeNull();
  const without = await startTestApi({ publicUrl: undefined, console: null });
  expect((await get('/console/', browser, without)).status).toBe(404);
  expect((await get('/', browser, without)).headers.get('location')).toBe('/api/docs');
  await without.stop();
});
