import type { Feature } from '../client/core.ts';
import { createFlags } from '../flags/flags.ts';

/** Events, identity and flags: no autocapture, no errors, nothing that is measured, and no settings to wait for. */
export const slimFeatures: Feature[] = [
  createFlags,
  ({ signals }) => {
    signals.emit('remoteConfig', null);
    return undefined;
  },
];
