import type { StoreTimeLimits } from '../access/store-time-limits.ts';

/** Longer than a busy machine stands still, and less than `eventually` waits. */
export const patienceMs = 60_000;

/** For tests in which every store answers. Those of outages use the limits of the product. */
export const patientTimeLimits: StoreTimeLimits = {
  cachedKeyMs: patienceMs,
  keyMs: patienceMs,
  keyTurnMs: patienceMs,
  flagDataMs: patienceMs,
  flagDataTurnMs: patienceMs,
  definitionsMs: patienceMs,
  definitionsTurnMs: patienceMs,
  settingsMs: patienceMs,
  bearerTurnMs: patienceMs,
};
