import { filterByKind, leastValues, renderChart } from './testing/render-chart.ts';

const base = { ...leastValues, host: 'events.example.com', apiHost: 'api.example.com' };

async function ingress(values: object) {
  const rendered = await renderChart({ values: { ...base, ingress: { enabled: true, ...values } } });
  const [{ metadata, spec } = { metadata: undefined, spec: undefined }] = filterByKind(rendered, 'Ingress');
  return { annotations: metadata?.annotations, tls: spec?.tls };
}

const hosts = ['events.example.com', 'api.example.com'];

test.each([
  ['an existing secret', { tls: { secretName: 'mine' } }, { tls: [{ hosts, secretName: 'mine' }] }],
  [
    'a certificate from cert-manager',
    { annotations: { 'cert-manager.io/cluster-issuer': 'letsencrypt' }, tls: { secretName: 'made' } },
    { annotations: { 'cert-manager.io/cluster-issuer': 'letsencrypt' }, tls: [{ hosts, secretName: 'made' }] },
  ],
  ['the default of the controller', {}, { tls: [{ hosts }] }],
  ['no TLS', { tls: { enabled: false } }, {}],
])('configures the Ingress certificate: %s', async (_what, values, expected) => {
  expect(await ingress(values)).toEqual({ annotations: undefined, tls: undefined, ...expected });
});

test('the example requests a certificate for the Ingress host from cert-manager', async () => {
  const [found] = filterByKind(await renderChart({ examples: ['regional'] }), 'Ingress');
  expect(found?.metadata.annotations).toHaveProperty(['cert-manager.io/cluster-issuer']);
  expect(found?.spec.tls).toEqual([{ hosts: ['events.example.com'], secretName: 'events-example-com-tls' }]);
});

test('Gateway API routes refer to the listener with the certificate', async () => {
  const routes = filterByKind(await renderChart({ examples: ['large'] }), 'HTTPRoute');
  const parent = { name: 'public', namespace: 'gateways', sectionName: 'https' };
  expect(routes.map(({ spec }) => spec.parentRefs)).toMatchObject([[parent], [parent]]);
});
