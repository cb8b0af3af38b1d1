// Rate limiters: sliding windows, and the limits for requests, invalid keys and sign-ups.

import { AppError } from '@millrace/runtime';
import { type CounterChange, createInProcessStore, type KeyValueStore } from '@millrace/runtime/cache';
import { LRUCache } from 'lru-cache';

export interface RateWindow {
  seconds: number;
  limit: number;
}

export interface RateLimit {
  /**
   * Counts one request of a subject, such as a key. Does not count a request that exceeds a window.
   * @returns null if the request is within all windows, or the number of seconds to wait
   */
  take(subject: string): Promise<number | null>;
  /** Reverts a recent count. Used by limits that count only failures. */
  refund(subject: string): Promise<void>;
}

export interface RateLimitOptions {
  /** The counter store that all processes share. While it is unreachable, each process counts separately. */
  keyValue: KeyValueStore;
  /** Prefix of the counter names. */
  name: string;
  /** A `limit` of 0 disables a window. */
  windows: readonly RateWindow[];
  now?: () => number;
}

/**
 * Creates sliding windows (docs/api/README.md#rate-limits). A window's count is the count of the current interval plus
 * a fraction of the previous interval's count. The fraction is the part of the previous interval that is still inside
 * the window. Counting takes one round trip. If counting fails, requests are allowed.
 */
export function createRateLimit({ keyValue, name, windows, now = Date.now }: RateLimitOptions): RateLimit {
  const active = windows.filter(({ limit }) => limit > 0);
  /** The fallback store is created on first use, because it reserves a large amount of memory. */
  let fallback: KeyValueStore | undefined;
  const addToCounters = batchCounterChanges((changes) => keyValue.addToCounters(changes));

  async function count(changes: Parameters<KeyValueStore['addToCounters']>[0]): Promise<number[]> {
    if (keyValue.isHealthy()) {
      try {
        return await addToCounters(changes);
      } catch {
        // The store has already logged its failure, so continue counting in memory.
      }
    }
    fallback ??= createInProcessStore();
    return fallback.addToCounters(changes);
  }

  const countersOf = (subject: string, intervals: readonly number[]) => (index: number, back: number) => ({
    key: `rate:${name}:${subject}:${active[index]?.seconds}:${(intervals[index] ?? 0) - back}`,
    atLeast: 0,
    ttlSeconds: 2 * (active[index]?.seconds ?? 1),
  });

  return {
    async refund(subject) {
      if (active.length === 0) return;
      const counterOf = countersOf(
        subject,
        active.map(({ seconds }) => Math.floor(now() / 1000 / seconds)),
      );
      await count(active.map((_window, index) => ({ ...counterOf(index, 0), by: -1 })));
    },
    async take(subject) {
      if (active.length === 0) return null;
      const at = now() / 1000;
      const intervals = active.map(({ seconds }) => Math.floor(at / seconds));
      const counterOf = countersOf(subject, intervals);
      const counts = await count(
        active.flatMap((_window, index) => [
          { ...counterOf(index, 0), by: 1 },
          { ...counterOf(index, 1), by: 0 },
        ]),
      );
      const waits = active.map((window, index) =>
        secondsToWait(window, {
          elapsed: at / window.seconds - (intervals[index] ?? 0),
          current: (counts[2 * index] ?? 1) - 1,
          previous: counts[2 * index + 1] ?? 0,
        }),
      );
      const wait = Math.max(...waits);
      if (wait <= 0) return null;
      await count(active.map((_window, index) => ({ ...counterOf(index, 0), by: -1 })));
      return Math.ceil(wait);
    },
  };
}

/**
 * Returns the number of seconds until the next request is allowed, or 0 if it is allowed now.
 * @param elapsed the fraction of the current interval that has passed, from 0 to 1
 * @param current the number of requests in the current interval. `previous` is the number in the interval before.
 */
function secondsToWait(
  { seconds, limit }: RateWindow,
  { elapsed, current, previous }: { elapsed: number; current: number; previous: number },
): number {
  const room = limit - 1 - current;
  if (previous * (1 - elapsed) <= room) return 0;
  // The next request is allowed when the count has decreased enough: either in the current interval, while the previous
  // interval leaves the window, or in the next interval, while the current interval leaves the window.
  const fadesAt = room >= 0 ? 1 - room / previous : 2 - (limit - 1) / current;
  return Math.max((fadesAt - elapsed) * seconds, 0.001);
}

/**
 * Creates the error with `Retry-After` (docs/api/README.md#rate-limits).
 * @param reason a sentence that states which requests were too many
 */
export function createThrottledError(seconds: number, reason: string): AppError {
  return new AppError(
    'rate_limited',
    `Request was throttled. Expected available in ${seconds} second${seconds === 1 ? '' : 's'}. ${reason}`,
    { code: 'throttled', retryAfterSeconds: seconds },
  );
}

type AddToCounters = KeyValueStore['addToCounters'];

interface Waiting {
  changes: readonly CounterChange[];
  resolve(counts: number[]): void;
  reject(error: unknown): void;
}

/** Maximum number of changes per command (`KeyValueStore.addToCounters`). */
const maxChanges = 200;

