import { startServer, type TestServer } from '../start-server.ts';

/**
 * Starts a site like a shop, whose pages all use the library.
 * @param scripts the modules by path; a page imports the first module, or the one in its URL parameter `library`
 * @param options the library's options; JSON in the URL parameter `options` overrides them
 */
export async function startShopSite(
  scripts: Record<string, string>,
  token: string,
  options: Record<string, unknown>,
): Promise<TestServer> {
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title><script type="module">
const query = new URLSearchParams(location.search);
const { default: posthog } = await import(query.get('library') ?? '${Object.keys(scripts)[0]}');
posthog.init('${token}', { ...${JSON.stringify(options)}, ...JSON.parse(query.get('options') ?? '{}') });
window.posthog = posthog;
window.capture = (names) => names.map((name) => [posthog.capture(name).uuid, posthog.get_distinct_id()]);
</script></head><body><a href="/next">Next</a></body></html>`;
  return startServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://shop');
    const script = scripts[pathname];
    response.writeHead(pathname === '/favicon.ico' ? 204 : 200, {
      'content-type': script === undefined ? 'text/html; charset=utf-8' : 'text/javascript',
      'cache-control': script === undefined ? 'no-cache' : 'max-age=3600',
    });
    response.end(script ?? page);
  });
}
