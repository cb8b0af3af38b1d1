import type { Manifest } from './testing/manifest.ts';
import { filterByKind, leastValues, renderChart } from './testing/render-chart.ts';

/**
 * Paths that SDKs and scripts request (docs/wire-rules.md#paths), and the service that handles each path. Without a
 * flags deployment, the gateway handles flag paths.
 */
const requests = [
  ['/', 'gateway'],
  ['/capture/', 'gateway'],
  ['/batch', 'gateway'],
  ['/e/', 'gateway'],
  ['/i/v0/e/', 'gateway'],
  ['/i/v1/analytics/events', 'gateway'],
  ['/s/', 'gateway'],
  ['/array/phc_x/config.js', 'gateway'],
  ['/static/array.js', 'gateway'],
  ['/flags/', 'flags'],
  ['/flags/definitions', 'flags'],
  ['/decide/', 'flags'],
  ['/api/feature_flag/local_evaluation', 'flags'],
  ['/api/early_access_features/', 'gateway'],
  ['/api/surveys/', 'gateway'],
  ['/api/web_experiments/', 'gateway'],
  ['/api/users/@me/', 'management-api'],
  ['/api/projects/1/events/', 'management-api'],
  ['/api/projects/1/feature_flags/', 'management-api'],
  ['/api/schema/', 'management-api'],
  ['/api/docs', 'management-api'],
  ['/apiary', 'gateway'],
  ['/console/', 'management-api'],
  ['/console/projects/1/live', 'management-api'],
  ['/consoles', 'gateway'],
  ['/shared/token', 'management-api'],
  ['/embedded/token', 'management-api'],
  ['/login/saml/', 'management-api'],
  ['/complete/oidc/', 'management-api'],
  ['/events', 'management-api'],
  ['/stats', 'management-api'],
] as const;

/** Returns whether a path has a prefix as defined by Kubernetes' `Prefix`, which compares complete path segments. */
const fits = (path: string, prefix: string) => prefix === '/' || path === prefix || path.startsWith(`${prefix}/`);

/** Returns the service with the longest matching prefix, as Ingress and Gateway API do. */
function serviceFor(routes: { path: string; service: string }[], path: string): string | undefined {
  const fitting = routes.filter((route) => fits(path, route.path));
  return fitting.sort((a, b) => b.path.length - a.path.length)[0]?.service.replace('m-millrace-', '');
}

type Routes = { host: string | undefined; routes: { path: string; service: string }[] }[];

const ofIngress = (rendered: Manifest[]): Routes =>
  filterByKind(rendered, 'Ingress').flatMap(({ spec }) =>
    (spec.rules ?? []).map(({ host, http }) => ({
      host,
      routes: (http?.paths ?? []).map(({ path, backend }) => ({ path, service: backend.service.name })),
    })),
  );

const ofHttpRoutes = (rendered: Manifest[]): Routes =>
  filterByKind(rendered, 'HTTPRoute').map(({ spec }) => ({
    host: spec.hostnames?.[0],
    routes: (spec.rules ?? []).flatMap(({ matches = [], backendRefs = [] }) =>
      matches
        .filter(({ path }) => path.type === 'PathPrefix')
        .map(({ path }) => ({ path: path.value, service: backendRefs[0]?.name ?? '' })),
    ),
  }));

const base = { ...leastValues, host: 'events.example.com' };
const ways = [
  ['Ingress', { ingress: { enabled: true } }, ofIngress],
  ['Gateway API', { gatewayApi: { enabled: true, parentRefs: [{ name: 'public' }] } }, ofHttpRoutes],
] as const;

describe.each(ways)('routing by %s', (_, values, routesOf) => {
  test('routes events, flags and the API on one host', async () => {
    const [found, ...more] = routesOf(await renderChart({ values: { ...base, ...values, flags: { enabled: true } } }));
    expect([found?.host, more]).toEqual(['events.example.com', []]);
    expect(requests.map(([path]) => [path, serviceFor(found?.routes ?? [], path)])).toEqual(requests);
  });

  test('routes flag requests to the gateway if the flags deployment is disabled', async () => {
    const [found] = routesOf(await renderChart({ values: { ...base, ...values } }));
    const expected = requests.map(([path, service]) => [path, service === 'flags' ? 'gateway' : service]);
    expect(requests.map(([path]) => [path, serviceFor(found?.routes ?? [], path)])).toEqual(expected);
  });

  test('routes the API on a separate host', async () => {
    const found = routesOf(await renderChart({ values: { ...base, ...values, apiHost: 'api.example.com' } }));
    expect(found.map(({ host }) => host)).toEqual(['events.example.com', 'api.example.com']);
    const [ingest, api] = found;
    expect(serviceFor(api?.routes ?? [], '/api/users/@me/')).toBe('management-api');
    expect(serviceFor(api?.routes ?? [], '/console/')).toBe('management-api');
    expect(serviceFor(ingest?.routes ?? [], '/console/')).toBe('gateway');
    expect(serviceFor(api?.routes ?? [], '/capture/')).toBeUndefined();
    expect(serviceFor(ingest?.routes ?? [], '/capture/')).toBe('gateway');
    expect(serviceFor(ingest?.routes ?? [], '/api/projects/1/feature_flags/local_evaluation')).toBe('gateway');
  });

  test("does not expose the API's metrics and probes", async () => {
    const found = routesOf(await renderChart({ values: { ...base, ...values, apiHost: 'api.example.com' } }));
    for (const path of ['/metrics', '/_readiness']) expect(serviceFor(found[1]?.routes ?? [], path)).toBeUndefined();
  });
});

test('puts configured extra paths before all other paths', async () => {
  const extraPaths = [{ path: '/api/projects/[^/]+/x', pathType: 'ImplementationSpecific', service: 'flags' }];
  const rendered = await renderChart({ values: { ...base, ingress: { enabled: true, extraPaths } } });
  const [first] = filterByKind(rendered, 'Ingress')[0]?.spec.rules?.[0]?.http?.paths ?? [];
  expect(first).toMatchObject({
    pathType: 'ImplementationSpecific',
    backend: { service: { name: 'm-millrace-gateway' } },
  });
});

test("with `patterns`, routes the projects' flag definition paths to the gateway", async () => {
  const gatewayApi = { enabled: true, parentRefs: [{ name: 'public' }], patterns: true };
  const rendered = await renderChart({ values: { ...base, gatewayApi } });
  const pattern = filterByKind(rendered, 'HTTPRoute')[0]?.spec.rules?.[0]?.matches?.[0]?.path;
  expect(pattern?.type).toBe('RegularExpression');
  const regex = new RegExp(`^${pattern?.value}$`);
  const paths = [
    '/api/projects/1/feature_flags/local_evaluation',
    '/api/projects/@current/feature_flags/a/remote_config/',
  ];
  expect(paths.map((path) => regex.test(path))).toEqual([true, true]);
  expect(regex.test('/api/projects/1/feature_flags/1/')).toBe(false);
});
