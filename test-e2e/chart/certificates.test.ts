import { leastValues, ofKind, renderChart } from './testing/render-chart.ts';

const base = { ...leastValues, host: 'events.example.com', apiHost: 'api.example.com' };

async function ingress(values: object) {
  const rendered = await renderChart({ values: { ...base, ingress: { enabled: true, ...values } } });
  const [{ metadata, spec } = { metadata: undefined, spec: undefined }] = ofKind(rendered, 'Ingress');
  return { annotations: metadata?.annotations, tls: spec?.tls };
}

const hosts = ['events.example.com', 'api.example.com'];

test.each([
  ['a secret of yours', { tls: { secretName: 'mine' } }, { tls: [{ hosts, secretName: 'mine' }] }],
  [
    'one that cert-manager makes',
    { annotations: { 'cert-manager.io/cluster-issuer': 'letsencrypt' }, tls: { secretName: 'made' } },
    { annotations: { 'cert-manager.io/cluster-issuer': 'letsencrypt' }, tls: [{ hosts, secretName: 'made' }] },
  ],
  ['that of the controller', {}, { tls: [{ hosts }] }],
  ['none', { tls: { enabled: false } }, {}],
])('the certificate of an Ingress: %s', async (_what, values, expected) => {
  expect(await ingress(values)).toEqual({ annotations: undefined, tls: undefined, ...expected });
});

test('the example with an Ingress has one for its host by cert-manager', async () => {
  const [found] = ofKind(await renderChart({ examples: ['regional'] }), 'Ingress');
  expect(found?.metadata.annotations).toHaveProperty(['cert-manager.io/cluster-issuer']);
  expect(found?.spec.tls).toEqual([{ hosts: ['events.example.com'], secretName: 'events-example-com-tls' }]);
});

test('routes of Gateway API lead to the listener that has the certificate', async () => {
  const routes = ofKind(await renderChart({ examples: ['large'] }), 'HTTPRoute');
  const parent = { name: 'public', namespace: 'gateways', sectionName: 'https' };
  expect(routes.map(({ spec }) => spec.parentRefs)).toMatchObject([[parent], [parent]]);
});
