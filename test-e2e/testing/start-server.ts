import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TestServer {
  url: string;
  port: number;
  stop(): Promise<void>;
}

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

export async function startServer(listener: Listener): Promise<TestServer> {
  const server = createServer(async (request, response) => {
    try {
      await listener(request, response);
    } catch (error) {
      // A response is not necessary, because the client disconnected during its request, for example when its page was
      // closed.
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
