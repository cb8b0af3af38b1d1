import { randomUUID } from 'node:crypto';
import type { TestGateway } from './test-gateway.ts';

export interface ProbeAnswer {
  status: number;
  text: string;
  retryAfter: string | null;
}

export interface ProbeRequest {
  path?: string;
  headers?: Record<string, string>;
  isHistorical?: boolean;
}

/** Sends one batch: an event for each distinct id, named by its index. */
export async function sendBatch(
  gateway: TestGateway,
  token: string,
  distinctIds: readonly string[],
  { path = '/batch', headers = {}, isHistorical = false }: ProbeRequest = {},
): Promise<ProbeAnswer> {
  const batch = distinctIds.map((distinct_id, index) => ({ event: `e${index}`, distinct_id, uuid: randomUUID() }));
  const body = JSON.stringify({ api_key: token, batch, ...(isHistorical ? { historical_migration: true } : {}) });
  const response = await fetch(gateway.url + path, { method: 'POST', body, headers });
  return { status: response.status, text: await response.text(), retryAfter: response.headers.get('retry-after') };
}

/** Events of one distinct id. */
export function times(count: number, distinctId = 'someone'): string[] {
  return Array.from({ length: count }, () => distinctId);
}

/** A clock that stands still until a test moves it, so that no test depends on where in a window it happens to run. */
export interface TestClock {
  now(): number;
  advance(ms: number): void;
}

/** @param start where in time; the middle of a month, the start of a window of ten seconds. */
export function createTestClock(start = '2026-11-15T12:00:00.000Z'): TestClock {
  let nowMs = Date.parse(start);
  return {
    now: () => nowMs,
    advance(ms) {
      nowMs += ms;
    },
  };
}

/** Value of a metric over all label values, or of those with these. */
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
