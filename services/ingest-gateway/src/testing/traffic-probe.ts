import { randomUUID } from 'node:crypto';
import type { TestGateway } from './test-gateway.ts';

export interface ProbeResponse {
  status: number;
  text: string;
  retryAfter: string | null;
}

export interface ProbeRequest {
  path?: string;
  headers?: Record<string, string>;
  isHistorical?: boolean;
}

/** Sends a batch with one event per distinct ID. An event's name is its index. */
export async function sendBatch(
  gateway: TestGateway,
  token: string,
  distinctIds: readonly string[],
  { path = '/batch', headers = {}, isHistorical = false }: ProbeRequest = {},
): Promise<ProbeResponse> {
  const batch = distinctIds.map((distinct_id, index) => ({ event: `e${index}`, distinct_id, uuid: randomUUID() }));
  const body = JSON.stringify({ api_key: token, batch, ...(isHistorical ? { historical_migration: true } : {}) });
  const response = await fetch(gateway.url + path, { method: 'POST', body, headers });
  return { status: response.status, text: await response.text(), retryAfter: response.headers.get('retry-after') };
}

/** Returns the same distinct ID once for each event. */
export function times(count: number, distinctId = 'someone'): string[] {
  return Array.from({ length: count }, () => distinctId);
}

/**
 * A clock that only the test advances, so that the result does not depend on when the test runs within a time window.
 */
export interface TestClock {
  now(): number;
  advance(ms: number): void;
}

/** @param start an ISO time. The default is in the middle of a month, at the start of a window of ten seconds */
export function createTestClock(start = '2026-11-15T12:00:00.000Z'): TestClock {
  let nowMs = Date.parse(start);
  return {
    now: () => nowMs,
    advance(ms) {
      nowMs += ms;
    },
  };
}

/** Returns a metric's sum over all labels, or only over the given ones. */
export async function measured(
  gateway: TestGateway,
  name: string,
  labels: Record<string, string> = {},
): Promise<number> {
  const values = (await gateway.metrics.registry.getSingleMetric(`millrace_${name}`)?.get())?.values ?? [];
  return values
    .filter((each) => Object.entries(labels).every(([label, value]) => each.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);
}
