import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ShopSite {
  url: string;
  stop(): Promise<void>;
}

/**
 * A site whose every page begins the library, as the page of a shop would.
 * @param scripts modules by path; a page imports the first, or the one that `library` of its address names.
 * @param options of the library; those of `options` of the address, JSON, win.
 */
export async function startShopSite(
  scripts: Record<string, string>,
  token: string,
  options: Record<string, unknown>,
): Promise<ShopSite> {
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title><script type="module">
const query = new URLSearchParams(location.search);
const { default: posthog } = await import(query.get('library') ?? '${Object.keys(scripts)[0]}');
posthog.init('${token}', { ...${JSON.stringify(options)}, ...JSON.parse(query.get('options') ?? '{}') });
window.posthog = posthog;
window.capture = (names) => names.map((name) => [posthog.capture(name).uuid, posthog.get_distinct_id()]);
</script></head><body><a href="/next">Next</a></body></html>`;
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://shop');
    const script = scripts[pathname];
    response.writeHead(pathname === '/favicon.ico' ? 204 : 200, {
      'content-type': script === undefined ? 'text/html; charset=utf-8' : 'text/javascript',
      'cache-control': script === undefined ? 'no-cache' : 'max-age=3600',
    });
    response.end(script ?? page);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
