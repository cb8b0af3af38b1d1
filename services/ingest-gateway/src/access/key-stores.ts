import { createHash } from 'node:crypto';
import { type ProjectChanges, type Sql, unsubscribedMaxAgeMs } from '@millrace/db/sql';
import type { KeyValue } from '@millrace/runtime/cache';
import { LRUCache } from 'lru-cache';
import { findProjectByKey, type KnownProject } from './project-key-store.ts';
import {
  createCircuitBreaker,
  createSlots,
  isSlow,
  type StoreTimeLimits,
  storeTimeLimits,
  withTimeLimit,
} from './store-limits.ts';

export interface KeyStoresOptions {
  sql: Sql;
  cache: KeyValue;
  changes: Pick<ProjectChanges, 'isSubscribed'>;
  timeLimits?: StoreTimeLimits;
}

/** The shared cache in front of PostgreSQL, each asked so often at a time and so long at most. */
export interface KeyStores {
  /**
   * @param isCurrent whether the answer may be left for others: nothing has changed since it was asked for.
   * @throws what says that PostgreSQL refuses, `slow` or `busy` (both store-limits.ts). A cache that is down is as good
   * as an empty one.
   */
  ask(token: string, isCurrent: () => boolean): Promise<KeyAnswer>;
  /** Whether the last question to PostgreSQL failed. */
  isDatabaseAway(): boolean;
  /** Drops the copy of a key that has changed. */
  removeCopy(token: string): void;
  /** Until then the shared cache may hold copies of the former state. */
  distrustCopies(): void;
}

export interface KeyAnswer {
  /** Null: there is no such key. */
  project: KnownProject | null;
  source: 'cache' | 'database';
}

export const restAfterFailureMs = 1000;
const maxChanged = 10_000;
/**
 * Fewer than the pool has connections (main.ts): the time limit is to measure the database, not a queue in front of it.
 */
const databaseSlots = { max: 3, maxWaiting: 1000 };
/** With more questions than this waiting, the cache is left out. */
const cacheSlots = { max: 256, maxWaiting: 0, waitMs: 0 };

export function createKeyStores(options: KeyStoresOptions): KeyStores {
  const { sql, cache, changes, timeLimits = storeTimeLimits } = options;
  const shared = createProjectKeyCache(cache);
  const cacheBreaker = createCircuitBreaker({ restMs: restAfterFailureMs });
  // Who is only slow is asked on: a rest would look like an outage.
  const databaseBreaker = createCircuitBreaker({ restMs: restAfterFailureMs, isFailure: (error) => !isSlow(error) });
  const toCache = createSlots(cacheSlots);
  const toDatabase = createSlots({ ...databaseSlots, waitMs: timeLimits.keyTurnMs });
  /** Keys that changed lately. A gateway that learned of the change later may have left an old copy. */
  const changed = new LRUCache<string, true>({ max: maxChanged, ttl: knownTtlSeconds * 1000 });
  let copiesTrustedFromMs = Number.NEGATIVE_INFINITY;
  let isDatabaseAway = false;

  async function askDatabase(token: string): Promise<KnownProject | null> {
    try {
      const project = await withTimeLimit(findProjectByKey(sql, token), timeLimits.keyMs);
      isDatabaseAway = false;
      return project;
    } catch (error) {
      isDatabaseAway = true;
      throw error;
    }
  }

  async function readCopy(token: string): Promise<KnownProject | null | undefined> {
    if (changed.has(token) || performance.now() < copiesTrustedFromMs) return undefined;
    try {
      return await askCache(() => shared.read(token));
    } catch {
      return undefined;
    }
  }

  function writeCopy(token: string, project: KnownProject | null): void {
    const longestSeconds = changes.isSubscribed() ? knownTtlSeconds : unsubscribedMaxAgeMs / 1000;
    askCache(() => shared.write(token, project, longestSeconds)).catch(() => {});
  }

  function askCache<T>(ask: () => Promise<T>): Promise<T> {
    return toCache.run(() => cacheBreaker.run(() => withTimeLimit(ask(), timeLimits.cachedKeyMs)));
  }

  return {
    async ask(token, isCurrent) {
      const copy = await readCopy(token);
      if (copy !== undefined) return { project: copy, source: 'cache' };
      const project = await toDatabase.run(() => databaseBreaker.run(() => askDatabase(token)));
      if (isCurrent()) writeCopy(token, project);
      return { project, source: 'database' };
    },
    isDatabaseAway: () => isDatabaseAway,
    removeCopy(token) {
      changed.set(token, true);
      // Shared for gateways that start later.
      shared.remove(token).catch(() => {});
    },
    distrustCopies() {
      copiesTrustedFromMs = performance.now() + knownTtlSeconds * 1000;
    },
  };
}

/** A copy is trusted this long: the time a change may take to be seen when its message was lost. */
const knownTtlSeconds = 60;
const unknownTtlSeconds = 10;

/** The copies all gateways share. Every method rejects when the store cannot be reached. */
interface ProjectKeyCache {
  /** Undefined when there is no copy; null when the copy says that there is no such key. */
  read(token: string): Promise<KnownProject | null | undefined>;
  /** @param longestSeconds how long the copy may be used at most. */
  write(token: string, project: KnownProject | null, longestSeconds: number): Promise<void>;
  remove(token: string): Promise<void>;
}

function createProjectKeyCache(store: KeyValue): ProjectKeyCache {
  return {
    async read(token) {
      const text = await store.get(cacheKey(token));
      return text === null ? undefined : parseCopy(text);
    },
    write(token, project, longestSeconds) {
      const ttlSeconds = project === null ? unknownTtlSeconds : knownTtlSeconds;
      return store.set(cacheKey(token), JSON.stringify(project), Math.min(ttlSeconds, longestSeconds));
    },
    remove: (token) => store.delete(cacheKey(token)),
  };
}

/** Clients choose what they send as a key, so the store's key is a digest of fixed size and alphabet. */
function cacheKey(token: string): string {
  return `project-key:${createHash('sha256').update(token).digest('hex')}`;
}

/** A copy in a form of another version counts as none. */
function parseCopy(text: string): KnownProject | null | undefined {
  try {
    const copy = JSON.parse(text) as Partial<KnownProject> | null;
    if (copy === null) return null;
    const { environmentId, mayMigrate, eventsPerMonth, eventsPerSecond, flagRequestsPerMonth } = copy;
    if (typeof environmentId !== 'number' || typeof mayMigrate !== 'boolean') return undefined;
    if (!isLimit(eventsPerMonth) || !isLimit(eventsPerSecond) || !isLimit(flagRequestsPerMonth)) return undefined;
    return { environmentId, mayMigrate, eventsPerMonth, eventsPerSecond, flagRequestsPerMonth };
  } catch {
    return undefined;
  }
}

function isLimit(value: unknown): value is number | null {
  return value === null || typeof value === 'number';
}
