import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedPost {
  path: string;
  headers: Record<string, string | string[] | undefined>;
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect documents of any shape
  body: any;
}

export interface WebReceiver {
  url: string;
  posts: ReceivedPost[];
  /** Sets the statuses of the next responses. All following responses have the status 200. */
  respondWith(...statuses: number[]): void;
  stop(): Promise<void>;
}

export async function startWebReceiver(): Promise<WebReceiver> {
  const posts: ReceivedPost[] = [];
  const statuses: number[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      posts.push({
        path: request.url ?? '',
        headers: request.headers,
        body: JSON.parse(String(Buffer.concat(chunks))),
      });
      response.writeHead(statuses.shift() ?? 200, { location: '/elsewhere' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
    respondWith: (...next) => void statuses.push(...next),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
