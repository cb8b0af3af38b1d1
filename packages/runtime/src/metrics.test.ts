import { createMetrics } from './metrics.ts';

const metrics = createMetrics({ withProcessMetrics: false });

test('a name without our prefix does not compile', () => {
  // @ts-expect-error The check of types is the test: it fails when this line has no error.
  metrics.counter('mails_total', 'Mails');
  // @ts-expect-error As above.
  metrics.gauge('millrace', 'Open');
  // @ts-expect-error As above.
  metrics.histogram('request_seconds', 'Requests', [1]);
});
