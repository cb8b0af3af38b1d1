// A cache of values derived from flag definitions. It follows changes, and works during database outages.

import { type ProjectChanges, unsubscribedMaxAgeMs } from '@millrace/db/sql';
import { LRUCache } from 'lru-cache';

export interface Versioned<Value> {
  /** The version of the definitions from which the value was derived. */
  version: string;
  value: Value;
  /** Approximate size in memory, in bytes. */
  bytes: number;
}

export interface VersionedCache<Value> {
  /**
   * Returns a value that is at most a second old, or the last known value during a database outage. A cached value,
   * which is the usual case, is returned directly and not as a promise.
   * @throws the errors of `load` if no value is known
   */
  get(environmentId: number): Value | Promise<Value>;
  usedBytes(): number;
}

export interface VersionedCacheOptions<Value> {
  changes: Pick<ProjectChanges, 'subscribe' | 'isSubscribed'>;
  /** Maximum cache size in bytes. The least recently used values are evicted. */
  maxBytes: number;
  load(environmentId: number): Promise<Versioned<Value>>;
  findVersion(environmentId: number): Promise<string>;
  onLookup(outcome: 'loaded' | 'unchanged' | 'failed'): void;
}

interface Remembered<Value> extends Versioned<Value> {
  /** When the value was last known to be up to date. */
  checkedAtMs: number;
  failedAtMs: number;
  /** Whether a change was announced after the value was loaded. */
  isOutdated: boolean;
}

/**
 * How many milliseconds a value is used without a check while changes are announced. The limit is necessary because an
 * announcement can be lost.
 */
const trustedForMs = 60_000;
/** Maximum time in milliseconds that a caller waits for a newer value if a value is cached. */
const patienceMs = 200;
/** Minimum delay in milliseconds between queries during a database outage. */
const restAfterFailureMs = 1000;

/**
 * Creates a cache of values derived from definitions. A value expires when a change is announced. While announcements
 * cannot be received, the cache checks the version every second. Concurrent callers share one query.
 */
export function createVersionedCache<Value>(options: VersionedCacheOptions<Value>): VersionedCache<Value> {
  const { changes, maxBytes, load, findVersion, onLookup } = options;
  const memory = createMemory<Value>(maxBytes);
  const underWay = new Map<number, Promise<Value>>();
  let mayHaveChangedBeforeMs = Number.NEGATIVE_INFINITY;

  changes.subscribe((change) => {
    if (change === null) {
      mayHaveChangedBeforeMs = performance.now();
      underWay.clear();
    } else if (change.isOfFlags && change.environmentId !== null) {
      const remembered = memory.peek(change.environmentId);
      if (remembered !== undefined) remembered.isOutdated = true;
      underWay.delete(change.environmentId);
    }
  });

  function get(environmentId: number): Value | Promise<Value> {
    const remembered = memory.get(environmentId);
    if (remembered === undefined) return lookUpOnce(environmentId);
    const ageMs = performance.now() - remembered.checkedAtMs;
    const usedForMs = changes.isSubscribed() ? trustedForMs : unsubscribedMaxAgeMs;
    if (isCurrent(remembered) && ageMs < usedForMs) {
      // Check in the background, so that in steady traffic, no request waits for the check.
      if (ageMs > usedForMs / 2 && isDue(remembered)) lookUpOnce(environmentId).catch(() => {});
      return remembered.value;
    }
    return isDue(remembered) ? withPatience(lookUpOnce(environmentId), remembered.value) : remembered.value;
  }

  const isCurrent = ({ isOutdated, checkedAtMs }: Remembered<Value>) =>
    !isOutdated && checkedAtMs > mayHaveChangedBeforeMs;
  const isDue = ({ failedAtMs }: Remembered<Value>) => performance.now() - failedAtMs > restAfterFailureMs;

  function lookUpOnce(environmentId: number): Promise<Value> {
    const running = underWay.get(environmentId);
    if (running !== undefined) return running;
    const pending: Promise<Value> = lookUp(environmentId, () => underWay.get(environmentId) === pending).finally(() => {
      if (underWay.get(environmentId) === pending) underWay.delete(environmentId);
    });
    underWay.set(environmentId, pending);
    return pending;
  }

  /**
   * Loads a new value if the version has changed.
   * @param isStillCurrent returns false if a change was announced after the query started, so that the query's result
   * may be outdated
   */
  async function lookUp(environmentId: number, isStillCurrent: () => boolean): Promise<Value> {
    const remembered = memory.peek(environmentId);
    const startedAtMs = performance.now();
    try {
      if (remembered !== undefined && !remembered.isOutdated) {
        if ((await findVersion(environmentId)) === remembered.version) {
          if (isStillCurrent()) remembered.checkedAtMs = startedAtMs;
          onLookup('unchanged');
          return remembered.value;
        }
      }
      const loaded = await load(environmentId);
      const isOutdated = !isStillCurrent();
      const entry = { ...loaded, checkedAtMs: startedAtMs, failedAtMs: Number.NEGATIVE_INFINITY, isOutdated };
      // While the database is unavailable, a possibly outdated value is better than no value.
      if (!isOutdated || memory.peek(environmentId) === undefined) memory.set(environmentId, entry);
      onLookup('loaded');
      return loaded.value;
    } catch (error) {
      onLookup('failed');
      if (remembered === undefined) throw error;
      remembered.failedAtMs = performance.now();
      return remembered.value;
    }
  }

  return { get, usedBytes: () => memory.calculatedSize };
}

/** Waits for a new value, but returns the cached value if the database takes too long. */
function withPatience<Value>(pending: Promise<Value>, known: Value): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(known), patienceMs);
    pending.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function createMemory<Value>(maxBytes: number): LRUCache<number, Remembered<Value>> {
  return new LRUCache({
    maxSize: maxBytes,
    // Count an oversized value as the maximum, to cache it alone. Otherwise, every request would create it again.
    sizeCalculation: ({ bytes }) => Math.min(Math.max(1, Math.ceil(bytes)), maxBytes),
  });
}
