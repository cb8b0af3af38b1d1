// Serves the console's static files (packages/console) on the same host as the API.

import { readdir, readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import type { ApiRequest, PageRoute } from '@millrace/http';

/**
 * Content security policy of the console page. The page loads nothing from other hosts and runs no inline scripts.
 * Other sites cannot embed it in a frame, and scripts cannot insert strings as markup (docs/operations/console.md).
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "object-src 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const headers = {
  'Content-Security-Policy': policy,
  'Referrer-Policy': 'no-referrer',
  'Permissions-Policy':
    'camera=(), geolocation=(), microphone=(), publickey-credentials-get=(self), publickey-credentials-create=(self)',
};

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

export interface ConsoleOptions {
  directory: string;
  /** The API's URL for clients, including any path that a proxy adds. */
  publicUrl?: string | undefined;
  /**
   * The URL to which SDKs send events, if it differs from the API's URL. The console shows this URL in code snippets.
   */
  ingestUrl?: string | undefined;
  /** Whether Millrace can email invites. If false, the console shows a hint. */
  sendsMail?: boolean;
  /** The installation's sign-in providers. Each of them gets a button on the sign-in page. */
  signInProviders?: readonly { kind: string; name: string }[];
}

/**
 * Creates the page route for `/console` and everything under it. The route serves the console's files. For every other
 * URL that a browser opens, the route serves the HTML page, whose script reads the URL. All other requests get 404.
 * @returns null if the console was not built
 */
export async function serveConsole({
  directory,
  publicUrl,
  ingestUrl,
  sendsMail = false,
  signInProviders = [],
}: ConsoleOptions): Promise<PageRoute | null> {
  const page = await readPage(directory, 'index.html');
  if (page === null) return null;
  const prefix = prefixOf(publicUrl);
  const facts = {
    'millrace-ingest': ingestUrl,
    'millrace-mail': sendsMail ? 'on' : undefined,
    'millrace-providers': signInProviders.length > 0 ? JSON.stringify(signInProviders) : undefined,
  };
  const html = Buffer.from(placePage(page, `${prefix}/console/`, facts));
  const assets = await readdir(join(directory, 'assets'));
  const files = new Set(['/console/icon.svg', ...assets.map((name) => `/console/assets/${name}`)]);

  return {
    path: '/console/*',
    methods: ['GET', 'HEAD'],
    accepts({ url = '', headers: { accept = '' } }) {
      const [path = ''] = url.split('?', 1);
      return files.has(path) || (accept.includes('text/html') && !path.startsWith('/console/assets/'));
    },
    async serve({ request, response }) {
      const { path } = request;
      if (files.has(path)) return sendFile(request, response, { directory, files });
      if (path === '/console') return void response.writeHead(302, { location: `${prefix}/console/` }).end();
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      response.setHeader('Cache-Control', 'no-store');
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      response.setHeader('Content-Length', html.length);
      response.end(html);
    },
  };
}

/**
 * Reads the HTML page for public links. Its script and style files are under `/console/` too.
 * @returns null if the console was not built
 */
export async function readSharedPage({
  directory,
  publicUrl,
}: Pick<ConsoleOptions, 'directory' | 'publicUrl'>): Promise<Buffer | null> {
  const page = await readPage(directory, 'shared.html');
  return page === null ? null : Buffer.from(placePage(page, `${prefixOf(publicUrl)}/console/`, {}));
}

async function readPage(directory: string, name: string): Promise<string | null> {
  return readFile(join(directory, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}

const prefixOf = (publicUrl: string | undefined) =>
  publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');

/**
 * Converts the page's file names to absolute paths, because the page is served for URLs of any depth.
 * @param facts the values of the page's `meta` elements
 */
function placePage(page: string, path: string, facts: Record<string, string | undefined>): string {
  const placed = page.replaceAll(/(src|href)="\.\//g, (_, name: string) => `${name}="${asAttribute(path)}`);
  return Object.entries(facts).reduce(
    (before, [name, content = '']) =>
      before.replace(`name="${name}" content=""`, () => `name="${name}" content="${asAttribute(content)}"`),
    placed,
  );
}

const asAttribute = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/**
 * Sends a file of the console build. File names contain a content hash, so browsers can cache the files indefinitely.
 */
async function sendFile(
  { path, header }: ApiRequest,
  response: ServerResponse,
  { directory, files }: { directory: string; files: ReadonlySet<string> },
): Promise<void> {
  const isHashed = path.startsWith('/console/assets/');
  response.setHeader('Cache-Control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
  response.setHeader('Content-Type', types[extname(path)] ?? 'application/octet-stream');
  const accepted = acceptedEncodings(header('accept-encoding'));
  const encoding = (['br', 'gzip'] as const).find((name) => accepted.has(name) && files.has(`${path}${endings[name]}`));
  response.setHeader('Vary', 'Accept-Encoding');
  if (encoding) response.setHeader('Content-Encoding', encoding);
  const file = `${path}${encoding ? endings[encoding] : ''}`.replace('/console', '');
  response.end(await readFile(join(directory, file)));
}

function acceptedEncodings(header = ''): Set<string> {
  const listed = header
    .toLowerCase()
    .split(',')
    .filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part));
  return new Set(listed.map((part) => part.split(';')[0]?.trim() ?? ''));
}

const endings = { br: '.br', gzip: '.gz' };
