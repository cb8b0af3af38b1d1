import { createObserver, type Metrics } from '@millrace/runtime';
import type { ByteBudget } from '../body/byte-budget.ts';
import type { DropTally } from './drops.ts';

export interface CaptureMetrics {
  began(): void;
  /** @param bytes the size of the body before decompression */
  bodyReceived(bytes: number): void;
  published(topic: 'live' | 'historical', events: number, dropped: DropTally): void;
  dropped(cause: 'quota_limited', events: number): void;
  partsOmitted(parts: number): void;
  /** @param outcome.code the error code, or null for a successful request */
  ended(outcome: { path: string; status: number; code: string | null; seconds: number; traceId: string | null }): void;
}

const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createCaptureMetrics(metrics: Metrics, budget: ByteBudget): CaptureMetrics {
  const ingested = metrics.counter(
    'millrace_capture_events_ingested_total',
    'Events that the event log has acknowledged',
    ['topic'],
  );
  const dropped = metrics.counter('millrace_capture_events_dropped_total', 'Events dropped from accepted requests', [
    'cause',
  ]);
  const requests = metrics.counter('millrace_capture_requests_total', 'Completed requests', ['path', 'status']);
  const refused = metrics.counter('millrace_capture_requests_refused_total', 'Requests that got an error response', [
    'code',
  ]);
  const parts = metrics.counter(
    'millrace_capture_parts_omitted_total',
    'Parts of multipart requests that were omitted from stored events',
  );
  const bytes = metrics.counter(
    'millrace_capture_received_bytes_total',
    'Total size of the received request bodies, before decompression',
  );
  const running = metrics.gauge('millrace_capture_requests_in_flight', 'Requests in progress');
  const held = metrics.gauge('millrace_capture_in_flight_bytes', 'Total size of the request bodies in memory');
  const maxHeld = metrics.gauge(
    'millrace_capture_in_flight_limit_bytes',
    'Maximum total size of the request bodies in memory',
  );
  maxHeld.set(budget.maxBytes);
  const duration = metrics.histogram(
    'millrace_capture_request_seconds',
    'Time from receiving the request headers to the response',
    durationBuckets,
    [],
    { withExemplars: true },
  );
  const observeDuration = createObserver(metrics, duration);
  let inFlight = 0;

  // Set the gauge when metrics are scraped instead of for each request.
  Object.assign(running, { collect: () => running.set(inFlight) });
  Object.assign(held, { collect: () => held.set(budget.usedBytes()) });
  return {
    began: () => {
      inFlight += 1;
    },
    bodyReceived: (count) => bytes.inc(count),
    published(topic, events, tally) {
      ingested.inc({ topic }, events);
      for (const [cause, count] of tally.counts()) dropped.inc({ cause }, count);
    },
    dropped: (cause, events) => dropped.inc({ cause }, events),
    partsOmitted: (count) => parts.inc(count),
    ended({ path, status, code, seconds, traceId }) {
      inFlight -= 1;
      requests.inc({ path, status: String(status) });
      if (code !== null) refused.inc({ code });
      observeDuration(seconds, {}, traceId);
    },
  };
}
