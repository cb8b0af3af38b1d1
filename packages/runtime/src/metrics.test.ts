import { createMetrics, joinMetrics } from './metrics.ts';

const metrics = createMetrics({ withProcessMetrics: false });

test('a metric name without the prefix causes a type error', () => {
  // @ts-expect-error The type check is the test: it fails if this line has no error.
  metrics.counter('mails_total', 'Mails');
  // @ts-expect-error As above.
  metrics.gauge('millrace', 'Open');
  // @ts-expect-error As above.
  metrics.histogram('request_seconds', 'Requests', [1]);
});

test.each([false, true])(
  'services in one process count separately, and share one metrics response (OpenMetrics: %p)',
  async (hasExemplars) => {
    const ofService = (service: string, topics: number) => {
      const own = createMetrics({ withProcessMetrics: false, hasExemplars, service });
      own.counter('millrace_records_total', 'Records', ['topic']).inc({ topic: 'live' }, topics);
      own.gauge('millrace_ready', 'Ready').set(1);
      return own;
    };
    const ofProcess = createMetrics({ hasExemplars });
    const text = await joinMetrics([ofService('gateway', 2), ofService('consumer', 3), ofProcess]);

    const lines = text.split('\n').filter((line) => /millrace_/.test(line));
    const named = hasExemplars ? 'millrace_records' : 'millrace_records_total';
    expect(lines).toEqual([
      ...[`# HELP ${named} Records`, `# TYPE ${named} counter`],
      'millrace_records_total{topic="live",service="gateway"} 2',
      'millrace_records_total{topic="live",service="consumer"} 3',
      ...['# HELP millrace_ready Ready', '# TYPE millrace_ready gauge'],
      'millrace_ready{service="gateway"} 1',
      'millrace_ready{service="consumer"} 1',
    ]);
    expect(text.match(/^process_resident_memory_bytes /gm)).toHaveLength(1);
    expect(text.match(/^# EOF$/gm) ?? []).toHaveLength(hasExemplars ? 1 : 0);
    expect(text).toMatch(hasExemplars ? /\n# EOF\n$/ : /[^\n]\n$/);
  },
);
