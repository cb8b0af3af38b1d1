import { randomUUID } from 'node:crypto';
import { fillerProperties } from './filler-properties.ts';

/** What the gateway is loaded with: one event of 2 KB a request, or 50 events of 1 KB. */
export const workloads = {
  'single-2kb': { path: '/capture/', eventsPerRequest: 1, eventBytes: 2048, variants: 1000 },
  'batch-50x1kb': { path: '/batch/', eventsPerRequest: 50, eventBytes: 1024, variants: 50 },
} as const;
export type WorkloadName = keyof typeof workloads;

/** Whole HTTP requests as bytes, each with its own events and distinct ids, made before the clock runs. */
export function buildRequests(
  name: WorkloadName,
  projectApiKey: string,
): { requests: Buffer[]; eventsPerRequest: number } {
  const { path, eventsPerRequest, eventBytes, variants } = workloads[name];
  const requests = Array.from({ length: variants }, (_, variant) => {
    const events = Array.from({ length: eventsPerRequest }, (_, index) =>
      buildEvent(variant * eventsPerRequest + index, eventBytes),
    );
    const body =
      eventsPerRequest === 1
        ? { api_key: projectApiKey, ...events[0] }
        : { api_key: projectApiKey, batch: events, sent_at: new Date().toISOString() };
    return requestBytes(path, JSON.stringify(body));
  });
  return { requests, eventsPerRequest };
}

/** An event as SDKs send it, whose JSON is about `eventBytes` long. */
function buildEvent(seed: number, eventBytes: number) {
  const event = {
    event: 'order placed',
    distinct_id: `user-${seed}`,
    uuid: randomUUID(),
    timestamp: new Date().toISOString(),
    properties: {},
  };
  return { ...event, properties: fillerProperties(seed, eventBytes - JSON.stringify(event).length) };
}

function requestBytes(path: string, body: string): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '\r\n',
  ].join('\r\n');
  return Buffer.from(head + body, 'utf8');
}
