import { readFile } from 'node:fs/promises';
import { startServer, type TestServer } from '@millrace/testing';
import type { PageScripts } from './bundle-sizes.ts';
import { busyPage, smallPage } from './busy-page.ts';

/** A shop: `/small` and `/busy`, and at `/<side>.js` the library that a page loads. */
export async function startBenchSite(scripts: PageScripts): Promise<TestServer> {
  const inPage = await readFile(new URL('in-page.mjs', import.meta.url), 'utf8');
  const files: Record<string, [type: string, content: string]> = {
    '/small': ['text/html; charset=utf-8', smallPage],
    '/busy': ['text/html; charset=utf-8', busyPage],
    '/in-page.mjs': ['text/javascript', inPage],
    '/millrace.js': ['text/javascript', scripts.millrace],
    '/reference.js': ['text/javascript', scripts.reference],
    '/none.js': ['text/javascript', ''],
  };
  return startServer((request, response) => {
    const [type, content] = files[request.url ?? ''] ?? ['text/plain', ''];
    response.writeHead(content === '' && request.url !== '/none.js' ? 404 : 200, {
      'content-type': type,
      // A page that shares its process with no other has a clock of 5 µs instead of 100.
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'credentialless',
    });
    response.end(content);
  });
}
