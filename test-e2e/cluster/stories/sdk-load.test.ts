import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { eventually } from '@millrace/testing';
import { startSdkLoad } from './sdk-load.ts';

interface Sent {
  uuid: string;
  distinct_id: string;
  properties: { number: number };
}

interface Seen {
  path: string;
  status: number;
  events: Sent[];
}

let server: Server;
let url: string;
/** All requests, in the order of their responses. */
const seen: Seen[] = [];

/** The test server rejects one request in five. */
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = (await json(request)) as { batch?: Sent[] } & Sent;
    const status = seen.length % 5 === 4 ? 503 : 200;
    seen.push({ path: String(request.url), status, events: body.batch ?? [body] });
    response.writeHead(status).end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test('sends batches and single events at a constant rate, retries, and keeps the order within a distinct ID', async () => {
  const load = startSdkLoad(url, { projectApiKey: 'phc_x', name: 'story', eventsPerSecond: 4000 });
  await eventually(() => load.acknowledged.size > 2000 && load.refused > 10, { what: 'acknowledged events' }).finally(
    load.stop,
  );

  const sizes = (path: string) => new Set(seen.filter((one) => one.path === path).map(({ events }) => events.length));
  expect(sizes('/capture/')).toEqual(new Set([1]));
  expect(Math.min(...sizes('/batch/'))).toBeGreaterThan(1);
  expect(Math.max(...sizes('/batch/'))).toBeLessThanOrEqual(100);
  // The number of acknowledged events must not exceed the number of captured events.
  expect(load.acknowledged.size).toBeLessThanOrEqual(load.seconds() * 4000 + 1);

  const taken = seen.filter(({ status }) => status === 200).flatMap(({ events }) => events);
  expect(new Set(taken.map(({ uuid }) => uuid))).toEqual(load.acknowledged);
  expect(taken).toHaveLength(load.acknowledged.size);
  expect(seen.filter(({ status }) => status !== 200)).toHaveLength(load.refused);
  expect(load.refusals).toEqual(new Map([[503, load.refused]]));
  const numbers = new Map<string, number[]>();
  for (const { distinct_id, properties } of taken) {
    numbers.set(distinct_id, [...(numbers.get(distinct_id) ?? []), properties.number]);
  }
  for (const [distinctId, sent] of numbers) {
    const first = Number(distinctId.split('-').at(-1));
    expect(sent).toEqual(sent.map((_, index) => first + index * 20));
  }
});
