import { LRUCache } from 'lru-cache';
import { type RateLimit, throttled } from './rate-limit.ts';

/**
 * Keeps an address from trying keys: after too many requests with a wrong one or none, all that comes from there is
 * refused for a while, except keys that were good here a moment ago, because a whole office may share an address with one
 * broken script.
 */
export interface GuessLimit {
  /**
   * To be asked before a key is looked up.
   * @param secureValue null for a request without a key.
   * @throws AppError `rate_limited`.
   */
  check(address: string, secureValue: string | null): void;
  noteGood(secureValue: string): void;
  /** Counts a wrong or missing key. */
  noteWrong(address: string): Promise<void>;
}

const goodKeyMs = 10 * 60_000;

export function createGuessLimit(rateLimit: RateLimit, now: () => number = Date.now): GuessLimit {
  const blockedUntil = new LRUCache<string, number>({ max: 10_000 });
  const goodKeys = new LRUCache<string, true>({ max: 10_000, ttl: goodKeyMs });
  return {
    check(address, secureValue) {
      const leftMs = (blockedUntil.get(networkOf(address)) ?? 0) - now();
      if (leftMs > 0 && (secureValue === null || !goodKeys.has(secureValue))) throw throttled(Math.ceil(leftMs / 1000));
    },
    noteGood: (secureValue) => void goodKeys.set(secureValue, true),
    async noteWrong(address) {
      const network = networkOf(address);
      const wait = await rateLimit.take(network);
      if (wait !== null) blockedUntil.set(network, now() + wait * 1000);
    },
  };
}

/** Who has one IPv6 address has a /64 of them; an IPv4 address counts by itself, however it is written. */
export function networkOf(address: string): string {
  const ipv4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const [head = '', tail] = address.split('%')[0]?.toLowerCase().split('::') ?? [];
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - front.length - back.length)).fill('0');
  return [...front, ...zeros, ...back].slice(0, 4).join(':');
}
