// Loads the code of features that only some sites use.

import type { Core } from '../client/core.ts';
import { libraryVersion } from '../client/library-version.ts';
import type { createReadException } from '../exceptions/read-exception.ts';
import { readFromDocument, readFromWindow } from '../page/globals.ts';
import type { CaptureVitals } from '../web-vitals/web-vitals.ts';

declare global {
  interface Window {
    __millrace?: Partial<SideScripts>;
  }
}

/** The exports of each side script. A side script contains a feature that only some sites use. */
export interface SideScripts {
  exceptions: typeof createReadException;
  'web-vitals': CaptureVitals;
}

/**
 * Hashes of the side script files, inserted by the bundler. They extend a page's integrity check of the library to the
 * side scripts.
 */
declare const SIDE_SCRIPT_DIGESTS: Record<keyof SideScripts, string>;

/** Loads a side script. Rejects if the file is missing or the page's content security policy forbids it. */
export type LoadSideScript = <Name extends keyof SideScripts>(core: Core, name: Name) => Promise<SideScripts[Name]>;

/**
 * Creates the function that loads side scripts.
 * @param own the host and nonce of the library's own script, which the side scripts also use
 */
export function createLoadSideScript(own: { host: string | undefined; nonce: string | undefined }): LoadSideScript {
  return (core, name) =>
    new Promise((resolve, reject) => {
      const script = readFromDocument('createElement').call(document, 'script');
      Object.assign(script, {
        crossOrigin: 'anonymous',
        integrity: SIDE_SCRIPT_DIGESTS[name],
        nonce: own.nonce,
        onerror: reject,
        onload() {
          const loaded = readFromWindow('__millrace')?.[name];
          if (loaded) resolve(loaded);
        },
        src: `${own.host ?? core.url('', 'assets')}/static/${libraryVersion}/${name}.js`,
      });
      readFromDocument('head').append(script);
    });
}
