import { captureExceptionOf, createExceptions } from './exceptions/create-exceptions.ts';
import { checkOptions, moreOptions } from './options/check-options.ts';
import { createClient } from './start/create-client.ts';
import { fullFeatures } from './start/full-features.ts';
import { captureVitals } from './web-vitals/capture-vitals.ts';
import { createWebVitals } from './web-vitals/web-vitals.ts';

export type * from './client/client.ts';
export type * from './client/options.ts';
export type * from './client/posthog-names.ts';
export * from './client/survey-names.ts';
export type * from './client/values.ts';

/** The client of an application; `init` starts it. */
export const posthog = createClient({
  features: fullFeatures(createExceptions, createWebVitals(captureVitals)),
  always: captureExceptionOf,
  readOptions: checkOptions,
  moreOptions,
});
/** @alias of the above */
// biome-ignore lint/style/noDefaultExport: how applications import it
export default posthog;
