import { isAppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { decodeCursor, encodeCursor } from './pagination.ts';
import { allToyScopes, startToyApi, type ToyApi } from './testing/toy-api.ts';

/** Tests the cases request-001 to request-008 (docs/api/README.md#pages) with a list of 254 numbers. */
let api: ToyApi;
beforeAll(async () => {
  api = await startToyApi();
});
afterAll(() => api.stop());

interface Page {
  count: number;
  next: string | null;
  previous: string | null;
  results: number[];
}

const read = async (url: string) => {
  const response = await fetch(url, { headers: allToyScopes });
  expect(response.status).toBe(200);
  return (await response.json()) as Page;
};

async function page(pathAndQuery: string, url = api.url) {
  const body = await read(url + pathAndQuery);
  const local = (link: string | null) => (link === null ? null : link.replace(url, ''));
  return {
    count: body.count,
    length: body.results.length,
    first: body.results[0],
    next: local(body.next),
    previous: local(body.previous),
  };
}

const list = '/api/things/';
test.each([
  ['request-001', `${list}?limit=2`, { length: 2, first: 0, next: `${list}?limit=2&offset=2`, previous: null }],
  [
    'request-002',
    `${list}?limit=2&offset=2`,
    { length: 2, first: 2, next: `${list}?limit=2&offset=4`, previous: `${list}?limit=2` },
  ],
  ['G2b', `${list}?limit=2&offset=5`, { next: `${list}?limit=2&offset=7`, previous: `${list}?limit=2&offset=3` }],
  [
    'request-002',
    `${list}?limit=127&offset=127`,
    { length: 127, first: 127, next: null, previous: `${list}?limit=127` },
  ],
  ['request-003', list, { length: 100, next: `${list}?limit=100&offset=100`, previous: null }],
  ['request-003', `${list}?limit=0`, { length: 100, next: `${list}?limit=100&offset=100` }],
  ['request-003', `${list}?limit=-1`, { length: 100, next: `${list}?limit=100&offset=100` }],
  ['request-003', `${list}?limit=abc`, { length: 100, next: `${list}?limit=100&offset=100` }],
  ['request-003', `${list}?limit=`, { length: 100, next: `${list}?limit=100&offset=100` }],
  ['request-003', `${list}?limit=1.5`, { length: 100, next: `${list}?limit=100&offset=100` }],
  ['request-004', `${list}?limit=1000`, { length: 254, next: null, previous: null }],
  ['request-004', `${list}?limit=99999999999999999999999`, { length: 254, next: null, previous: null }],
  ['request-005', `${list}?limit=2&offset=abc`, { first: 0, previous: null }],
  ['request-005', `${list}?limit=2&offset=-3`, { first: 0, previous: null }],
  [
    'request-006',
    `${list}?offset=300`,
    { count: 254, length: 0, next: null, previous: `${list}?limit=100&offset=200` },
  ],
  [
    'request-006',
    `${list}?offset=5000000000`,
    { count: 254, length: 0, next: null, previous: `${list}?limit=100&offset=4999999900` },
  ],
  // Page links contain the request's parameters, sorted by name. All parameters here are declared, because unknown ones
  // return 400 (mount/read-request.ts).
  [
    'request-007',
    `${list}?text=1&limit=2&format=json&text=x%20y`,
    { next: `${list}?format=json&limit=2&offset=2&text=1&text=x+y` },
  ],
  ['request-008', '/api/things?limit=2', { next: '/api/things?limit=2&offset=2' }],
])('%s: %s', async (_case, pathAndQuery, expected) => {
  expect(await page(pathAndQuery)).toMatchObject(expected);
});

test('returns every result once to a client that follows `next`', async () => {
  const seen: number[] = [];
  let next: string | null = `${api.url}${list}?limit=60`;
  while (next !== null) {
    const body = await read(next);
    seen.push(...body.results);
    next = body.next;
  }
  expect(seen).toEqual(Array.from({ length: 254 }, (_, index) => index));
});

test('returns a complete page, followed by its other fields, when results are read in chunks', async () => {
  const response = await fetch(`${api.url}${list}?limit=120&offset=100`, {
    headers: allToyScopes,
  });
  const text = await response.text();
  expect(response.headers.get('content-length')).toBeNull();
  expect(JSON.parse(text)).toEqual({
    count: 254,
    next: `${api.url}${list}?limit=120&offset=220`,
    previous: `${api.url}${list}?limit=120`,
    results: Array.from({ length: 120 }, (_, index) => 100 + index),
  });
});

test('closes the connection when reading another chunk of a page fails', async () => {
  const headers = allToyScopes;
  await expect(
    fetch(`${api.url}${list}?text=fails&limit=200`, { headers }).then((response) => response.text()),
  ).rejects.toThrow();
  const first = await fetch(`${api.url}${list}?text=fails&offset=60`, { headers });
  expect([first.status, await first.json()]).toEqual([503, expect.objectContaining({ detail: 'The store is gone.' })]);
});

test('returns no body for HEAD on a page that is read in chunks', async () => {
  const response = await fetch(`${api.url}${list}?limit=200`, { method: 'HEAD', headers: allToyScopes });
  expect([response.status, await response.text()]).toEqual([200, '']);
});

test('starts page links with the public URL if it is configured', async () => {
  const other = await startToyApi({ publicUrl: 'https://api.example.com/base/' });
  const body = await read(`${other.url}/api/things/?limit=2`);
  expect(body.next).toBe('https://api.example.com/base/api/things/?limit=2&offset=2');
  await other.stop();
});

const position = Type.Object({ n: Type.Integer({ minimum: 0 }), key: Type.String() });

test('encodes a cursor as a URL-safe string, and decodes it', () => {
  const cursor = encodeCursor({ n: 7, key: 'ключ/ß+=\ud83d\ude00' });
  expect(cursor).toMatch(/^[\w-]+$/);
  expect(decodeCursor(position, cursor)).toEqual({ n: 7, key: 'ключ/ß+=\ud83d\ude00' });
  expect(decodeCursor(position, undefined)).toBeNull();
});

test.each([
  '',
  'abc',
  '=',
  '../..',
  Buffer.from('null').toString('base64url'),
  Buffer.from('[7, "a"]').toString('base64url'),
  encodeCursor({}),
  encodeCursor({ n: 7 }),
  encodeCursor({ n: -1, key: 'a' }),
  encodeCursor({ n: '7', key: 'a' }),
  encodeCursor({ n: 7, key: 'a\0b' }),
  encodeCursor({ n: 7, key: 'x'.repeat(5000) }),
])('rejects the cursor %s and names the parameter', (cursor) => {
  expect.assertions(1);
  try {
    decodeCursor(position, cursor);
  } catch (error) {
    expect(isAppError(error, 'invalid') && error.attr).toBe('cursor');
  }
});
