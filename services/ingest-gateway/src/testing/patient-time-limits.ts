import { patienceMs } from '@millrace/testing';
import type { StoreTimeLimits } from '../access/store-limits.ts';

/** For tests in which every store answers. Those of outages use the limits of the product. */
export const patientTimeLimits: StoreTimeLimits = {
  keyMs: patienceMs,
  keyTurnMs: patienceMs,
  oldKeyMs: patienceMs,
  flagDataMs: patienceMs,
  flagDataTurnMs: patienceMs,
  definitionsMs: patienceMs,
  definitionsTurnMs: patienceMs,
  settingsMs: patienceMs,
  flagTurnsMs: patienceMs,
  bearerTurnMs: patienceMs,
};
