import { startServer, type TestServer } from '@millrace/testing';
import { bundleLibrary } from '../../bundle/bundle-library.ts';

export interface SiteOptions {
  body?: string;
  headers?: Record<string, string>;
  files?: Record<string, { type: string; content: string }>;
}

/** Starts a site whose pages load the library as a module in `window.posthog`. The pages do not call `init`. */
export async function startSite({ body = '', headers = {}, files = {} }: SiteOptions = {}): Promise<TestServer> {
  const { code } = await bundleLibrary('index.js');
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>
<script type="module">import posthog from '/millrace.js'; window.posthog = posthog;</script></head><body>${body}</body></html>`;
  const known: NonNullable<SiteOptions['files']> = {
    '/millrace.js': { type: 'text/javascript', content: code },
  };
  return startServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    const file = files[pathname] ?? known[pathname] ?? { type: 'text/html; charset=utf-8', content: page };
    response.writeHead(pathname === '/favicon.ico' ? 204 : 200, { 'content-type': file.type, ...headers });
    response.end(file.content);
  });
}
