import { buildRequests, workloads } from './gateway-workloads.ts';

test.each(Object.keys(workloads) as (keyof typeof workloads)[])(
  'builds requests for the workload %s with events of the size in its name',
  (name) => {
    const { requests, eventsPerRequest } = buildRequests(name, 'phc_bench');
    const { eventBytes, variants } = workloads[name];
    expect(requests).toHaveLength(variants);
    for (const request of requests) {
      const [head = '', body = ''] = request.split('\r\n\r\n');
      expect(head).toContain(`Content-Length: ${Buffer.byteLength(body)}`);
      const parsed = JSON.parse(body) as { api_key: string; batch?: unknown[] };
      expect(parsed.api_key).toBe('phc_bench');
      expect(parsed.batch?.length ?? 1).toBe(eventsPerRequest);
      const bytesPerEvent = body.length / eventsPerRequest;
      expect(bytesPerEvent).toBeGreaterThan(eventBytes * 0.95);
      expect(bytesPerEvent).toBeLessThan(eventBytes * 1.05);
    }
  },
);
