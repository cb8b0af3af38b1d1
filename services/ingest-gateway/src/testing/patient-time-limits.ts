import { patienceMs } from '@millrace/testing';
import type { StoreTimeLimits } from '../access/store-limits.ts';

/** For tests in which every store answers. Those of outages use the limits of the product. */
export const patientTimeLimits: StoreTimeLimits = {
  keyMs: patienceMs,
  keyQueueMs: patienceMs,
  oldKeyMs: patienceMs,
  flagDataMs: patienceMs,
  flagDataQueueMs: patienceMs,
  definitionsMs: patienceMs,
  definitionsQueueMs: patienceMs,
  settingsMs: patienceMs,
  expensiveFlagsMs: patienceMs,
  bearerQueueMs: patienceMs,
};
