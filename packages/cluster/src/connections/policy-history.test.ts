import { policyHistory } from './policy-history.ts';

const change = (at: number, type: string, uid: string, spec = {}) => ({
  ...{ at, type },
  object: { metadata: { uid, name: uid, namespace: 'prod', creationTimestamp: '1970-01-01T00:00:01Z' }, spec },
});

test('knows each policy as it was last, and until when', () => {
  const spec = { policyTypes: ['Egress'] };
  const known = policyHistory([
    ...[change(1500, 'ADDED', 'a'), change(1500, 'ADDED', 'b')],
    ...[change(2500, 'MODIFIED', 'a', spec), change(3500, 'DELETED', 'b')],
    // A watch that has ended begins anew.
    change(9000, 'ADDED', 'a', spec),
  ]);
  expect(known).toMatchObject([
    { metadata: { name: 'a' }, spec, from: 1000, until: Number.POSITIVE_INFINITY },
    { metadata: { name: 'b' }, spec: {}, from: 1000, until: 3500 },
  ]);
});
