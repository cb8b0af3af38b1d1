import { createHash } from 'node:crypto';
import { AppError } from '@millrace/runtime';
import { type Request, type Response, Router } from 'express';
import { readConfigForKey, renderRemoteConfigScript } from './config-route.ts';
import { type BrowserLibrary, type LibraryFile, prependToGzip } from './library.ts';
import { rejectOtherMethods } from './only-methods-route.ts';
import type { SdkConfigDependencies } from './settings.ts';

/** Creates the routes that serve the browser library to websites that load it with a script tag. */
export function createLibraryRoutes(deps: SdkConfigDependencies, library: BrowserLibrary | null): Router {
  const router = Router();
  fileRoutes(router, library);
  libraryWithConfigRoutes(router, deps, library);
  return router;
}

/** A released version's files never change. */
const forever = 'public, max-age=31536000, immutable';
/** Pages load a new version after at most this time. A cache can serve its old copy while it revalidates it. */
const fiveMinutes = 'public, max-age=300, stale-while-revalidate=86400';

/**
 * Serves the browser library's files: `/static/array.js` for the current version, `/static/<version>/array.js` for a
 * specific version, and a list of all files with their digests (docs/browser-library.md).
 */
function fileRoutes(router: Router, library: BrowserLibrary | null): void {
  router
    .route('/static/library.json')
    .get((_request, response) => {
      response.set('cache-control', fiveMinutes).json(contentsOf(library));
    })
    .all(rejectOtherMethods('GET', 'HEAD', 'OPTIONS'));
  router
    .route(['/static/:name', '/static/:version/:name'])
    .get((request, response) => {
      const { name, version } = request.params as { name: string; version?: string };
      const { etag, plain, br, gzip } = requireFile(library, name, version);
      sendScript(request, response, {
        etag,
        forms: [
          ['br', () => br],
          ['gzip', () => gzip],
        ],
        plain: () => plain,
        cacheControl: version === undefined ? fiveMinutes : forever,
      });
    })
    .all(rejectOtherMethods('GET', 'HEAD', 'OPTIONS'));
}

/** @throws AppError `not_found`, which lists the available versions or files */
function requireFile(library: BrowserLibrary | null, name: string, version?: string): LibraryFile {
  if (library === null) throw new AppError('not_found', 'This server does not include the browser library.');
  const files = library.files.get(version ?? library.version);
  if (files === undefined) {
    const known = [...library.files.keys()].join(', ');
    throw new AppError(
      'not_found',
      `This server does not have version ${version} of the browser library. Available versions: ${known}.`,
    );
  }
  const file = files.get(name);
  if (file !== undefined) return file;
  const known = [...files.keys()].join(', ');
  throw new AppError('not_found', `The browser library does not include the file ${name}. Available files: ${known}.`);
}

function contentsOf(library: BrowserLibrary | null) {
  if (library === null) return { version: null, versions: {} };
  const versions = [...library.files].map(([version, files]) => {
    const named = [...files].map(([name, { integrity }]) => [name, { integrity }]);
    return [version, Object.fromEntries(named)];
  });
  return { version: library.version, versions: Object.fromEntries(versions) };
}

interface Script {
  etag: string;
  /** The compressed forms of the script, smallest first. */
  forms: [coding: 'br' | 'gzip', body: () => Buffer][];
  plain(): Buffer;
  cacheControl: string;
}

/**
 * Sends the smallest encoding that the client accepts, or 304. The headers are the same for all origins, so that caches
 * keep one copy.
 */
function sendScript(request: Request, response: Response, { etag, forms, plain, cacheControl }: Script): void {
  response.removeHeader('access-control-allow-credentials');
  response.set({
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
    vary: 'accept-encoding',
    'cache-control': cacheControl,
    'content-type': 'text/javascript; charset=utf-8',
  });
  const accepted = request.acceptsEncodings();
  const form = forms.find(([coding]) => accepted.includes(coding));
  // Each encoding has its own ETag, so that a cache that stores several of them can revalidate each one.
  response.set('etag', form === undefined ? etag : `${etag.slice(0, -1)}-${form[0]}"`);
  if (form !== undefined) response.set('content-encoding', form[0]);
  response.send(form === undefined ? plain() : form[1]());
}

/**
 * The compile hint works only in a file's first line, so this script must begin with the library's hint. See
 * https://v8.dev/blog/explicit-compile-hints.
 */
const compileHint = '//# allFunctionsCalledOnLoad\n';

/**
 * Adds routes for `/array/<key>/array.js`, which combines the environment's config and the library in one script, so
 * that a page needs only one request.
 */
function libraryWithConfigRoutes(router: Router, deps: SdkConfigDependencies, library: BrowserLibrary | null): void {
  router
    .route('/array/:token/array.js')
    .get(async (request, response) => {
      const file = requireFile(library, 'array.js');
      const { token, config, cacheControl } = await readConfigForKey(request.params.token, deps);
      const script = compileHint + renderRemoteConfigScript(token, config);
      const digest = createHash('sha256').update(script).digest('base64url').slice(0, 16);
      sendScript(request, response, {
        etag: `${file.etag.slice(0, -1)}-${digest}"`,
        forms: [['gzip', () => prependToGzip(script, file.gzip, file.plain)]],
        plain: () => Buffer.concat([Buffer.from(script), file.plain]),
        cacheControl,
      });
    })
    .all(rejectOtherMethods('GET', 'HEAD', 'OPTIONS'));
}
