// Measures what a browser loads on the first visit, for the console and for a different product.

import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { runProgram } from '@millrace/stack/run-program';
import { startServer } from '@millrace/testing';
import type { Browser } from 'playwright-core';
import { cpuSlowdown, readMainThreadMs } from './open-page.ts';

/** Compare with Unleash, because its npm package contains built pages, unlike Umami's, which contains only sources. */
const unleash = 'unleash-server@8.2.0';

export type FirstLoad = Awaited<ReturnType<typeof measureFirstLoad>>;

export interface BuiltSite {
  name: 'millrace' | 'unleash';
  directory: string;
  path: string;
}

/** Downloads Unleash with npm. @throws Error if npm is not available */
export async function fetchUnleash(directory: string): Promise<BuiltSite> {
  const archive = `${unleash.replace('@', '-')}.tgz`;
  for (const command of [`npm pack ${unleash} --silent`, `tar xzf ${archive} package/frontend/build`]) {
    const { status, output } = await runProgram('sh', ['-c', command], { cwd: directory });
    if (status !== 0) throw new Error(`${command} ended with ${status}: ${output}`);
  }
  return { name: 'unleash', directory: join(directory, 'package/frontend/build'), path: '/' };
}

/** Measures what a browser loads for a visitor without a session. The server returns 401 for every API request. */
export async function measureFirstLoad(browser: Browser, site: BuiltSite) {
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
    // Do not count fonts from other hosts.
    await page.route(
      (url) => url.origin !== server.url,
      (route) => route.abort(),
    );
    const session = await visitor.newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    await session.send('Emulation.setCPUThrottlingRate', { rate: cpuSlowdown });
    await page.goto(server.url + site.path, { waitUntil: 'networkidle' });
    const mainThreadMs = await readMainThreadMs(session);
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

/**
 * Returns the file at a URL path, or the front end's page if the path has no file extension. Returns null for an API
 * request.
 */
async function read(site: BuiltSite, pathname: string): Promise<{ content: Buffer; type: string } | null> {
  const type = extname(pathname);
  if (pathname.startsWith('/api/') || pathname.startsWith('/auth/')) return null;
  const name = type === '' ? 'index.html' : normalize(pathname.slice(site.path.length));
  const content = await readFile(join(site.directory, name)).catch(() => null);
  if (content === null) return null;
  if (type !== '') return { content, type };
  // Replace these placeholders as Unleash's own server does.
  return { content: Buffer.from(content.toString().replace(/::\w+::/g, '')), type: '.html' };
}
