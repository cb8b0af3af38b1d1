import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { packageDirectory } from './installed-version.ts';

export interface PageServer {
  /** The page that starts the SDK; another origin than the ingest host's. */
  pageUrl(target: { ingestUrl: string; projectApiKey: string }): string;
  stop(): Promise<void>;
}

/**
 * A site that uses the browser SDK as its npm package gives it, in a script of type module.
 *
 * @param options of the SDK, beside those every page needs.
 */
export async function startPageServer(packageName: string, bundle: string, options: object): Promise<PageServer> {
  const sdk = await readFile(new URL(`dist/${bundle}`, packageDirectory(packageName)));
  const files: Record<string, { type: string; content: string | Buffer }> = {
    '/': { type: 'text/html; charset=utf-8', content: pageWith(options) },
    '/left': { type: 'text/html', content: '<!doctype html><title>Left</title>' },
    '/sdk.js': { type: 'text/javascript', content: sdk },
  };
  const server = createServer((request, response) => {
    const file = files[new URL(request.url ?? '/', 'http://page').pathname];
    response.writeHead(file ? 200 : 204, file ? { 'content-type': file.type } : {});
    response.end(file?.content);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    pageUrl: ({ ingestUrl, projectApiKey }) =>
      `http://127.0.0.1:${port}/?${new URLSearchParams({ host: ingestUrl, key: projectApiKey })}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

// A browser that is driven looks like a bot to the SDK, so that filter is off; all else is as the SDK comes.
const pageWith = (options: object) => `<!doctype html>
<title>Shop</title>
<button id="buy" data-attr="buy">Buy now</button>
<script type="module">
  import posthog from '/sdk.js';
  const query = new URLSearchParams(location.search);
  posthog.init(query.get('key'), {
    api_host: query.get('host'), opt_out_useragent_filter: true, ...${JSON.stringify(options)},
  });
  window.posthog = posthog;
</script>`;