/**
 * Combines the counter changes of one event loop iteration into a single command that contains each counter once.
 * Callers get the same counts as if the changes had been made one by one, in the order of the calls. Supports only
 * changes with `atLeast` 0.
 */
export function batchCounterChanges(addToCounters: AddToCounters): AddToCounters {
  let waiting: Waiting[] = [];
  let changeCount = 0;

  async function send(): Promise<void> {
    const batch = waiting;
    waiting = [];
    changeCount = 0;
    if (batch.length === 0) return;
    const sums = new Map<string, CounterChange>();
    for (const change of batch.flatMap(({ changes }) => changes)) {
      const before = sums.get(change.key);
      sums.set(change.key, { ...change, by: change.by + (before?.by ?? 0) });
    }
    try {
      const totals = await addToCounters([...sums.values()]);
      const counts = new Map([...sums.values()].map(({ key, by }, index) => [key, (totals[index] ?? 0) - by]));
      for (const { changes, resolve } of batch) {
        resolve(
          changes.map(({ key, by }) => {
            const count = (counts.get(key) ?? 0) + by;
            counts.set(key, count);
            return count;
          }),
        );
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return (changes) =>
    new Promise((resolve, reject) => {
      waiting.push({ changes, resolve, reject });
      changeCount += changes.length;
      if (changeCount >= maxChanges) void send();
      else if (waiting.length === 1) process.nextTick(() => void send());
    });
}

/**
 * Prevents clients from guessing keys. After too many requests with a wrong or missing key, all requests from the same
 * IP address are rejected for a while. Keys that were valid recently are still accepted, because otherwise one broken
 * script could block an entire office that shares an IP address.
 */
export interface GuessLimit {
  /**
   * Checks whether an IP address is blocked. Must be called before looking up a key.
   * @param secureValue null for a request without a key
   * @throws AppError `rate_limited`
   */
  check(address: string, secureValue: string | null): void;
  recordSuccess(secureValue: string): void;
  recordFailure(address: string): Promise<void>;
}

const goodKeyMs = 10 * 60_000;

/**
 * Creates a limit for requests that a client could use to guess a secret.
 * @param what the counted requests are, for the error message
 */
export function createGuessLimit(
  rateLimit: RateLimit,
  { what = 'an invalid or missing personal API key', now = Date.now }: { what?: string; now?: () => number } = {},
): GuessLimit {
  const blockedUntil = new LRUCache<string, number>({ max: 10_000 });
  const goodKeys = new LRUCache<string, true>({ max: 10_000, ttl: goodKeyMs });
  return {
    check(address, secureValue) {
      const leftMs = (blockedUntil.get(toNetwork(address)) ?? 0) - now();
      if (leftMs <= 0 || (secureValue !== null && goodKeys.has(secureValue))) return;
      const reason = `${toNetwork(address)} sent too many requests with ${what}.`;
      throw createThrottledError(Math.ceil(leftMs / 1000), reason);
    },
    recordSuccess: (secureValue) => void goodKeys.set(secureValue, true),
    async recordFailure(address) {
      const network = toNetwork(address);
      const wait = await rateLimit.take(network);
      if (wait !== null) blockedUntil.set(network, now() + wait * 1000);
    },
  };
}

/**
 * Returns the network of an IP address. A client with IPv6 usually has an entire /64 network, so its IP addresses are
 * counted together. An IPv4 address is counted separately, in any notation.
 */
export function toNetwork(address: string): string {
  const ipv4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const [head = '', tail] = address.split('%')[0]?.toLowerCase().split('::') ?? [];
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - front.length - back.length)).fill('0');
  return [...front, ...zeros, ...back].slice(0, 4).join(':');
}

/** Limits invite requests that do not contain a key. No other rate limit applies to them. */
export interface SignUpLimit {
  /**
   * Counts an invite request, whether its secret is right or wrong.
   * @throws AppError `rate_limited` for too many requests from the IP address
   */
  countRequest(address: string): Promise<void>;
  /**
   * Counts a request with a wrong invite secret, from any IP address. Requests with the right secret are not counted,
   * so that an attacker cannot lock the invited user out.
   * @throws AppError `rate_limited`
   */
  countWrong(inviteId: string): Promise<void>;
}

/**
 * Creates the limits for invite requests without a key.
 * @param perMinute maximum number of requests from one IP address, and of requests with a wrong secret for one invite.
 *   0 means no limit.
 */
export function createSignUpLimit({
  keyValue,
  perMinute,
}: {
  keyValue: KeyValueStore;
  perMinute: number;
}): SignUpLimit {
  const windows = [{ seconds: 60, limit: perMinute }];
  const ofAddress = createRateLimit({ keyValue, name: 'signup', windows });
  const ofInvite = createRateLimit({ keyValue, name: 'invite', windows });
  return {
    async countRequest(address) {
      refuse(await ofAddress.take(toNetwork(address)));
    },
    async countWrong(inviteId) {
      refuse(await ofInvite.take(inviteId.toLowerCase()));
    },
  };
}

function refuse(wait: number | null): void {
  if (wait !== null) throw createThrottledError(wait, 'Your IP address sent too many invite requests.');
}
