import type { Core } from '../client/core.ts';
import { libraryVersion } from '../client/library-version.ts';
import type { createReadException } from '../exceptions/read-exception.ts';
import { ofDocument, ofWindow } from '../page/globals.ts';
import type { CaptureVitals } from '../web-vitals/web-vitals.ts';

declare global {
  interface Window {
    /** What has come of the side scripts. */
    __millrace?: Partial<SideScripts>;
  }
}

/** What only some sites ask for, as scripts of their own beside the library: each leaves there what it is. */
export interface SideScripts {
  exceptions: typeof createReadException;
  'web-vitals': CaptureVitals;
}

/** Digests of the files, put in when the library is bundled: a page that checks the library checks them too. */
declare const SIDE_SCRIPT_DIGESTS: Record<keyof SideScripts, string>;

/** Rejects where the file is not there, or the page's policy forbids it. */
export type LoadSideScript = <Name extends keyof SideScripts>(core: Core, name: Name) => Promise<SideScripts[Name]>;

/** @param own the library's script, from whose host and with whose rights the others come */
export function createLoadSideScript(own: { host: string | undefined; nonce: string | undefined }): LoadSideScript {
  return (core, name) =>
    new Promise((resolve, reject) => {
      const script = ofDocument('createElement').call(document, 'script');
      Object.assign(script, {
        crossOrigin: 'anonymous',
        integrity: SIDE_SCRIPT_DIGESTS[name],
        nonce: own.nonce,
        onerror: reject,
        onload() {
          const loaded = ofWindow('__millrace')?.[name];
          if (loaded) resolve(loaded);
        },
        src: `${own.host ?? core.url('', 'assets')}/static/${libraryVersion}/${name}.js`,
      });
      ofDocument('head').append(script);
    });
}
