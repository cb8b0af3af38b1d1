import { captureExceptionOf } from './exceptions/capture-exception.ts';
import { checkOptions } from './options/check-options.ts';
import { moreOptions } from './options/more-options.ts';
import { page } from './page/globals.ts';
import { createClient } from './start/create-client.ts';
import { fullFeatures } from './start/full-features.ts';
import { takeOverStub } from './start/take-over-stub.ts';

/** `https://host/static/array.js` and `https://host/array/<token>/array.js` were served by the ingest host. */
const { src = '' } = Object(page?.document.currentScript) as Partial<HTMLScriptElement>;
const scriptHost = src.replace(/\/(static|array)\/.*$/, '');

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
