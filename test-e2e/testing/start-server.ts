import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TestServer {
  /** As `http://127.0.0.1:4321`. */
  url: string;
  port: number;
  /** Ends connections that are open, too. */
  stop(): Promise<void>;
}

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

/** An HTTP server on a port of its own. */
export async function startServer(listener: Listener): Promise<TestServer> {
  const server = createServer(async (request, response) => {
    try {
      await listener(request, response);
    } catch (error) {
      // Who asked has gone in the middle of the question, as pages that are closed do: nobody waits for the answer.
      if (error !== request.errored) throw error;
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
