import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { createTestTenant, sampleOf, startServer, type TestServer, type TestTenant } from '@millrace/testing';
import type { TObject } from 'typebox';
import { declaredRoutes } from '../testing/declared-routes.ts';
import { startTestApi, type TestApi } from '../testing/start-test-api.ts';

/**
 * Tests that the API responds to any path or body with a result or with an error that names the problem, but never with
 * a server error.
 */
let gateway: TestServer;
let api: TestApi;
let tenant: TestTenant;
let ids: Record<string, string>;
beforeAll(async () => {
  gateway = await startServer((_request, response) => response.end('{"status":"Ok"}'));
  api = await startTestApi({ checkResponses: false, ingestUrl: gateway.url });
  tenant = await createTestTenant(api.database);
  ids = { organization_id: tenant.organizationId, project_id: String(tenant.projectId) };
});
afterAll(async () => {
  await api.stop();
  await gateway.stop();
});

const declared = declaredRoutes().filter(({ scope }) => scope !== 'public');

/** JSON that clients could send, including JSON that `JSON.stringify` never produces. */
const nastyValues = [
  'null',
  'true',
  '0',
  '-1',
  '1.5',
  '2147483648',
  '9007199254740993',
  '123456789012345678901234567890',
  '1e400',
  '-1e400',
  '""',
  '" "',
  '" 1"',
  '"1e3"',
  '"١٢"',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"\\udfff\\ud800"',
  '"\\ud83d\\udca9"',
  '"\\r\\nBcc: x@example.com"',
  '"__proto__"',
  '"9999-12-31T23:59:59-23:59"',
  '"-000001-01-01T00:00:00Z"',
  `"${'x'.repeat(20_000)}"`,
  '[]',
  '[null]',
  '["\\ud800"]',
  '[[[]]]',
  `[${'1,'.repeat(3000)}1]`,
  '{}',
  '{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}',
  '{"\\ud800": "\\ud800"}',
  '{"a": {"b": {"c": "\\u0000"}}}',
  `${'['.repeat(90)}${']'.repeat(90)}`,
];

