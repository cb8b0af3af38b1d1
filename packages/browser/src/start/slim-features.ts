import type { Feature } from '../client/core.ts';

/** Events, identity and flags: no autocapture, no errors, nothing that is measured. */
export const slimFeatures: Feature[] = [];
