import { AppError } from '@millrace/runtime';
import { LRUCache } from 'lru-cache';
import type { KnownProject } from '../access/project-key-store.ts';
import type { GatewayConfig } from '../config.ts';
import { createQuotas } from '../limits/quotas.ts';
import type { SharedCounters } from '../limits/shared-counters.ts';

export interface FlagLimits {
  /**
   * Counts a flag request.
   * @throws AppError `rate_limited` if the API key or the IP address has exceeded its rate limit
   */
  admit(token: string, address: string | null): void;
  isUsedUp(project: KnownProject): boolean;
  countEvaluation(project: KnownProject): void;
  /**
   * Counts a request for flag definitions.
   * @throws AppError `rate_limited` if an environment sends more than 600 of them per minute
   */
  admitDefinitions(environmentId: number): void;
}

export type FlagLimitConfig = Pick<
  GatewayConfig,
  'flagBurstPerKey' | 'flagRequestsPerSecondPerKey' | 'flagBurstPerAddress' | 'flagRequestsPerSecondPerAddress'
>;

const definitionsPerMinute = 600;
const minuteMs = 60_000;
const maxBuckets = 50_000;

export function createFlagLimits(
  config: FlagLimitConfig,
  { counters, now }: { counters: SharedCounters; now(): number },
): FlagLimits {
  const ofKey = createBuckets({ burst: config.flagBurstPerKey, perSecond: config.flagRequestsPerSecondPerKey, now });
  const ofAddress = createBuckets({
    burst: config.flagBurstPerAddress,
    perSecond: config.flagRequestsPerSecondPerAddress,
    now,
  });
  const quotas = createQuotas({ counters, now, name: 'flag-quota' });
  return {
    admit(token, address) {
      if (!ofKey(token) || (address !== null && !ofAddress(address))) throw tooFast(1);
    },
    isUsedUp: (project) => project.flagRequestsPerMonth !== null && quotas.isUsedUp(asQuota(project)),
    countEvaluation(project) {
      if (project.flagRequestsPerMonth !== null) quotas.noteStored(asQuota(project), 1);
    },
    admitDefinitions(environmentId) {
      const nowMs = now();
      const minute = Math.floor(nowMs / minuteMs);
      const endMs = (minute + 1) * minuteMs;
      const count = counters.add(`flag-definitions:${environmentId}:${minute}`, 1, endMs + minuteMs);
      if (count > definitionsPerMinute) throw tooFast(Math.max(1, Math.ceil((endMs - nowMs) / 1000)));
    },
  };
}

/** Flag requests have a quota, as events do, but with separate counters. */
function asQuota({ environmentId, flagRequestsPerMonth }: KnownProject) {
  return { environmentId, eventsPerMonth: flagRequestsPerMonth };
}

/**
 * Creates token buckets. Each subject starts with `burst` tokens, and regains `perSecond` tokens every second. A burst
 * of 0 means no limit.
 */
function createBuckets(options: { burst: number; perSecond: number; now(): number }): (subject: string) => boolean {
  const { burst, perSecond, now } = options;
  if (burst === 0) return () => true;
  const buckets = new LRUCache<string, { tokens: number; atMs: number }>({ max: maxBuckets });
  return (subject) => {
    const atMs = now();
    const before = buckets.get(subject);
    const tokens =
      before === undefined ? burst : Math.min(burst, before.tokens + ((atMs - before.atMs) / 1000) * perSecond);
    const isAllowed = tokens >= 1;
    buckets.set(subject, { tokens: isAllowed ? tokens - 1 : tokens, atMs });
    return isAllowed;
  };
}

function tooFast(retryAfterSeconds: number): AppError {
  return new AppError('rate_limited', 'Rate limit exceeded', { retryAfterSeconds });
}
