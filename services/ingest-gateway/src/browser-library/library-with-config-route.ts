import { createHash } from 'node:crypto';
import type { Router } from 'express';
import type { AnswerDependencies } from '../config-and-flags/answer-dependencies.ts';
import { configOfKey } from '../config-and-flags/config-route.ts';
import { onlyMethods } from '../config-and-flags/only-methods-route.ts';
import { remoteConfigScript } from '../config-and-flags/remote-config.ts';
import type { BrowserLibrary } from './browser-library.ts';
import { joinGzip } from './join-gzip.ts';
import { requireFile, sendScript } from './library-file-route.ts';

/** The library's own first line, which counts only as the first of a file. https://v8.dev/blog/explicit-compile-hints */
const compileBeside = '//# allFunctionsCalledOnLoad\n';

/** `/array/<key>/array.js`: what the environment has set and the library in one script, so that a page asks once. */
export function libraryWithConfigRoutes(
  router: Router,
  deps: AnswerDependencies,
  library: BrowserLibrary | null,
): void {
  router
    .route('/array/:token/array.js')
    .get(async (request, response) => {
      const file = requireFile(library, 'array.js');
      const { token, config, cacheControl } = await configOfKey(request.params.token, deps);
      const script = compileBeside + remoteConfigScript(token, config);
      const digest = createHash('sha256').update(script).digest('base64url').slice(0, 16);
      sendScript(request, response, {
        etag: `${file.etag.slice(0, -1)}-${digest}"`,
        forms: [['gzip', () => joinGzip(script, file.gzip, file.plain)]],
        plain: () => Buffer.concat([Buffer.from(script), file.plain]),
        cacheControl,
      });
    })
    .all(onlyMethods('GET', 'HEAD', 'OPTIONS'));
}
