import { patienceMs } from '@millrace/testing';
import type { StoreTimeLimits } from '../access/store-limits.ts';

/** Time limits for tests in which all stores respond. Tests of outages use the default limits. */
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
