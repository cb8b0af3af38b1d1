import { type ProjectChanges, type Sql, unsubscribedMaxAgeMs } from '@millrace/db/sql';
import type { Logger, Metrics } from '@millrace/runtime';
import { LRUCache } from 'lru-cache';
import { findProjectByKey, type KnownProject } from './project-key-store.ts';
import {
  createCircuitBreaker,
  createSlots,
  isBusy,
  isTimeLimitExceeded,
  type StoreTimeLimits,
  storeTimeLimits,
  withTimeLimit,
} from './store-limits.ts';

export interface ProjectKeys {
  /** Returns the project of an API key, usually from memory, even while the database is down. Never rejects. */
  find(token: string): Promise<KeyLookup>;
}

export interface ProjectKeysOptions {
  sql: Sql;
  changes: Pick<ProjectChanges, 'subscribe' | 'isSubscribed'>;
  logger: Logger;
  metrics: Metrics;
  /** How long a cached project is used without a new lookup, in milliseconds, while change notifications arrive. */
  knownForMs?: number;
  unknownForMs?: number;
  /**
   * How long after `knownForMs` a cached project is still used while it is refreshed in the background, in
   * milliseconds.
   */
  refreshInBackgroundForMs?: number;
  timeLimits?: StoreTimeLimits;
}

const restAfterFailureMs = 1000;
/**
 * Limits on concurrent key lookups. `max` is below the size of the connection pool (start.ts), so that the time limit
 * measures PostgreSQL and not the wait for a connection.
 */
const databaseSlots = { max: 3, maxWaiting: 1000 };

/**
 * Looks up project API keys in memory and then in PostgreSQL, which announces changes. Runs one lookup per key at a
 * time. A cached key never waits for a database that does not respond.
 */
export function createProjectKeys(options: ProjectKeysOptions): ProjectKeys {
  const { sql, changes, logger, knownForMs = 60_000, unknownForMs = 5000, timeLimits = storeTimeLimits } = options;
  // A slow database is not an outage, so slow responses do not open the breaker.
  const breaker = createCircuitBreaker({
    restMs: restAfterFailureMs,
    isFailure: (error) => !isTimeLimitExceeded(error),
  });
  const slots = createSlots({ ...databaseSlots, waitMs: timeLimits.keyQueueMs });
  let isDatabaseDown = false;
  const memory = createKeyMemory({
    changes,
    knownForMs,
    unknownForMs,
    undeterminedForMs: restAfterFailureMs,
    refreshInBackgroundForMs: options.refreshInBackgroundForMs ?? 60_000,
    isDatabaseDown: () => isDatabaseDown,
    refresh: (token) => void lookUpOnce(token),
  });
  const running = new Map<string, Promise<KeyLookup>>();
  const lookups = options.metrics.counter(
    'millrace_project_key_lookups_total',
    'Project API key lookups, by source: memory, database, failed (the database returned an error), slow (the database did not respond in time), busy (too many lookups at the same time)',
    ['source'],
  );

  async function find(token: string): Promise<KeyLookup> {
    const cached = memory.find(token);
    if (cached === undefined) return lookUpInTime(token);
    lookups.inc({ source: 'memory' });
    return cached;
  }

  /** Looks up a key. If this takes too long, uses the cached project, however old it is. */
  function lookUpInTime(token: string): Promise<KeyLookup> {
    const project = memory.findAnyAge(token);
    const lookup = lookUpOnce(token);
    if (project === undefined) return lookup;
    return withTimeLimit(lookup, timeLimits.oldKeyMs).catch(() => ({ outcome: 'known', project }));
  }

  function lookUpOnce(token: string): Promise<KeyLookup> {
    const existing = running.get(token);
    if (existing !== undefined) return existing;
    const isCurrent = () => running.get(token) === lookup;
    const lookup: Promise<KeyLookup> = lookUp(token, isCurrent).finally(() => {
      if (isCurrent()) running.delete(token);
    });
    running.set(token, lookup);
    return lookup;
  }

  /**
   * Looks up a key in PostgreSQL within the time limit, and caches the result.
   * @param isCurrent a function that returns false after a change to this key was announced. The result may then be
   * outdated, so it is not cached.
   */
  async function lookUp(token: string, isCurrent: () => boolean): Promise<KeyLookup> {
    try {
      const project = await slots.run(() => breaker.run(() => queryDatabase(token)));
      lookups.inc({ source: 'database' });
      if (isCurrent()) memory.set(token, project);
      return project === null ? unknown : { outcome: 'known', project };
    } catch (error) {
      const source = isBusy(error) ? 'busy' : isTimeLimitExceeded(error) ? 'slow' : 'failed';
      lookups.inc({ source });
      logger.debug('could not look up a project API key', { error });
      const project = memory.findAnyAge(token);
      if (project !== undefined) return { outcome: 'known', project };
      if (source !== 'failed') return busy;
      if (isCurrent()) memory.set(token, undefined);
      return undetermined;
    }
  }

  /** @throws database errors, and AppError `unavailable` (`slow`) from store-limits.ts */
  async function queryDatabase(token: string): Promise<KnownProject | null> {
    try {
      const project = await withTimeLimit(findProjectByKey(sql, token), timeLimits.keyMs);
      isDatabaseDown = false;
      return project;
    } catch (error) {
      isDatabaseDown = true;
      throw error;
    }
  }

  changes.subscribe((change) => {
    if (change === null) {
      running.clear();
      memory.expireAll();
    }
    for (const token of change?.tokens ?? []) {
      running.delete(token);
      memory.delete(token);
    }
  });
  return { find };
}

