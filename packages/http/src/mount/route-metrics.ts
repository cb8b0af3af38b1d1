import type { Metrics } from '@millrace/runtime';

export interface RouteMetrics {
  /** @param operation an operationId, or one of the few fixed words for requests that met no route. */
  observe(operation: string, status: number, seconds: number): void;
}

/** Counts and times every answer; the histogram's own count is the number of requests. */
export function createRouteMetrics(metrics: Metrics): RouteMetrics {
  const duration = metrics.histogram(
    'millrace_http_request_seconds',
    'From the request line to the last byte of the answer',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    ['operation', 'status'],
  );
  return {
    observe: (operation, status, seconds) =>
      duration.observe({ operation, status: `${Math.floor(status / 100)}xx` }, seconds),
  };
}
