import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Stoppable } from '@millrace/runtime';

export interface ServeOptions {
  port: number;
  host: string;
  /** How long requests in progress may take to finish once stopping began. */
  drainTimeoutMs: number;
}

/** Listens. `stop` takes no new connections, lets requests in progress finish, then cuts what is left. */
export async function serve(
  listener: RequestListener,
  { port, host, drainTimeoutMs }: ServeOptions,
): Promise<Stoppable & { port: number }> {
  let isStopping = false;
  const server = createServer((request, response) => {
    // A kept-alive connection would otherwise go on being used until the client tires of it.
    if (isStopping) response.setHeader('Connection', 'close');
    // One that was in use when stopping began becomes idle now, and nobody else would close it.
    response.once('close', () => {
      if (isStopping) setImmediate(() => server.closeIdleConnections());
    });
    listener(request, response);
  });
  // Longer than the idle time of common load balancers, so that it is they who close.
  server.keepAliveTimeout = 75_000;
  server.requestTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  let stopped: Promise<void> | undefined;

  async function stop(): Promise<void> {
    isStopping = true;
    const cut = setTimeout(() => server.closeAllConnections(), drainTimeoutMs);
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeIdleConnections();
    });
    clearTimeout(cut);
  }

  return {
    port: (server.address() as AddressInfo).port,
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}
