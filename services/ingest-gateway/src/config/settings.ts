import type { ProjectChange } from '@millrace/contracts';
import { type ProjectChanges, type Sql, unsubscribedMaxAgeMs } from '@millrace/db/sql';
import { AppError } from '@millrace/runtime';
import { LRUCache } from 'lru-cache';
import type { ProjectKeys } from '../access/project-keys.ts';
import { storeTimeLimits, withTimeLimit } from '../access/store-limits.ts';
import type { FlagData } from '../flag-data.ts';
import { type ClientSettings, findClientSettings, findPublicFeatures, type PublicFeature } from './store.ts';

/** What is asked for about a project again and again: every page view of a browser does. */
export interface RememberedAnswers<K, V> {
  /** @throws AppError `unavailable` when the database does not say; clients then go on with what they know. */
  find(key: K): Promise<V>;
}

export type EnvironmentSettings = RememberedAnswers<string, ClientSettings | null>;
export type EarlyAccessFeatures = RememberedAnswers<number, PublicFeature[]>;
type Changes = Pick<ProjectChanges, 'subscribe' | 'isSubscribed'>;

/** Settings of environments by project API key. */
export function createEnvironmentSettings(
  sql: Sql,
  changes: Changes,
  { settingsMs } = storeTimeLimits,
): EnvironmentSettings {
  return rememberUntilChanged({
    changes,
    keysOf: ({ tokens }) => tokens,
    max: 10_000,
    ask: (token) => withTimeLimit(findClientSettings(sql, token), settingsMs),
    refusal: 'Could not read the project settings. Try again in a moment.',
  });
}

/** Features persons may enrol in, by environment; remembered until one of their flags or features changes. */
export function createEarlyAccessFeatures(
  sql: Sql,
  changes: Changes,
  { settingsMs } = storeTimeLimits,
): EarlyAccessFeatures {
  return rememberUntilChanged({
    changes,
    keysOf: ({ environmentId }) => (environmentId === null ? [] : [environmentId]),
    max: 1000,
    ask: (environmentId) => withTimeLimit(findPublicFeatures(sql, environmentId), settingsMs),
    refusal: "Could not read the project's early access features. Try again in a moment.",
  });
}

/** While changes are received. */
const rememberForMs = 30_000;

/** One question for each key at a time; a question that failed is asked again. */
function rememberUntilChanged<K extends string | number, V>({
  changes,
  keysOf,
  max,
  ask,
  refusal,
}: {
  changes: Changes;
  /** What a change makes doubtful. */
  keysOf(change: ProjectChange): readonly K[];
  max: number;
  ask(key: K): Promise<V>;
  refusal: string;
}): RememberedAnswers<K, V> {
  const memory = new LRUCache<K, Promise<V>>({ max, ttl: rememberForMs });
  changes.subscribe((change) => {
    if (change === null) memory.clear();
    else for (const key of keysOf(change)) memory.delete(key);
  });

  /** Not what may have changed while changes were not received. */
  function recall(key: K): Promise<V> | undefined {
    const ageMs = rememberForMs - memory.getRemainingTTL(key);
    return changes.isSubscribed() || ageMs < unsubscribedMaxAgeMs ? memory.get(key) : undefined;
  }

  async function askAnew(key: K): Promise<V> {
    try {
      return await ask(key);
    } catch (cause) {
      memory.delete(key);
      throw new AppError('unavailable', refusal, { cause });
    }
  }

  return {
    find(key) {
      const remembered = recall(key);
      if (remembered !== undefined) return remembered;
      const asked = askAnew(key);
      memory.set(key, asked);
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
