import type { Feature } from '../client/core.ts';
import { createFlags } from '../flags/flags.ts';
import { createRemoteConfig } from '../remote-config/remote-config.ts';

/** Events, identity and flags: no autocapture, no errors, nothing that is measured. */
export const slimFeatures: Feature[] = [createFlags, createRemoteConfig];
