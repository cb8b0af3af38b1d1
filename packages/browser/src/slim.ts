import { takeOptions } from './options/take-options.ts';
import { createClient } from './start/create-client.ts';
import { slimFeatures } from './start/slim-features.ts';

export type * from './client/captured-event.ts';
export type * from './client/client.ts';
export type * from './client/options.ts';
export type * from './client/posthog-names.ts';
export type * from './client/values.ts';

/** The small client: what it captures is what it is told. */
export const posthog = createClient({ features: slimFeatures, readOptions: takeOptions });
/** @alias of the above */
// biome-ignore lint/style/noDefaultExport: how applications import it
export default posthog;
