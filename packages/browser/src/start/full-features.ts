import type { Feature } from '../client/core.ts';
import { createEarlyAccess } from '../early-access/early-access.ts';
import { createFlags } from '../flags/flags.ts';
import { createRemoteConfig } from '../remote-config/remote-config.ts';
import { absentMembers } from './absent-members.ts';

/** What the full build has, in the order it starts. The settings come last: they may be there at once, for all others. */
export const fullFeatures: Feature[] = [absentMembers, createFlags, createEarlyAccess, createRemoteConfig];
