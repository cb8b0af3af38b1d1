import { type ProjectChanges, type Sql, unsubscribedMaxAgeMs } from '@millrace/db/sql';
import { AppError } from '@millrace/runtime';
import { LRUCache } from 'lru-cache';
import type { ProjectKeys } from '../access/project-keys.ts';
import { storeTimeLimits, withTimeLimit } from '../access/store-limits.ts';
import type { FlagData } from '../flag-data.ts';
import type { EarlyAccessFeatures } from './early-access-features.ts';
import { type ClientSettings, findClientSettings } from './store.ts';

export interface EnvironmentSettings {
  /** @throws AppError `unavailable` when the database does not say; clients then go on with what they know. */
  find(token: string): Promise<ClientSettings | null>;
}

const maxRemembered = 10_000;
/** While changes are received. */
const rememberForMs = 30_000;

/** Settings of environments, remembered for a short time: every page view of a browser asks for them. */
export function createEnvironmentSettings(
  sql: Sql,
  changes: Pick<ProjectChanges, 'subscribe' | 'isSubscribed'>,
  { settingsMs } = storeTimeLimits,
): EnvironmentSettings {
  const memory = new LRUCache<string, Promise<ClientSettings | null>>({ max: maxRemembered, ttl: rememberForMs });
  changes.subscribe((change) => {
    if (change === null) memory.clear();
    else for (const token of change.tokens) memory.delete(token);
  });

  /** The remembered settings, unless they may have changed while changes were not received. */
  function recall(token: string): Promise<ClientSettings | null> | undefined {
    const ageMs = rememberForMs - memory.getRemainingTTL(token);
    return changes.isSubscribed() || ageMs < unsubscribedMaxAgeMs ? memory.get(token) : undefined;
  }

  async function ask(token: string): Promise<ClientSettings | null> {
    try {
      return await withTimeLimit(findClientSettings(sql, token), settingsMs);
    } catch (cause) {
      memory.delete(token);
      throw new AppError('unavailable', 'The settings of the project cannot be read now.', { cause });
    }
  }

  return {
    find(token) {
      const remembered = recall(token);
      if (remembered !== undefined) return remembered;
      const asked = ask(token);
      memory.set(token, asked);
      return asked;
    },
  };
}

/** What the answers beside capture are made with. */
export interface AnswerDependencies {
  projectKeys: ProjectKeys;
  settings: EnvironmentSettings;
  features: EarlyAccessFeatures;
  /** Whether there are flags to ask for. */
  data: FlagData;
}
