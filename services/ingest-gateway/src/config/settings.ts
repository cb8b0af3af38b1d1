// Caches the settings and early access features that SDKs request at each page view.

import type { ProjectChange } from '@millrace/contracts';
import { type ProjectChanges, type Sql, unsubscribedMaxAgeMs } from '@millrace/db/sql';
import { AppError } from '@millrace/runtime';
import { LRUCache } from 'lru-cache';
import type { ProjectKeys } from '../access/project-keys.ts';
import { storeTimeLimits, withTimeLimit } from '../access/store-limits.ts';
import type { FlagData } from '../flag-data.ts';
import { type ClientSettings, findClientSettings, findPublicFeatures, type PublicFeature } from './store.ts';

export interface CachedLookups<K, V> {
  /**
   * Returns the cached result, or loads it.
   * @throws AppError `unavailable` if the database does not respond. Clients then keep their last settings.
   */
  find(key: K): Promise<V>;
}

export type EnvironmentSettings = CachedLookups<string, ClientSettings | null>;
export type EarlyAccessFeatures = CachedLookups<number, PublicFeature[]>;
type Changes = Pick<ProjectChanges, 'subscribe' | 'isSubscribed'>;

export function createEnvironmentSettings(
  sql: Sql,
  changes: Changes,
  { settingsMs } = storeTimeLimits,
): EnvironmentSettings {
  return cacheUntilChanged({
    changes,
    keysOf: ({ tokens }) => tokens,
    max: 10_000,
    load: (token) => withTimeLimit(findClientSettings(sql, token), settingsMs),
    refusal: 'Could not read the project settings. Try again in a moment.',
  });
}

export function createEarlyAccessFeatures(
  sql: Sql,
  changes: Changes,
  { settingsMs } = storeTimeLimits,
): EarlyAccessFeatures {
  return cacheUntilChanged({
    changes,
    keysOf: ({ environmentId }) => (environmentId === null ? [] : [environmentId]),
    max: 1000,
    load: (environmentId) => withTimeLimit(findPublicFeatures(sql, environmentId), settingsMs),
    refusal: "Could not read the project's early access features. Try again in a moment.",
  });
}

/** How long a result is cached while change notifications arrive, in milliseconds. */
const cacheForMs = 30_000;

/** Runs at most one query per key at a time. Failed queries are not cached. */
function cacheUntilChanged<K extends string | number, V>({
  changes,
  keysOf,
  max,
  load,
  refusal,
}: {
  changes: Changes;
  keysOf(change: ProjectChange): readonly K[];
  max: number;
  load(key: K): Promise<V>;
  refusal: string;
}): CachedLookups<K, V> {
  const memory = new LRUCache<K, Promise<V>>({ max, ttl: cacheForMs });
  changes.subscribe((change) => {
    if (change === null) memory.clear();
    else for (const key of keysOf(change)) memory.delete(key);
  });

  /** Returns the cached result. While change notifications may be lost, ignores older results. */
  function findCached(key: K): Promise<V> | undefined {
    const ageMs = cacheForMs - memory.getRemainingTTL(key);
    return changes.isSubscribed() || ageMs < unsubscribedMaxAgeMs ? memory.get(key) : undefined;
  }

  async function loadAndCheck(key: K): Promise<V> {
    try {
      return await load(key);
    } catch (cause) {
      memory.delete(key);
      throw new AppError('unavailable', refusal, { cause });
    }
  }

  return {
    find(key) {
      const cached = findCached(key);
      if (cached !== undefined) return cached;
      const loading = loadAndCheck(key);
      memory.set(key, loading);
      return loading;
    },
  };
}

export interface SdkConfigDependencies {
  projectKeys: ProjectKeys;
  settings: EnvironmentSettings;
  features: EarlyAccessFeatures;
  data: FlagData;
}
