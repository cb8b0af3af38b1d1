import { once } from 'node:events';
import { type IncomingMessage, request as requestOf, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { startServer } from '../start-server.ts';

export const requestOutcomes = [
  'passed',
  '500',
  '503 without headers for pages',
  '429 with Retry-After',
  'cut off before',
  'cut off after',
  'slow',
] as const;
export type RequestOutcome = (typeof requestOutcomes)[number];

/** A proxy in front of a gateway that behaves like an unreliable network or load balancer. */
export interface FlakyHost {
  port: number;
  /** Sets the fraction of event requests that fail from now on (0 to 1). */
  setTrouble(part: number): void;
  counts: Record<RequestOutcome, number>;
  /** How often each UUID was sent, whether or not the request succeeded. */
  sent: Map<string, number>;
  stop(): Promise<void>;
}

/** Starts the proxy. @param random a function that returns numbers in [0, 1) */
export async function startFlakyHost(gatewayPort: number, random: () => number): Promise<FlakyHost> {
  const counts = Object.fromEntries(requestOutcomes.map((outcome) => [outcome, 0])) as Record<RequestOutcome, number>;
  const sent = new Map<string, number>();
  let trouble = 0;
  let troubles: RequestOutcome[] = [];

  /**
   * Chooses a random fault. Every fault occurs once before any fault is repeated, so that few requests cover all
   * faults.
   */
  function nextTrouble(): RequestOutcome {
    if (troubles.length === 0) troubles = requestOutcomes.filter((outcome) => outcome !== 'passed');
    const [next = 'passed'] = troubles.splice(Math.floor(random() * troubles.length), 1);
    return next;
  }

  const server = await startServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  });
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const isTrouble = request.method === 'POST' && random() < trouble;
    const outcome = isTrouble ? nextTrouble() : 'passed';
    if (request.method === 'POST') {
      counts[outcome] += 1;
      for (const uuid of uuidsOf(body)) sent.set(uuid, (sent.get(uuid) ?? 0) + 1);
    }
    const refuse = (status: number, headers = {}) => void response.writeHead(status, headers).end('{}');
    const readable = { 'access-control-allow-origin': request.headers.origin ?? '*' };
    if (outcome === '500') return refuse(500, readable);
    if (outcome === '503 without headers for pages') return refuse(503);
    if (outcome === '429 with Retry-After') {
      return refuse(429, { ...readable, 'retry-after': '1', 'access-control-expose-headers': 'retry-after' });
    }
    if (outcome === 'cut off before') return void request.socket.destroy();
    if (outcome === 'slow') await sleep(500 + random() * 4000);
    await pass(gatewayPort, request, body, outcome === 'cut off after' ? null : response);
    if (outcome === 'cut off after') request.socket.destroy();
  }
  return {
    port: server.port,
    setTrouble(part) {
      trouble = part;
    },
    counts,
    sent,
    stop: server.stop,
  };
}

/** Forwards a request. @param response the response to the client, or null if the client must not receive it */
async function pass(port: number, request: IncomingMessage, body: Buffer, response: ServerResponse | null) {
  const { method, url: path, headers } = request;
  const forwarded = requestOf({ host: '127.0.0.1', port, method, path, headers });
  forwarded.end(body);
  const [received] = (await once(forwarded, 'response')) as [IncomingMessage];
  response?.writeHead(received.statusCode ?? 502, received.headers);
  for await (const chunk of received) response?.write(chunk);
  response?.end();
}

function uuidsOf(body: Buffer): string[] {
  const text = (body[0] === 0x1f ? gunzipSync(body) : body).toString();
  const { batch = [] } = JSON.parse(text) as { batch?: { uuid: string }[] };
  return batch.map(({ uuid }) => uuid);
}
