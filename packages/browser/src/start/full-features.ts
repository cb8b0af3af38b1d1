import { createAutocapture } from '../autocapture/autocapture.ts';
import type { Feature } from '../client/core.ts';
import { describeDevice } from '../device/device.ts';
import { createEarlyAccess } from '../early-access/early-access.ts';
import { createFlags } from '../flags/flags.ts';
import { createOverrides } from '../flags/override-flags.ts';
import { filterBots } from '../limits/bots.ts';
import { limitRate } from '../limits/rate-limit.ts';
import { createOrigin } from '../origin/create-origin.ts';
import { createPageViews } from '../pageviews/page-views.ts';
import { createRemoteConfig } from '../remote-config/remote-config.ts';
import { absentMembers } from './absent-members.ts';

/**
 * What the full build has, in the order it starts. The settings come last: they may be there at once, for all others.
 * @param asked what only some sites ask for, which may come later
 */
export const fullFeatures = (...asked: Feature[]): Feature[] => [
  ...[filterBots, limitRate, describeDevice, createOrigin, absentMembers],
  ...[createPageViews, createAutocapture, ...asked],
  (core) => createFlags(core, createOverrides(core)),
  ...[createEarlyAccess, createRemoteConfig],
];
