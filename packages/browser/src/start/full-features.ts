import type { Feature } from '../client/core.ts';
import { absentMembers } from './absent-members.ts';

/** What the full build has, in the order it starts. */
export const fullFeatures: Feature[] = [absentMembers];
