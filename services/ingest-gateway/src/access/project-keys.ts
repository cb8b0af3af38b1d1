import { type ProjectChanges, type Sql, unsubscribedMaxAgeMs } from '@millrace/db/sql';
import type { Logger, Metrics } from '@millrace/runtime';
import { LRUCache } from 'lru-cache';
import { findProjectByKey, type KnownProject } from './project-key-store.ts';
import {
  createCircuitBreaker,
  createSlots,
  isBusy,
  isSlow,
  type StoreTimeLimits,
  storeTimeLimits,
  withTimeLimit,
} from './store-limits.ts';

export interface ProjectKeys {
  /** Answers nearly every request from memory. Never rejects. */
  find(token: string): Promise<KeyLookup>;
}

export interface ProjectKeysOptions {
  sql: Sql;
  changes: Pick<ProjectChanges, 'subscribe' | 'isSubscribed'>;
  logger: Logger;
  metrics: Metrics;
  /** How long an answer is used without asking again, while changes are received. */
  knownForMs?: number;
  unknownForMs?: number;
  /** For this time after `knownForMs` an answer is still used while it is looked up again, so that nobody waits. */
  refreshInBackgroundForMs?: number;
  timeLimits?: StoreTimeLimits;
}

const restAfterFailureMs = 1000;
/**
 * Fewer than the pool has connections (main.ts): the time limit is to measure the database, not a queue in front of it.
 */
const databaseSlots = { max: 3, maxWaiting: 1000 };

/**
 * Project keys: first memory, then PostgreSQL, which announces their changes. One lookup for each key at a time. A
 * remembered key never waits for a database that does not answer.
 */
export function createProjectKeys(options: ProjectKeysOptions): ProjectKeys {
  const { sql, changes, logger, knownForMs = 60_000, unknownForMs = 5000, timeLimits = storeTimeLimits } = options;
  // Who is only slow is asked on: a rest would look like an outage.
  const breaker = createCircuitBreaker({ restMs: restAfterFailureMs, isFailure: (error) => !isSlow(error) });
  const slots = createSlots({ ...databaseSlots, waitMs: timeLimits.keyTurnMs });
  let isDatabaseAway = false;
  const memory = createKeyMemory({
    ...{ changes, knownForMs, unknownForMs, undeterminedForMs: restAfterFailureMs },
    refreshInBackgroundForMs: options.refreshInBackgroundForMs ?? 60_000,
    isDatabaseAway: () => isDatabaseAway,
    refresh: (token) => void lookUpOnce(token),
  });
  const underWay = new Map<string, Promise<KeyLookup>>();
  const lookups = options.metrics.counter(
    'millrace_project_key_lookups_total',
    'Project API key lookups, by source: memory, database, failed (the database returned an error), slow (the database did not respond in time), busy (too many lookups at the same time)',
    ['source'],
  );

  async function find(token: string): Promise<KeyLookup> {
    const answer = memory.recall(token);
    if (answer === undefined) return lookUpSoon(token);
    lookups.inc({ source: 'memory' });
    return answer;
  }

  /** Whoever was known is not kept waiting by a slow database. */
  function lookUpSoon(token: string): Promise<KeyLookup> {
    const project = memory.bridge(token);
    const lookup = lookUpOnce(token);
    if (project === undefined) return lookup;
    return withTimeLimit(lookup, timeLimits.oldKeyMs).catch(() => ({ outcome: 'known', project }));
  }

  function lookUpOnce(token: string): Promise<KeyLookup> {
    const running = underWay.get(token);
    if (running !== undefined) return running;
    const isCurrent = () => underWay.get(token) === lookup;
    const lookup: Promise<KeyLookup> = lookUp(token, isCurrent).finally(() => {
      if (isCurrent()) underWay.delete(token);
    });
    underWay.set(token, lookup);
    return lookup;
  }

  /** @param isCurrent false once a change of this key was announced: the answer may be of before, and is not remembered. */
  async function lookUp(token: string, isCurrent: () => boolean): Promise<KeyLookup> {
    try {
      const project = await slots.run(() => breaker.run(() => askDatabase(token)));
      lookups.inc({ source: 'database' });
      if (isCurrent()) memory.keep(token, project);
      return project === null ? unknown : { outcome: 'known', project };
    } catch (error) {
      const source = isBusy(error) ? 'busy' : isSlow(error) ? 'slow' : 'failed';
      lookups.inc({ source });
      logger.debug('could not look up a project API key', { error });
      const project = memory.bridge(token);
      if (project !== undefined) return { outcome: 'known', project };
      if (source !== 'failed') return busy;
      if (isCurrent()) memory.keep(token, undefined);
      return undetermined;
    }
  }

  /** @throws what says that PostgreSQL refuses, or `slow` (store-limits.ts). */
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

  changes.subscribe((change) => {
    if (change === null) {
      underWay.clear();
      memory.distrustAll();
    }
    for (const token of change?.tokens ?? []) {
      underWay.delete(token);
      memory.forget(token);
    }
  });
  return { find };
}

