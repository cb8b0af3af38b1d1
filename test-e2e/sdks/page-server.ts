import { readFile } from 'node:fs/promises';
import { startServer } from '@millrace/testing';
import { findPackageDirectory } from './installed-version.ts';

export interface PageServer {
  /** Returns the URL of a page that starts the SDK. The page and the ingest host have different origins. */
  pageUrl(target: { ingestUrl: string; projectApiKey: string }): string;
  stop(): Promise<void>;
}

/**
 * Starts a site that loads the browser SDK from its npm package as a module.
 * @param options the SDK's options, in addition to those that every page needs
 */
export async function startPageServer(packageName: string, bundle: string, options: object): Promise<PageServer> {
  const sdk = await readFile(new URL(`dist/${bundle}`, findPackageDirectory(packageName)));
  const files: Record<string, { type: string; content: string | Buffer }> = {
    '/': { type: 'text/html; charset=utf-8', content: pageWith(options) },
    '/left': { type: 'text/html', content: '<!doctype html><title>Left</title>' },
    '/sdk.js': { type: 'text/javascript', content: sdk },
  };
  const { url, stop } = await startServer((request, response) => {
    const file = files[new URL(request.url ?? '/', 'http://page').pathname];
    response.writeHead(file ? 200 : 204, file ? { 'content-type': file.type } : {});
    response.end(file?.content);
  });
  return {
    pageUrl: ({ ingestUrl, projectApiKey }) =>
      `${url}/?${new URLSearchParams({ host: ingestUrl, key: projectApiKey })}`,
    stop,
  };
}

// Turn off the bot filter, because the SDK would treat an automated browser as a bot. All other settings have their
// default values.
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
