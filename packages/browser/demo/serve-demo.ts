// The web server of the demo shop, whose pages send events with the browser library.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface DemoOptions {
  /** URL of the gateway, as seen from the browser. */
  ingestUrl: string;
  projectApiKey: string;
  /** The port to listen on. 0 means any free port. */
  port: number;
}

export interface DemoShop {
  url: string;
  stop(): Promise<void>;
}

interface Page {
  type: string;
  content: string;
}

const types = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

/** Serves the demo shop on localhost. Its content security policy is as strict as possible. */
export async function serveDemo({ ingestUrl, projectApiKey, port }: DemoOptions): Promise<DemoShop> {
  const library = `${ingestUrl}/array/${encodeURIComponent(projectApiKey)}/array.js`;
  const html = (await read('index.html')).replace('%LIBRARY%', library).replace('%PROJECT_API_KEY%', projectApiKey);
  const pages: Record<string, Page> = {
    '/': { type: types.html, content: html },
    '/shop.css': { type: types.css, content: await read('shop.css') },
    '/shop.js': { type: types.js, content: await read('shop.js') },
  };
  const headers = {
    'content-security-policy': policyFor(ingestUrl),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  };
  const server = createServer((request, response) => {
    const page = pages[new URL(request.url ?? '/', 'http://shop').pathname];
    const { type, content } = page ?? {
      type: 'text/plain; charset=utf-8',
      content: 'Not found.\n',
    };
    response.writeHead(page ? 200 : 404, { ...headers, 'content-type': type });
    response.end(request.method === 'HEAD' ? undefined : content);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const read = (name: string) => readFile(new URL(name, import.meta.url), 'utf8');

function policyFor(ingestUrl: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' ${ingestUrl}`,
    `connect-src ${ingestUrl}`,
    "style-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
}
