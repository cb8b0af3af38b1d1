import { createLateExceptions } from './exceptions/create-late-exceptions.ts';
import { checkOptions } from './options/check-options.ts';
import { moreOptions } from './options/more-options.ts';
import { page } from './page/globals.ts';
import { createLoadSideScript } from './side-scripts/load-side-script.ts';
import { createClient } from './start/create-client.ts';
import { fullFeatures } from './start/full-features.ts';
import { takeOverStub } from './start/take-over-stub.ts';
import { createWebVitals } from './web-vitals/web-vitals.ts';

const script = page?.document.currentScript as HTMLScriptElement | null | undefined;

/** `https://host/static/array.js` and `https://host/array/<token>/array.js` were served by the ingest host. */
const scriptHost = /^(.*)\/(static|array)\//.exec(script?.src ?? '')?.[1];

const load = createLoadSideScript({ host: scriptHost, nonce: script?.nonce });

const features = fullFeatures(
  (core) => createLateExceptions(core, async () => (await load(core, 'exceptions'))()),
  createWebVitals(async (core, names) => {
    const captureVitals = await load(core, 'web-vitals').catch(() => undefined);
    captureVitals?.(core, names);
  }),
);

if (page) takeOverStub(page, createClient({ features, readOptions: checkOptions, moreOptions, scriptHost }));
