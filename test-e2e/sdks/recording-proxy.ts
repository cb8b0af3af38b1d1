import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Exchange {
  method: string;
  url: URL;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Response status. Null until the response arrives, and 0 if the connection broke. */
  status: number | null;
  responseHeaders: IncomingHttpHeaders;
}

export interface RecordingProxy {
  url: string;
  /** The exchanges, in the order they started. */
  exchanges: Exchange[];
  stop(): Promise<void>;
}

/**
 * Starts a proxy between an SDK and the gateway. The proxy records all requests and responses, and forwards them
 * unchanged.
 */
export async function startRecordingProxy(targetUrl: string): Promise<RecordingProxy> {
  const exchanges: Exchange[] = [];
  const server = createServer((incoming, response) => {
    void pass(incoming, response, targetUrl, exchanges);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    exchanges,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function pass(incoming: IncomingMessage, response: ServerResponse, targetUrl: string, exchanges: Exchange[]) {
  const { method = '', url = '/', headers } = incoming;
  const exchange: Exchange = {
    method,
    url: new URL(url, targetUrl),
    headers,
    body: Buffer.alloc(0),
    status: null,
    responseHeaders: {},
  };
  exchanges.push(exchange);
  try {
    exchange.body = await readAll(incoming);
    const outgoing = request(new URL(url, targetUrl), { method, headers });
    outgoing.end(exchange.body);
    const [received] = (await once(outgoing, 'response')) as [IncomingMessage];
    const body = await readAll(received);
    exchange.responseHeaders = received.headers;
    response.writeHead(received.statusCode ?? 0, received.rawHeaders);
    response.end(body);
    exchange.status = received.statusCode ?? 0;
  } catch {
    exchange.status = 0;
    response.destroy();
  }
}

async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
