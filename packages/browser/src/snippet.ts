import { captureExceptionOf } from './exceptions/capture-exception.ts';
import { checkOptions } from './options/check-options.ts';
import { moreOptions } from './options/more-options.ts';
import { attempt, page } from './page/globals.ts';
import { createClient } from './start/create-client.ts';
import { fullFeatures } from './start/full-features.ts';
import { takeOverStub } from './start/take-over-stub.ts';

/** `https://host/static/array.js` and `https://host/array/<token>/array.js` were served by the ingest host. */
const script = page?.document.currentScript;
const address = script instanceof HTMLScriptElement ? script.src : '';
const scriptHost = attempt(() => new URL(address).href.replace(/\/(static|array)\/.*$/, ''));

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
