import { randomUUID } from 'node:crypto';
import { request as ask, type ServerResponse } from 'node:http';
import { startServer, type TestServer } from '@millrace/testing';
import { fillerProperties } from '../workload/gateway-workloads.ts';

const tickMs = 20;

/** Passes requests on to the API, except those for the Live stream, which it answers with this many events per second. */
export async function startFlood(apiPort: number, eventsPerSecond: number): Promise<TestServer> {
  return startServer((request, response) => {
    if (request.url?.includes('/live/events')) return flood(response, eventsPerSecond);
    const { method, headers, url: path } = request;
    const passed = ask({ host: '127.0.0.1', port: apiPort, method, headers, path }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    request.pipe(passed);
  });
}

function flood(response: ServerResponse, eventsPerSecond: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.write('event: hello\ndata: {"stored":true,"dropped":true,"why":null,"lag_seconds":0.1}\n\n');
  const properties = Array.from({ length: 50 }, (_, seed) => fillerProperties(seed, 900));
  const startedAt = performance.now();
  let sent = 0;
  const ticks = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * eventsPerSecond);
    const now = new Date().toISOString();
    for (; sent < due; sent += 1) {
      const message = {
        ...{ uuid: randomUUID(), timestamp: now, distinct_id: `visitor-${sent % 97}`, person_id: null },
        ...{ event: sent % 3 === 0 ? 'order placed' : '$pageview', properties: properties[sent % properties.length] },
        ...{ outcome: 'stored', captured_at: now, stored_at: now },
      };
      response.write(`data: ${JSON.stringify(message)}\n\n`);
    }
  }, tickMs);
  response.on('close', () => clearInterval(ticks));
}
