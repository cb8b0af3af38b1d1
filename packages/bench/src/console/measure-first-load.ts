import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { runProgram } from '@millrace/stack/run-program';
import { startServer } from '@millrace/testing';
import type { Browser } from 'playwright-core';
import type { FirstLoad } from '../report/console-report.ts';
import { readMetric, slowedBy } from './open-page.ts';

/** The pages of Unleash, as its package has them built. Umami's package on npm holds sources only. */
const unleash = 'unleash-server@8.2.0';

/** Where a built front end lies, and below which path it wants to be served. */
export interface BuiltSite {
  name: FirstLoad['site'];
  directory: string;
  path: string;
}

/** Fetches Unleash's pages into a folder. @throws Error when npm cannot be reached */
export async function fetchUnleash(directory: string): Promise<BuiltSite> {
  const run = async (program: string, ...words: string[]) => {
    const { status, output } = await runProgram(program, words, { cwd: directory });
    if (status !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${status}: ${output}`);
  };
  await run('npm', 'pack', unleash, '--silent');
  await run('tar', 'xzf', `${unleash.replace('@', '-')}.tgz`, 'package/frontend/build');
  return { name: 'unleash', directory: join(directory, 'package/frontend/build'), path: '/' };
}

/** What somebody loads who is not signed in, from a server that answers every question with 401. */
export async function measureFirstLoad(browser: Browser, site: BuiltSite): Promise<FirstLoad> {
  const sent = { bytes: 0, requests: 0 };
  const server = await startServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://127.0.0.1');
    const file = await read(site, pathname);
    if (file === null) {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    const content = await promisify(gzip)(file.content, { level: 9 });
    if (counted.has(file.type)) {
      sent.bytes += content.length;
      sent.requests += 1;
    }
    response
      .writeHead(200, { 'content-type': types[file.type] ?? 'image/png', 'content-encoding': 'gzip' })
      .end(content);
  });
  const visitor = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const page = await visitor.newPage();
    // Fonts from another host are not counted, and not waited for.
    await page.route(
      (url) => url.origin !== server.url,
      (route) => route.abort(),
    );
    const session = await visitor.newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    await session.send('Emulation.setCPUThrottlingRate', { rate: slowedBy });
    await page.goto(server.url + site.path, { waitUntil: 'networkidle' });
    const mainThreadMs = (await readMetric(session, 'TaskDuration')) * 1000;
    return { site: site.name, kilobytes: sent.bytes / 1000, requests: sent.requests, mainThreadMs };
  } finally {
    await visitor.close();
    await server.stop();
  }
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
const counted = new Set(['.html', '.js', '.css']);

/** A file, or the page for every address that is no file; null for what is asked of an API. */
async function read(site: BuiltSite, pathname: string): Promise<{ content: Buffer; type: string } | null> {
  const type = extname(pathname);
  if (pathname.startsWith('/api/') || pathname.startsWith('/auth/')) return null;
  const name = type === '' ? 'index.html' : normalize(pathname.slice(site.path.length));
  const content = await readFile(join(site.directory, name)).catch(() => null);
  if (content === null) return null;
  if (type !== '') return { content, type };
  // Filled in by Unleash's own server: where it is served from.
  return { content: Buffer.from(content.toString().replace(/::\w+::/g, '')), type: '.html' };
}
