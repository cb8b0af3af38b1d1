import { type ProjectChanges, type Sql, unsubscribedMaxAgeMs } from '@millrace/db/sql';
import { AppError } from '@millrace/runtime';
import { LRUCache } from 'lru-cache';
import { storeTimeLimits, withTimeLimit } from '../access/store-limits.ts';
import { findPublicFeatures, type PublicFeature } from './store.ts';

export interface EarlyAccessFeatures {
  /** @throws AppError `unavailable` when the database does not say. */
  find(environmentId: number): Promise<PublicFeature[]>;
}

const maxRemembered = 1000;
/** While changes are received. */
const rememberForMs = 30_000;

/** The features of environments, remembered until one of their flags or features changes. */
export function createEarlyAccessFeatures(
  sql: Sql,
  changes: Pick<ProjectChanges, 'subscribe' | 'isSubscribed'>,
  { settingsMs } = storeTimeLimits,
): EarlyAccessFeatures {
  const memory = new LRUCache<number, Promise<PublicFeature[]>>({ max: maxRemembered, ttl: rememberForMs });
  changes.subscribe((change) => {
    if (change === null) memory.clear();
    else if (change.environmentId !== null) memory.delete(change.environmentId);
  });

  async function ask(environmentId: number): Promise<PublicFeature[]> {
    try {
      return await withTimeLimit(findPublicFeatures(sql, environmentId), settingsMs);
    } catch (cause) {
      memory.delete(environmentId);
      throw new AppError('unavailable', 'The features of the project cannot be read now.', { cause });
    }
  }

  return {
    find(environmentId) {
      const ageMs = rememberForMs - memory.getRemainingTTL(environmentId);
      const mayBeRecalled = changes.isSubscribed() || ageMs < unsubscribedMaxAgeMs;
      const remembered = mayBeRecalled ? memory.get(environmentId) : undefined;
      if (remembered !== undefined) return remembered;
      const asked = ask(environmentId);
      memory.set(environmentId, asked);
      return asked;
    },
  };
}
