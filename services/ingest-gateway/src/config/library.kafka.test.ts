import { createHash } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { writeLibrary } from '@millrace/browser/bundle';
import { createTestTenant } from '@millrace/testing';
import fc from 'fast-check';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';
import { type BrowserLibrary, prependToGzip, readBrowserLibrary } from './library.ts';

const origin = 'https://app.example';
/** An earlier build, whose folder still exists. */
const former = '0.0.1';

let directory: string;
let library: BrowserLibrary;
let fixture: GatewayFixture;
let gateway: TestGateway;
let token: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-library-'));
  await writeLibrary(directory);
  const { version } = (await readBrowserLibrary(directory)) as BrowserLibrary;
  await cp(join(directory, version), join(directory, former), { recursive: true });
  library = (await readBrowserLibrary(directory)) as BrowserLibrary;
  fixture = await createGatewayFixture();
  gateway = await fixture.startGateway({ library });
  ({ token } = await createTestTenant(fixture.database, { plan: 'full' }));
});
afterAll(async () => {
  await fixture.stop();
  await rm(directory, { recursive: true });
});

interface RawResponse {
  status: number;
  headers: Record<string, unknown>;
  body: Buffer;
}

/** Returns the response without decompressing its body. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const request = get(gateway.url + path, { method, headers: { origin, ...headers } }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      const { statusCode: status = 0, headers } = response;
      resolve({ status, headers, body: Buffer.concat(chunks) });
    });
    request.on('error', reject);
  });
}

const fileOf = (name: string) => library.files.get(library.version)?.get(name)?.plain as Buffer;
const unpacked = ({ headers, body }: RawResponse) => {
  if (headers['content-encoding'] === 'br') return brotliDecompressSync(body);
  return headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
};

const soon = 'public, max-age=300, stale-while-revalidate=86400';
const forever = 'public, max-age=31536000, immutable';

test.each([
  ['/static/array.js', 'array.js', soon],
  ['/static/index.js', 'index.js', soon],
  ['/static/slim.js?v=2', 'slim.js', soon],
  ['/static/<version>/array.js', 'array.js', forever],
  ['/static/<version>/slim.js', 'slim.js', forever],
  ['/static/<version>/exceptions.js', 'exceptions.js', forever],
  ['/static/<version>/web-vitals.js', 'web-vitals.js', forever],
  [`/static/${former}/array.js`, 'array.js', forever],
])('%s returns the file %s in the smallest encoding that the client accepts', async (path, name, cacheControl) => {
  const at = path.replace('<version>', library.version);
  for (const [accepted, coding] of [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['', undefined],
  ] as const) {
    const response = await ask(at, { 'accept-encoding': accepted });
    expect([response.status, response.headers['content-encoding']]).toEqual([200, coding]);
    expect(unpacked(response).equals(fileOf(name))).toBe(true);
    expect(response.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'content-length': String(response.body.length),
      'cache-control': cacheControl,
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      vary: 'accept-encoding',
    });
    expect(response.headers).not.toHaveProperty('access-control-allow-credentials');
  }
});

test.each(['/static/array.js', '/static/<version>/array.js', '/array/<token>/array.js'])(
  '%s returns 304 for a matching ETag',
  async (path) => {
    const at = path.replace('<version>', library.version).replace('<token>', token);
    const tags: string[] = [];
    for (const coding of ['br', 'gzip', 'identity']) {
      const asked = { 'accept-encoding': coding };
      const { etag } = (await ask(at, asked)).headers;
      for (const known of [String(etag), `"other", W/${etag}`]) {
        const again = await ask(at, { ...asked, 'if-none-match': known });
        expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag]);
      }
      // The ETags of other encodings must not match, because this client may not be able to decode them.
      const ofOthers = await ask(at, { ...asked, 'if-none-match': tags.filter((tag) => tag !== etag).join(', ') });
      expect(ofOthers.status).toBe(200);
      tags.push(String(etag));
    }
    expect((await ask(at, { 'if-none-match': '"other"' })).status).toBe(200);
  },
);

test.each(['/static/array.js', '/array/<token>/array.js'])(
  '%s begins with a compile hint for the browser',
  async (path) => {
    const response = await ask(path.replace('<token>', token), { 'accept-encoding': 'gzip' });
    expect(unpacked(response).toString()).toMatch(/^\/\/# allFunctionsCalledOnLoad\n/);
  },
);

test.each(['/static/array.js', '/static/library.json', '/array/<token>/array.js'])(
  '%s supports HEAD and preflights, and no other methods',
  async (path) => {
    const at = path.replace('<token>', token);
    const head = await ask(at, {}, 'HEAD');
    expect([head.status, head.body.length, Number(head.headers['content-length']) > 0]).toEqual([200, 0, true]);
    const preflight = await ask(at, { 'access-control-request-method': 'GET' }, 'OPTIONS');
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([200, origin]);
    const post = await ask(at, {}, 'POST');
    expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
  },
);

test.each([
  [
    '/static/recorder.js',
    'The browser library does not include the file recorder.js. Available files: array.js, exceptions.js, index.js, slim.js, web-vitals.js.',
  ],
  ['/static/9.9.9/array.js', 'This server does not have version 9.9.9 of the browser library. Available versions: '],
  ['/static/<version>/surveys.js', 'The browser library does not include the file surveys.js'],
  ['/static/..%2flibrary.json', 'The browser library does not include the file ../library.json'],
  ['/static/constructor', 'The browser library does not include the file constructor'],
])('%s returns 404 with an error that web pages can read', async (path, text) => {
  const response = await ask(path.replace('<version>', library.version));
  expect(response.status).toBe(404);
  expect(JSON.parse(response.body.toString())).toMatchObject({
    code: 'not_found',
    detail: expect.stringContaining(text),
  });
  expect(response.headers).toMatchObject({ 'access-control-allow-origin': origin, 'cache-control': 'no-store' });
});

test("`/static/library.json` contains the version and each file's digest", async () => {
  const response = await ask('/static/library.json');
  const { version, versions } = JSON.parse(response.body.toString());
  expect(version).toBe(library.version);
  expect(Object.keys(versions).sort()).toEqual([former, version].sort());
  const digest = createHash('sha384').update(fileOf('array.js')).digest('base64');
  expect(versions[version]['array.js']).toEqual({ integrity: `sha384-${digest}` });
});

describe('/array/<token>/array.js', () => {
  test.each([['gzip, br', 'gzip'] as const, ['', undefined] as const])(
    'contains the settings and the library in one script (accepted: %p)',
    async (accepted, coding) => {
      const response = await ask(`/array/${token}/array.js`, { 'accept-encoding': accepted });
      expect([response.status, response.headers['content-encoding']]).toEqual([200, coding]);
      expect(response.headers).toMatchObject({ 'cache-control': 'public, max-age=60', vary: 'accept-encoding' });
      const script = unpacked(response).toString();
      expect(script.endsWith(fileOf('array.js').toString())).toBe(true);
      const window: { _POSTHOG_REMOTE_CONFIG?: Record<string, { config: object }> } = {};
      new Function('window', script.slice(0, -fileOf('array.js').length))(window);
      expect(window._POSTHOG_REMOTE_CONFIG?.[token]?.config).toMatchObject({ token, hasFeatureFlags: false });
    },
  );

  test('changes the ETag of `array.js` when the settings change', async () => {
    const { token: own } = await createTestTenant(fixture.database, { plan: 'full' });
    await fixture.database.sql.query('UPDATE environment SET autocapture_opt_out = true WHERE api_token = $1', [own]);
    const [one, other] = [await ask(`/array/${token}/array.js`), await ask(`/array/${own}/array.js`)];
    expect(one?.headers.etag).not.toBe(other?.headers.etag);
    expect(unpacked(other as RawResponse).toString()).toContain('"autocapture_opt_out":true');
  });

  test('returns an error for an unknown API key', async () => {
    const response = await ask('/array/phc_nobody_has_this/array.js');
    expect([response.status, response.headers['cache-control']]).toEqual([401, 'no-store']);
  });
});

test('the gateway returns 404 if the library was not built', async () => {
  const bare = await fixture.startGateway();
  for (const path of ['/static/array.js', `/array/${token}/array.js`]) {
    const response = await fetch(bare.url + path);
    expect([response.status, await response.text()]).toEqual([
      404,
      expect.stringContaining('does not include the browser library'),
    ]);
  }
  expect(await (await fetch(`${bare.url}/static/library.json`)).json()).toEqual({ version: null, versions: {} });
  expect(await readBrowserLibrary(join(directory, 'nothing'))).toBeNull();
});

test('inserts any string at the start of any gzip stream', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.uint8Array({ minLength: 1, maxLength: 70_000 }), (text, bytes) => {
      const plain = Buffer.from(bytes);
      const joined = prependToGzip(text, gzipSync(plain, { level: 9 }), plain);
      expect(gunzipSync(joined)).toEqual(Buffer.concat([Buffer.from(text), plain]));
    }),
  );
});