interface KeyMemoryOptions {
  changes: Pick<ProjectChanges, 'isSubscribed'>;
  /** How long an answer is used without asking again, while changes are received. */
  knownForMs: number;
  unknownForMs: number;
  /** For this time after `knownForMs` an answer is still used while it is looked up again, so that nobody waits. */
  refreshInBackgroundForMs: number;
  /** How long it is remembered that the database could not say. */
  undeterminedForMs: number;
  isDatabaseAway(): boolean;
  /** Looks a key up beside the request that has its answer already. */
  refresh(token: string): void;
}

/** What this process remembers of keys, and how long it may be used. */
interface KeyMemory {
  /** The remembered answer, if it may still be used. When it is getting old it is looked up again in the background. */
  recall(token: string): KeyLookup | undefined;
  /** @param project null: there is no such key. Undefined: the database could not say. */
  keep(token: string, project: KnownProject | null | undefined): void;
  /** What may be used while the database does not answer, however old. */
  bridge(token: string): KnownProject | undefined;
  forget(token: string): void;
  /** Answers from before this may be out of date. They only bridge an outage. */
  distrustAll(): void;
}

interface Remembered {
  project: KnownProject | null | undefined;
  lookedUpAtMs: number;
}

const maxRemembered = 100_000;
/** The same while changes are not received. A request with an old key is let in for at most this much longer. */
const refreshUnsubscribedMs = 4000;
/** How long an outage of the database can be bridged from memory. */
const bridgeForMs = 12 * 60 * 60 * 1000;

function createKeyMemory(options: KeyMemoryOptions): KeyMemory {
  const { changes, knownForMs, unknownForMs, refreshInBackgroundForMs, undeterminedForMs } = options;
  const memory = new LRUCache<string, Remembered>({ max: maxRemembered });
  let staleBeforeMs = Number.NEGATIVE_INFINITY;

  return {
    recall(token) {
      const remembered = memory.get(token);
      if (remembered === undefined) return undefined;
      const { project, lookedUpAtMs } = remembered;
      const ageMs = performance.now() - lookedUpAtMs;
      // During an outage not every request with this key may ask again.
      if (project === undefined) return ageMs < undeterminedForMs ? undetermined : undefined;
      const isStale = lookedUpAtMs < staleBeforeMs;
      const longestMs = changes.isSubscribed() ? Number.POSITIVE_INFINITY : unsubscribedMaxAgeMs;
      if (project === null) return !isStale && ageMs < Math.min(unknownForMs, longestMs) ? unknown : undefined;
      const usedForMs = Math.min(knownForMs, longestMs);
      if (!isStale && ageMs < usedForMs) return { outcome: 'known', project };
      const refreshedForMs = changes.isSubscribed() ? refreshInBackgroundForMs : refreshUnsubscribedMs;
      if ((!isStale && ageMs < usedForMs + refreshedForMs) || (options.isDatabaseAway() && ageMs < bridgeForMs)) {
        options.refresh(token);
        return { outcome: 'known', project };
      }
      return undefined;
    },
    keep: (token, project) => void memory.set(token, { project, lookedUpAtMs: performance.now() }),
    bridge(token) {
      const remembered = memory.get(token);
      if (!remembered?.project || performance.now() - remembered.lookedUpAtMs > bridgeForMs) return undefined;
      return remembered.project;
    },
    forget: (token) => void memory.delete(token),
    distrustAll() {
      staleBeforeMs = performance.now();
    },
  };
}

/**
 * Whose key it is. `undetermined`: the database refuses to answer and nothing is remembered; the event is accepted and the
 * consumer decides (docs/architecture.md#life-of-an-event). `busy`: it is up, but did not answer in time or has
 * too many questions; the client has to come again, else whoever keeps it busy would be let in with any key.
 */
export type KeyLookup =
  | { outcome: 'known'; project: KnownProject }
  | { outcome: 'unknown' }
  | { outcome: 'undetermined' }
  | { outcome: 'busy' };

const undetermined: KeyLookup = Object.freeze({ outcome: 'undetermined' });
const unknown: KeyLookup = Object.freeze({ outcome: 'unknown' });
const busy: KeyLookup = Object.freeze({ outcome: 'busy' });
