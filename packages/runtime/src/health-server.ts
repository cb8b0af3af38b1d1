import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Health } from './health.ts';
import type { Stoppable } from './lifecycle.ts';

/** A small server for services that have no other HTTP port. Answers only the operational paths. */
export async function startHealthServer(
  health: Pick<Health, 'answer'>,
  { port, host }: { port: number; host: string },
): Promise<Stoppable & { port: number }> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    health.answer(path).then(
      (answer) => {
        response.writeHead(answer?.status ?? 404, { 'content-type': answer?.contentType ?? 'text/plain' });
        response.end(answer?.body ?? '');
      },
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
