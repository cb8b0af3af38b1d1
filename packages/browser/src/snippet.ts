import { captureExceptionOf } from './exceptions/capture-exception.ts';
import { checkOptions } from './options/check-options.ts';
import { moreOptions } from './options/more-options.ts';
import { attempt, page } from './page/globals.ts';
import { createClient } from './start/create-client.ts';
import { fullFeatures } from './start/full-features.ts';
import { takeOverStub } from './start/take-over-stub.ts';

/** `https://host/static/array.js` and `https://host/array/<token>/array.js` were served by the ingest host. */
const scriptHost = attempt(() => {
  const script = page?.document.currentScript as HTMLScriptElement | null;
  return new URL(script?.src ?? '').href.replace(/\/(static|array)\/.*$/, '');
});

if (page)
  takeOverStub(
    page,
    createClient({
      features: fullFeatures,
      always: captureExceptionOf,
      readOptions: checkOptions,
      moreOptions,
      scriptHost,
    }),
  );
