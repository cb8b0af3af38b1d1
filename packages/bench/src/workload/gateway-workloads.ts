// Builds the requests of the gateway benchmark.

import { randomUUID } from 'node:crypto';
import { seededRandom } from '@millrace/testing/seeded-random';

export const workloads = {
  'single-2kb': { path: '/capture/', eventsPerRequest: 1, eventBytes: 2048, variants: 1000 },
  'batch-50x1kb': { path: '/batch/', eventsPerRequest: 50, eventBytes: 1024, variants: 50 },
} as const;
export type WorkloadName = keyof typeof workloads;

/** Builds requests, each with its own events and distinct IDs. */
export function buildRequests(
  name: WorkloadName,
  projectApiKey: string,
): { requests: string[]; eventsPerRequest: number } {
  const { path, eventsPerRequest, eventBytes, variants } = workloads[name];
  const requests = Array.from({ length: variants }, (_, variant) => {
    const events = Array.from({ length: eventsPerRequest }, (_, index) =>
      buildEvent(variant * eventsPerRequest + index, eventBytes),
    );
    const body =
      eventsPerRequest === 1
        ? { api_key: projectApiKey, ...events[0] }
        : { api_key: projectApiKey, batch: events, sent_at: new Date().toISOString() };
    return formatHttpRequest(`POST ${path}`, {}, body);
  });
  return { requests, eventsPerRequest };
}

/** Builds a typical SDK event with about `eventBytes` bytes of JSON. */
function buildEvent(seed: number, eventBytes: number) {
  const event = {
    event: 'order placed',
    distinct_id: `user-${seed}`,
    uuid: randomUUID(),
    timestamp: new Date().toISOString(),
    properties: {},
  };
  return { ...event, properties: createFillerProperties(seed, eventBytes - JSON.stringify(event).length) };
}

/** Formats a request. @param line the request line without the version, for example `GET /path` */
export function formatHttpRequest(line: string, headers: Record<string, string>, body?: object): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const length = String(Buffer.byteLength(text));
  const ofBody = body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': length };
  const all = Object.entries({ Host: '127.0.0.1', ...headers, ...ofBody });
  return `${line} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`;
}

const words = 'amber basin cedar delta ember fjord grove harbor island jetty knoll lagoon meadow north orchard'.split(
  ' ',
);

/**
 * Builds typical properties of SDKs and applications, with about `bytes` bytes of JSON: the usual `$` properties,
 * numbers, a list, a nested object, and a string that fills the remaining bytes.
 */
export function createFillerProperties(seed: number, bytes: number): Record<string, unknown> {
  const random = seededRandom(seed + 1);
  const word = () => words[Math.floor(random() * words.length)] ?? 'word';
  const properties: Record<string, unknown> = {
    $lib: 'web',
    $lib_version: '1.434.1',
    $browser: 'Firefox',
    $os: 'Linux',
    $current_url: `https://shop.example/${word()}/${word()}?page=${Math.floor(random() * 90)}`,
    $session_id: `session-${Math.floor(random() * 1e9)}`,
    amount: Math.floor(random() * 10_000) / 100,
    currency: 'EUR',
    is_first: random() < 0.5,
    tags: [word(), word(), word()],
    cart: { items: Math.floor(random() * 9), coupon: null, shipping: word() },
  };
  let length = JSON.stringify(properties).length;
  for (let index = 0; length < bytes - 24; index++) {
    const name = `note_${index}`;
    const overhead = name.length + 6;
    const target = Math.min(90, bytes - length - overhead);
    let text = word();
    while (text.length < target) text += ` ${word()}`;
    properties[name] = text.slice(0, Math.max(1, target));
    length += overhead + String(properties[name]).length;
  }
  return properties;
}