interface KeyMemoryOptions {
  changes: Pick<ProjectChanges, 'isSubscribed'>;
  knownForMs: number;
  unknownForMs: number;
  refreshInBackgroundForMs: number;
  /** How long a failed lookup is cached, in milliseconds. */
  undeterminedForMs: number;
  isDatabaseDown(): boolean;
  refresh(token: string): void;
}

interface KeyMemory {
  /** Returns the cached result unless it is too old. Refreshes an aging result in the background. */
  find(token: string): KeyLookup | undefined;
  /** Caches the result of a lookup. @param project null if the key does not exist, undefined if the lookup failed */
  set(token: string, project: KnownProject | null | undefined): void;
  /** Returns a cached project that may still be used during a database outage. */
  findAnyAge(token: string): KnownProject | undefined;
  delete(token: string): void;
  /** Marks all results as outdated. They are then used only during a database outage. */
  expireAll(): void;
}

interface CachedLookup {
  project: KnownProject | null | undefined;
  lookedUpAtMs: number;
}

const maxCached = 100_000;
/**
 * Replaces `refreshInBackgroundForMs` while no change notifications arrive. A deleted key is accepted for at most this
 * long.
 */
const refreshUnsubscribedMs = 4000;
/** How long cached projects are used during a database outage. */
const outageForMs = 12 * 60 * 60 * 1000;

function createKeyMemory(options: KeyMemoryOptions): KeyMemory {
  const { changes, knownForMs, unknownForMs, refreshInBackgroundForMs, undeterminedForMs } = options;
  const memory = new LRUCache<string, CachedLookup>({ max: maxCached });
  let staleBeforeMs = Number.NEGATIVE_INFINITY;

  return {
    find(token) {
      const cached = memory.get(token);
      if (cached === undefined) return undefined;
      const { project, lookedUpAtMs } = cached;
      const ageMs = performance.now() - lookedUpAtMs;
      // A failed lookup is cached too, so that not every request looks up the key again during a database outage.
      if (project === undefined) return ageMs < undeterminedForMs ? undetermined : undefined;
      const isStale = lookedUpAtMs < staleBeforeMs;
      const longestMs = changes.isSubscribed() ? Number.POSITIVE_INFINITY : unsubscribedMaxAgeMs;
      if (project === null) return !isStale && ageMs < Math.min(unknownForMs, longestMs) ? unknown : undefined;
      const usedForMs = Math.min(knownForMs, longestMs);
      if (!isStale && ageMs < usedForMs) return { outcome: 'known', project };
      const refreshedForMs = changes.isSubscribed() ? refreshInBackgroundForMs : refreshUnsubscribedMs;
      if ((!isStale && ageMs < usedForMs + refreshedForMs) || (options.isDatabaseDown() && ageMs < outageForMs)) {
        options.refresh(token);
        return { outcome: 'known', project };
      }
      return undefined;
    },
    set: (token, project) => void memory.set(token, { project, lookedUpAtMs: performance.now() }),
    findAnyAge(token) {
      const cached = memory.get(token);
      if (!cached?.project || performance.now() - cached.lookedUpAtMs > outageForMs) return undefined;
      return cached.project;
    },
    delete: (token) => void memory.delete(token),
    expireAll() {
      staleBeforeMs = performance.now();
    },
  };
}

/**
 * The result of a lookup.
 *
 * - `undetermined`: the database refuses connections, and the key is not in memory. The event is accepted, and the
 *   consumer checks the key (docs/architecture.md#life-of-an-event).
 * - `busy`: the database is up, but did not respond in time, or too many lookups are running. The client must retry.
 *   Otherwise, a client that overloads the database could send events with any key.
 */
export type KeyLookup =
  | { outcome: 'known'; project: KnownProject }
  | { outcome: 'unknown' }
  | { outcome: 'undetermined' }
  | { outcome: 'busy' };

const undetermined: KeyLookup = Object.freeze({ outcome: 'undetermined' });
const unknown: KeyLookup = Object.freeze({ outcome: 'unknown' });
const busy: KeyLookup = Object.freeze({ outcome: 'busy' });
