import { randomUUID } from 'node:crypto';
import type { PageRoute } from '@millrace/http';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { declaredPages, declaredRoutes } from '../testing/declared-routes.ts';
import { signInAs, startTestApi, type TestApi } from '../testing/start-test-api.ts';

/**
 * Calls every page route, which is every route outside the OpenAPI document, with every kind of credential and with
 * malformed paths and bodies. New pages are covered automatically. `access-matrix`, `reach-matrix` and `hostile-bodies`
 * do the same for API routes.
 */
const pages = declaredPages();
const isPassedOn = ({ path }: PageRoute) => declaredRoutes().some((route) => route.path === path);

let api: TestApi;
let own: TestTenant;
let foreign: TestTenant;
let credentials: [string, Record<string, string>][];
beforeAll(async () => {
  api = await startTestApi({
    console: { path: '/console/*', methods: ['GET', 'HEAD'], serve: ({ response }) => void response.end() },
    sharedHtml: Buffer.from('<html></html>'),
    gateway: (_request, response) => void response.writeHead(200, { 'x-from': 'gateway' }).end(),
  });
  own = await createTestTenant(api.database);
  foreign = await createTestTenant(api.database);
  credentials = [
    ['no credentials', {}],
    ['an unknown key', { authorization: `Bearer phx_${'a'.repeat(48)}` }],
    ["a secret key's prefix", { authorization: 'Bearer phs_unknown' }],
    ['a key', { authorization: `Bearer ${own.personalApiKey}` }],
    ['a session', { cookie: await signInAs(api, own.userId) }],
  ];
});
afterAll(() => api.stop());

const named = (chosen: PageRoute[]) =>
  chosen.map((page) => [`${methodsOf(page).join('|')} ${page.path}`, page] as const);
const methodsOf = ({ methods }: PageRoute) => (methods === 'any' ? ['GET', 'POST', 'DELETE'] : [...methods]);

const segments = [
  randomUUID(),
  '0',
  'google',
  'saml',
  '%00',
  'a%00b',
  '%ff%fe',
  '%zz',
  '%2e%2e%2f%2e%2e',
  '__proto__',
  "'%20OR%201=1--",
  '%0d%0aX-Injected:%201',
  'x'.repeat(4000),
];
const bodies = [
  '',
  '{',
  '[]',
  'null',
  '{"__proto__":{"x":1}}',
  'SAMLResponse=%00&RelayState=%ff',
  `["${'x'.repeat(500_000)}"]`,
];

/**
 * Returns the page's path with this value for every parameter. For a page that serves all paths under its own, also
 * returns two longer paths.
 */
const pathsWith = ({ path }: PageRoute, value: string) => {
  const filled = path.replaceAll(/:\w+/g, value);
  return filled.endsWith('/*')
    ? ['', `/${value}`, `/v2/${value}/Users/${value}`].map((end) => filled.replace('/*', end))
    : [filled];
};

async function call(
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: string },
) {
  const response = await fetch(api.url + path, {
    ...{ method, headers: { accept: 'text/html,*/*', ...headers }, redirect: 'manual' },
    ...(body !== undefined && { body }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test.each(named(pages))(
  'returns the same page for every kind of credential, without data of other users: %s',
  async (_name, page) => {
    for (const method of methodsOf(page)) {
      const responses: unknown[] = [];
      for (const [name, headers] of credentials) {
        const [path = ''] = pathsWith(page, String(foreign.projectId));
        const { status, text, headers: sent } = await call(method, path, { headers });
        expect([name, status < 500]).toEqual([name, true]);
        const all = `${text} ${JSON.stringify([...sent])}`;
        for (const secret of [foreign.organizationId, foreign.projectApiKey, foreign.personalApiKey])
          expect(all).not.toContain(secret);
        if (!isPassedOn(page)) expect(sent.get('set-cookie') ?? '').not.toContain('millrace_session=');
        responses.push(status);
      }
      // On paths that the API shares with the gateway, the API checks the credentials of scripts, so the statuses
      // differ.
      if (!isPassedOn(page)) expect(new Set(responses).size).toBe(1);
    }
  },
);

test.each(named(pages.filter(({ methods }) => methods !== 'any')))(
  'a page returns 405 with `Allow` for other methods: %s',
  async (_name, page) => {
    const [path = ''] = pathsWith(page, 'x');
    const { status, headers, text } = await call('PROPFIND', path, {
      headers: { authorization: `Bearer ${own.personalApiKey}` },
    });
    expect([status, JSON.parse(text)]).toMatchObject([405, { code: 'method_not_allowed' }]);
    const samePath = [...pages, ...declaredRoutes()].filter((other) => other.path === page.path);
    const methods = samePath.flatMap((other) => ('methods' in other ? methodsOf(other) : [other.method, 'HEAD']));
    expect(headers.get('allow')?.split(', ').sort()).toEqual([...new Set([...methods, 'OPTIONS'])].sort());
  },
);

test.each(named(pages))(
  'a page returns no server error for malformed paths, queries and bodies: %s',
  async (_name, page) => {
    for (const method of methodsOf(page)) {
      for (const [index, value] of segments.entries()) {
        for (const path of pathsWith(page, value)) {
          const body = ['GET', 'HEAD'].includes(method) ? undefined : bodies[index % bodies.length];
          const { status, headers } = await call(method, `${path}?${value}=${value}`, {
            ...(body !== undefined && { body }),
          });
          expect([method, path.slice(0, 80), status, status < 500]).toEqual([method, path.slice(0, 80), status, true]);
          expect(headers.get('x-injected')).toBeNull();
          const location = headers.get('location');
          if (location !== null) expect(location).toMatch(new RegExp(`^(/|${api.url}/)`));
        }
      }
    }
  },
);

test.each(
  named(pages.filter((page) => page.path !== '/flags/definitions' && !page.path.startsWith('/api/feature_flag/'))),
)('a page has the security headers: %s', async (_name, page) => {
  const [path = ''] = pathsWith(page, 'x');
  const { headers } = await call(methodsOf(page)[0] ?? 'GET', path, {});
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
});

test('a gateway response has no additional headers from the API', async () => {
  const { headers } = await call('GET', '/flags/definitions', {});
  expect(headers.get('x-from')).toBe('gateway');
  expect(headers.get('content-security-policy')).toBeNull();
});