const nastyBodies: [string, string | Buffer, Record<string, string>?][] = [
  ['nothing', ''],
  ['the first half', '{"name": "x'],
  ['a list', '[]'],
  ['a string', '"x"'],
  ['null', 'null'],
  ['a number', '1'],
  ['deep lists', '['.repeat(50_000)],
  ['deep lists that are closed', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`],
  ['a repeated field', '{"name": "one", "name": "two"}'],
  ['the prototype', '{"__proto__": {"level": 15, "is_staff": true}, "constructor": null, "hasOwnProperty": 1}'],
  ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
  ['a byte order mark', '\ufeff{}'],
  ['a body that is not gzip', '{}', { 'content-encoding': 'gzip' }],
  ['an unknown encoding', '{}', { 'content-encoding': 'zstd' }],
  ['plain text', '{}', { 'content-type': 'text/plain' }],
  ['XML', '<a/>', { 'content-type': 'application/xml' }],
  ['an unknown charset', '{}', { 'content-type': 'application/json; charset=utf-7' }],
  ['a form', 'name=%00&level=15&__proto__[x]=1', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['an invalid form', '%%%&=&&', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['parts', '--x\r\n\r\n--x--', { 'content-type': 'multipart/form-data; boundary=x' }],
];

interface Answer {
  status: number;
  body: { attr?: string | null; detail?: string } | undefined;
}

/** Sends a request with exactly this path. `fetch` would normalize some of the paths. */
function sendRaw(
  method: string,
  path: string,
  { body, headers = {} }: { body?: string | Buffer; headers?: Record<string, string> },
): Promise<Answer> {
  const bytes = Buffer.from(body ?? '');
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      new URL(api.url),
      {
        method,
        path,
        headers: {
          authorization: `Bearer ${tenant.personalApiKey}`,
          'content-type': 'application/json',
          'content-length': bytes.length,
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({ status: response.statusCode ?? 0, body: text.startsWith('{') ? JSON.parse(text) : undefined });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(bytes);
  });
}

const fill = (path: string, values: Record<string, string>) =>
  path.replaceAll(/:(\w+)/g, (_match, name: string) => values[name] ?? '00000000-0000-4000-8000-000000000000');

async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items];
  const worker = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
}

/**
 * Send each body only once, even if several routes use it, and each field only once, even if several bodies contain it.
 * `npm test` sends all values to one field of each schema, and a sample of the values to each other field.
 */
const bodies = new Map(
  declared
    .filter(({ method, body }) => body !== undefined && method !== 'DELETE')
    .map((route) => [route.body, route] as const),
);
const seen = new Set<string>();
const seenSchemas = new Set<string>();
let turn = 0;
/**
 * Returns all values for the first field with a schema, and a sample of the values for further fields with this schema.
 */
const valuesFor = <T>(values: readonly T[], isFirst: boolean) =>
  isFirst ? values : sampleOf(values, { count: 4, turn: turn++ });
const triedOn = new Map(
  [...bodies.values()].map((route) => {
    const fields = Object.entries((route.body as TObject | undefined)?.properties ?? {});
    const fresh = fields.filter(([name, schema]) => {
      const key = `${route.path.split('/')[2]} ${name} ${JSON.stringify(schema)}`.replace('projects', 'environments');
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
    const tried = fresh.flatMap(([field, schema]) => {
      const { description: _, title: __, ...shape } = schema as { description?: string; title?: string };
      const key = JSON.stringify(shape);
      const isFirst = !seenSchemas.has(key);
      seenSchemas.add(key);
      return valuesFor(nastyValues, isFirst).map((value) => ({ field, value }));
    });
    return [route, tried] as const;
  }),
);

describe.each([...bodies.values()].map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s',
  (_name, route) => {
    let address: string;
    beforeAll(async () => {
      address = `${fill(route.path, { ...ids, ...(await idOfOne(route.path)) })}/`;
    });

    test('returns no server error for any body', async () => {
      const isFirst = route === declared.find(({ body }) => body !== undefined);
      for (const [what, body, headers = {}] of valuesFor(nastyBodies, isFirst)) {
        const { status } = await sendRaw(route.method, address, { body, headers });
        expect([what, status, status < 500]).toEqual([what, status, true]);
      }
      expect(({} as Record<string, unknown>).polluted ?? ({} as Record<string, unknown>).is_staff).toBeUndefined();
    });

    test('returns no server error for any value of any field', async () => {
      const example = (route.examples.request ?? {}) as Record<string, unknown>;
      const failures: unknown[] = [];
      await eachOf(triedOn.get(route) ?? [], async ({ field, value }) => {
        const others = Object.entries(example).filter(([name]) => name !== field);
        const pairs = [...others.map(([name, other]) => [name, JSON.stringify(other)] as const), [field, value]];
        const body = `{${pairs.map(([name, text]) => `"${name}": ${text}`).join(', ')}}`;
        const response = await sendRaw(route.method, address, { body });
        const isNamed = response.status !== 400 || typeof response.body?.detail === 'string';
        if (response.status >= 500 || !isNamed) failures.push([field, value.slice(0, 60), response]);
      });
      expect(failures).toEqual([]);
    });
  },
);

async function idOfOne(path: string): Promise<Record<string, string>> {
  if (/\/(projects|environments)\/:id/.test(path)) return { id: String(tenant.projectId) };
  const collection = path.split('/:id')[0] ?? '';
  const below = collection.replace(
    '/organizations/:organization_id/batch_exports',
    '/projects/:project_id/batch_exports',
  );
  const maker = declared.find(({ method, path: where }) => method === 'POST' && where === below);
  if (!path.includes('/:id') || !maker) return {};
  const body = { ...(maker.examples.request as object) };
  if ('domain' in body) body.domain = `${randomUUID()}.example.com`;
  const made = await api.send('POST', `${fill(maker.path, ids)}/`, { key: tenant.personalApiKey, body });
  return made.status === 201 ? { id: String(made.body.id) } : {};
}

describe('unusual IDs in a path', () => {
  const nastyIds = [
    '0',
    '-1',
    '+1',
    '1.0',
    '1e3',
    '1e400',
    '%201',
    '١',
    '１',
    '0x1',
    '2147483647',
    '2147483648',
    '9007199254740993',
    '99999999999999999999999999999999',
    '%00',
    'a%00b',
    '%ff%fe',
    '%',
    '%zz',
    '..',
    '%2e%2e%2f%2e%2e',
    '@current@',
    '@me%00',
    '__proto__',
    'constructor',
    "'%20OR%201=1--",
    '%0d%0aX-Injected:%201',
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    'x'.repeat(4000),
  ];
  const bodies = new Map(
    declared
      .filter(({ path }) => path.includes(':'))
      .flatMap((route) =>
        [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => [`${route.path} ${name}`, { route, name }]),
      ),
  );

  test.each([...new Set([...bodies.values()].map(({ route }) => route.path.split('/')[2] ?? ''))])(
    'returns no server error for paths under /api/%s',
    async (room) => {
      const failures: unknown[] = [];
      const ownBodies = [...bodies.values()].filter(({ route }) => route.path.split('/')[2] === room);
      await eachOf(
        ownBodies.flatMap(({ route, name }, at) => {
          const isFirst = at === ownBodies.findIndex((other) => other.name === name);
          return valuesFor(nastyIds, isFirst).map((id) => ({ route, name, id }));
        }),
        async ({ route, name, id }) => {
          const path = encodeNonAscii(fill(route.path, { ...ids, [name]: id }));
          const response = await sendRaw(route.method, `${path}/`, route.body === undefined ? {} : { body: '{}' });
          const isRefused = response.status >= 400 && response.status < 500;
          // Any string is a valid flag key. If no project has the flag, the list is empty.
          const isEmptyList = name === 'key' && response.status === 200;
          // Cancelling an unknown query succeeds (insight-232).
          const isCancelled = name === 'query_id' && response.status === 204;
          if (!isRefused && !isEmptyList && !isCancelled)
            failures.push([route.method, route.path, name, id.slice(0, 40), response]);
        },
      );
      expect(failures).toEqual([]);
    },
    120_000,
  );
});

function encodeNonAscii(path: string): string {
  return path.replace(/[^\x20-\x7e]/g, encodeURIComponent).replaceAll(' ', '%20');
}
