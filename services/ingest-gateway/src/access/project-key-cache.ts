import { createHash } from 'node:crypto';
import type { KeyValue } from '@millrace/cache';
import type { KnownProject } from './project-key-store.ts';

/** A copy is trusted this long: the time a change may take to be seen when its message was lost. */
export const knownTtlSeconds = 60;
const unknownTtlSeconds = 10;

/** The copies all gateways share. Every method rejects when the store cannot be reached. */
export interface ProjectKeyCache {
  /** Undefined when there is no copy; null when the copy says that there is no such key. */
  read(token: string): Promise<KnownProject | null | undefined>;
  /** @param longestSeconds how long the copy may be used at most. */
  write(token: string, project: KnownProject | null, longestSeconds: number): Promise<void>;
  remove(token: string): Promise<void>;
}

export function createProjectKeyCache(store: KeyValue): ProjectKeyCache {
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
