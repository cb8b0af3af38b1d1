import { type PodObject, seenPods } from './seen-pods.ts';
import type { WatchEvent } from './watch-event.ts';

const change = (type: string, pod: PodObject): WatchEvent<PodObject> => {
  const names = { uid: 'u', name: 'm-gateway-0', namespace: 'prod', labels: { app: 'm' } };
  return { at: 0, type, object: { metadata: { ...names, creationTimestamp: '2026-11-22T21:00:00Z' }, ...pod } };
};
const ports = [
  { name: 'http', containerPort: 8000 },
  { name: 'metrics', containerPort: 9090 },
];

test('knows a pod once it has an address, and when it is gone', () => {
  const pod = { spec: { containers: [{ ports }, {}] }, status: { podIP: '10.244.1.4' } };
  expect(seenPods([change('ADDED', { ...pod, status: {} })])).toEqual([]);
  expect(seenPods([change('ADDED', { ...pod, status: {} }), change('MODIFIED', pod), change('DELETED', pod)])).toEqual([
    {
      ...{ name: 'm-gateway-0', ip: '10.244.1.4', createdAt: Date.UTC(2026, 10, 22, 21) },
      party: { namespace: 'prod', labels: { app: 'm' }, ports: { http: 8000, metrics: 9090 } },
    },
  ]);
});
