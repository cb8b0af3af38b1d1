import { createMetrics, tallies } from './metrics.ts';

const metrics = createMetrics({ withProcessMetrics: false });

test('what was tallied is told whenever somebody asks, once, beside what was counted', async () => {
  const counter = metrics.counter('millrace_answers_total', 'Answers', ['path', 'status']);
  const seriesOf = tallies(counter);
  const fine = seriesOf('/batch', '200');
  const never = seriesOf('/batch', '500');
  fine.add(1);
  fine.add(2);
  counter.inc({ path: '/e', status: '400' });
  never.add(0);
  const told = async () => (await counter.get()).values.map(({ labels, value }) => [labels.path, labels.status, value]);
  const first = [
    ['/e', '400', 1],
    ['/batch', '200', 3],
  ];
  expect(await told()).toEqual(first);
  expect(await told()).toEqual(first);
  fine.add(4);
  expect(await metrics.registry.metrics()).toContain('millrace_answers_total{path="/batch",status="200"} 7');
});

test('a counter without labels is a tally too', async () => {
  const bytes = tallies(metrics.counter('millrace_bytes_total', 'Bytes'))();
  expect(await metrics.registry.metrics()).toContain('millrace_bytes_total 0');
  bytes.add(10);
  const [figures] = (await metrics.registry.getMetricsAsJSON()).filter(({ name }) => name === 'millrace_bytes_total');
  expect(figures).toMatchObject({ values: [{ value: 10 }] });
});

test('a name without our prefix does not compile', () => {
  // @ts-expect-error The check of types is the test: it fails when this line has no error.
  metrics.counter('mails_total', 'Mails');
  // @ts-expect-error As above.
  metrics.gauge('millrace', 'Open');
  // @ts-expect-error As above.
  metrics.histogram('request_seconds', 'Requests', [1]);
});
