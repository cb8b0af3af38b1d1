import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Stoppable } from '@millrace/runtime';
import { createConnectionDrain } from './drain-connections.ts';

export interface ServeOptions {
  port: number;
  host: string;
  /** How long requests in progress may take to finish once stopping began. */
  drainTimeoutMs: number;
  /** For how long new connections are still served then, each with one answer. Default 0. */
  stopGraceMs?: number;
}

/** Listens. `stop` lets requests in progress finish and takes no new connections, then cuts what is left. */
export async function serve(
  listener: RequestListener,
  { port, host, drainTimeoutMs, stopGraceMs = 0 }: ServeOptions,
): Promise<Stoppable & { port: number }> {
  const server = createServer((request, response) => {
    connections.note(response);
    listener(request, response);
  });
  const connections = createConnectionDrain(server, { graceMs: stopGraceMs, timeoutMs: drainTimeoutMs });
  // Longer than the idle time of common load balancers, so that it is they who close.
  server.keepAliveTimeout = 75_000;
  server.requestTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, stop: connections.drain };
}
