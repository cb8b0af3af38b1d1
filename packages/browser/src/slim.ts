import type { Feature } from './client/core.ts';
import { createFlags } from './flags/flags.ts';
import { readUncheckedOptions } from './options/default-options.ts';
import { createClient } from './start/create-client.ts';

/** The small client's features, without autocapture, exceptions, measurements or remote settings. */
const slimFeatures: Feature[] = [
  createFlags,
  ({ signals }) => {
    signals.emit('remoteConfig', null);
    return undefined;
  },
];

export type * from './client/client.ts';
export type * from './client/options.ts';
export type * from './client/posthog-names.ts';
export type * from './client/values.ts';

/** The small client. It captures an event only if the application calls one of its methods. */
export const posthog = createClient({ features: slimFeatures, readOptions: readUncheckedOptions });
/** @alias of `posthog` */
// biome-ignore lint/style/noDefaultExport: applications use the default import
export default posthog;
