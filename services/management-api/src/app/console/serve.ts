// The console: static files of packages/console, on the same host as the API that it asks.
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { NextFunction, Request, Response } from 'express';

/**
 * Nothing is loaded from elsewhere, nothing inline is run, no page frames this one, and text never becomes markup
 * (docs/operations/console.md).
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
  /** As the build left it: `index.html`, `icon.svg` and `assets/…`. */
  directory: string;
  /** Address of the API for clients; its path is what a proxy puts before everything. */
  publicUrl?: string | undefined;
  /** Where SDKs send events, when that is another host; shown in snippets. */
  ingestUrl?: string | undefined;
  /** Whether invites can be mailed: pages say so before somebody waits for a mail. */
  sendsMail?: boolean;
  /** Providers of the installation, as their buttons name them. */
  signInProviders?: readonly { kind: string; name: string }[];
}

/**
 * Answers GETs below `/console`: its files, and for every other address that a browser opens the one page, which reads the rest of
 * the address. Everything else is left to what comes after.
 * @returns null where no console was built
 */
export async function serveConsole({
  directory,
  publicUrl,
  ingestUrl,
  sendsMail = false,
  signInProviders = [],
}: ConsoleOptions) {
  const page = await readFile(join(directory, 'index.html'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (page === null) return null;
  const prefix = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');
  const facts = {
    'millrace-ingest': ingestUrl,
    'millrace-mail': sendsMail ? 'on' : undefined,
    'millrace-providers': signInProviders.length > 0 ? JSON.stringify(signInProviders) : undefined,
  };
  const html = Buffer.from(placePage(page, `${prefix}/console/`, facts));
  const files = new Set(['/icon.svg', ...(await readdir(join(directory, 'assets'))).map((name) => `/assets/${name}`)]);

  return async (request: Request, response: Response, next: NextFunction) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return next();
    if (files.has(request.path)) return sendFile(request, response, { directory, files });
    const isForBrowser = request.headers.accept?.includes('text/html') === true;
    if (!isForBrowser || request.path.startsWith('/assets/')) return next();
    // Without the slash the address is that of a file beside the folder.
    if (request.originalUrl.split('?', 1)[0] === '/console') return response.redirect(302, `${prefix}/console/`);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.setHeader('Cache-Control', 'no-store');
    response.type('html').send(html);
  };
}

/** The page names its files from where it lies: it is sent for addresses of any depth. @param facts for its `meta` elements */
function placePage(page: string, path: string, facts: Record<string, string | undefined>): string {
  const placed = page.replaceAll(/(src|href)="\.\//g, (_, name: string) => `${name}="${asAttribute(path)}`);
  return Object.entries(facts).reduce(
    (before, [name, content = '']) =>
      before.replace(`name="${name}" content=""`, () => `name="${name}" content="${asAttribute(content)}"`),
    placed,
  );
}

const asAttribute = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** Names hold the hash of what is in them, so a browser asks for each once. */
async function sendFile(
  request: Request,
  response: Response,
  { directory, files }: { directory: string; files: ReadonlySet<string> },
): Promise<void> {
  const isHashed = request.path.startsWith('/assets/');
  response.setHeader('Cache-Control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
  response.setHeader('Content-Type', types[extname(request.path)] ?? 'application/octet-stream');
  const encoding = (['br', 'gzip'] as const).find(
    (name) => request.acceptsEncodings(name) && files.has(`${request.path}${endings[name]}`),
  );
  response.vary('Accept-Encoding');
  if (encoding) response.setHeader('Content-Encoding', encoding);
  response.end(await readFile(join(directory, `${request.path}${encoding ? endings[encoding] : ''}`)));
}

const endings = { br: '.br', gzip: '.gz' };
