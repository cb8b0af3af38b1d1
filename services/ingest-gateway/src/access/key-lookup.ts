import type { KnownProject } from './project-key-store.ts';

/**
 * Whose key it is. `undetermined`: the stores fail and nothing is remembered; the event is accepted and the consumer
 * decides (docs/architecture.md#the-way-of-one-event). `busy`: they answer, but too many keys are looked up at once; the client has to
 * come again, else whoever sends enough keys that nobody has would be let in.
 */
export type KeyLookup =
  | { outcome: 'known'; project: KnownProject }
  | { outcome: 'unknown' }
  | { outcome: 'undetermined' }
  | { outcome: 'busy' };

export const undetermined: KeyLookup = Object.freeze({ outcome: 'undetermined' });
export const unknown: KeyLookup = Object.freeze({ outcome: 'unknown' });
export const busy: KeyLookup = Object.freeze({ outcome: 'busy' });
