import type { KeyValue } from '@millrace/cache';
import { allProjectKeys, projectKeyChannel } from '@millrace/contracts';
import { type ProjectChanges, type Sql, unsubscribedMaxAgeMs } from '@millrace/db/sql';
import { type Logger, type Metrics, tallies } from '@millrace/runtime';
import { LRUCache } from 'lru-cache';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { createProjectKeyCache, knownTtlSeconds } from './project-key-cache.ts';
import { findProjectByKey, type KnownProject } from './project-key-store.ts';
import { createSlots, isBusy } from './slots.ts';
import { withTimeLimit } from './time-limit.ts';

/**
 * Whose key it is. `undetermined`: the stores fail and nothing is remembered; the event is accepted and the consumer
 * decides (docs/architecture.md#the-way-of-one-event). `busy`: they answer, but too many keys are looked up at once; the client has to
 * come again, else whoever sends enough keys that nobody has would be let in.
 */
export type KeyLookup =
  | { outcome: 'known'; project: KnownProject }
  | { outcome: 'unknown' }
  | { outcome: 'undetermined' }
  | { outcome: 'busy' };

export interface ProjectKeys {
  /** Answers nearly every request from memory, without a promise. Never rejects. */
  find(token: string): KeyLookup | Promise<KeyLookup>;
}

export interface ProjectKeysOptions {
  sql: Sql;
  cache: KeyValue;
  changes: Pick<ProjectChanges, 'subscribe' | 'isSubscribed'>;
  logger: Logger;
  metrics: Metrics;
  /** How long an answer is used without asking again, while changes are received. */
  knownForMs?: number;
  unknownForMs?: number;
  /** For this time after `knownForMs` an answer is still used while it is looked up again, so that nobody waits. */
  refreshInBackgroundForMs?: number;
}

interface Remembered {
  /** Null: there is no such key. Undefined: no store could say. */
  project: KnownProject | null | undefined;
  lookedUpAtMs: number;
}

const undetermined: KeyLookup = Object.freeze({ outcome: 'undetermined' });
const unknown: KeyLookup = Object.freeze({ outcome: 'unknown' });
const busy: KeyLookup = Object.freeze({ outcome: 'busy' });

const maxRemembered = 100_000;
const maxChanged = 10_000;
/** The same while changes are not received. A request with an old key is let in for at most this much longer. */
const refreshUnsubscribedMs = 4000;
/** How long an outage of the stores can be bridged from memory. */
const bridgeForMs = 12 * 60 * 60 * 1000;
const databaseTimeLimitMs = 500;
const cacheTimeLimitMs = 200;
const restAfterFailureMs = 1000;
/**
 * Fewer than the pool has connections (main.ts): the time limit is to measure the database, not a queue in front of it.
 */
const databaseSlots = { max: 3, maxWaiting: 1000, waitMs: 1000 };
/** With more questions than this waiting, the cache is left out. */
const cacheSlots = { max: 256, maxWaiting: 0, waitMs: 0 };

/**
 * Project keys: first memory, then the cache that gateways share, then PostgreSQL. One lookup for each key at a time. A
 * remembered key never waits for a store that does not answer.
 */
export async function createProjectKeys(options: ProjectKeysOptions): Promise<ProjectKeys> {
  const { sql, changes, logger, knownForMs = 60_000, unknownForMs = 5000, refreshInBackgroundForMs = 60_000 } = options;
  const shared = createProjectKeyCache(options.cache);
  const memory = new LRUCache<string, Remembered>({ max: maxRemembered });
  const underWay = new Map<string, Promise<KeyLookup>>();
  const cacheBreaker = createCircuitBreaker({ restMs: restAfterFailureMs });
  const databaseBreaker = createCircuitBreaker({ restMs: restAfterFailureMs });
  const toCache = createSlots(cacheSlots);
  const toDatabase = createSlots(databaseSlots);
  /** Answers from before this may be out of date. They only bridge an outage. */
  let staleBeforeMs = Number.NEGATIVE_INFINITY;
  /** Until then the shared cache may hold copies of the former state. */
  let copiesTrustedFromMs = Number.NEGATIVE_INFINITY;
  /** Keys that changed lately. A gateway that learned of the change later may have left an old copy. */
  const changed = new LRUCache<string, true>({ max: maxChanged, ttl: knownTtlSeconds * 1000 });
  let isDatabaseAway = false;
  /** Grows with every change message; a lookup that began before one must not be remembered after it. */
  let generation = 0;
  const answeredBy = tallies(
    options.metrics.counter(
      'millrace_project_key_lookups_total',
      'Project API keys looked up, by what knew the answer: memory, cache, database, nobody while these are out, or nobody was asked because of too many (busy)',
      ['source'],
    ),
  );
  const answers = {
    memory: answeredBy('memory'),
    cache: answeredBy('cache'),
    database: answeredBy('database'),
    nobody: answeredBy('nobody'),
    busy: answeredBy('busy'),
  };

  function find(token: string): KeyLookup | Promise<KeyLookup> {
    const answer = recall(token);
    if (answer === undefined) return lookUpOnce(token);
    answers.memory.add(1);
    return answer;
  }

  /** The remembered answer, if it may still be used. When it is getting old it is looked up again in the background. */
  function recall(token: string): KeyLookup | undefined {
    const remembered = memory.get(token);
    if (remembered === undefined) return undefined;
    const { project, lookedUpAtMs } = remembered;
    const ageMs = performance.now() - lookedUpAtMs;
    // During an outage not every request with this key may ask all stores again.
    if (project === undefined) return ageMs < restAfterFailureMs ? undetermined : undefined;
    const isStale = lookedUpAtMs < staleBeforeMs;
    const longestMs = changes.isSubscribed() ? Number.POSITIVE_INFINITY : unsubscribedMaxAgeMs;
    if (project === null) return !isStale && ageMs < Math.min(unknownForMs, longestMs) ? unknown : undefined;
    const usedForMs = Math.min(knownForMs, longestMs);
    if (!isStale && ageMs < usedForMs) return { outcome: 'known', project };
    const refreshedForMs = changes.isSubscribed() ? refreshInBackgroundForMs : refreshUnsubscribedMs;
    if ((!isStale && ageMs < usedForMs + refreshedForMs) || (isDatabaseAway && ageMs < bridgeForMs)) {
      void lookUpOnce(token);
      return { outcome: 'known', project };
    }
    return undefined;
  }

  function lookUpOnce(token: string): Promise<KeyLookup> {
    const running = underWay.get(token);
    if (running !== undefined) return running;
    const lookup = lookUp(token).finally(() => underWay.delete(token));
    underWay.set(token, lookup);
    return lookup;
  }

  async function lookUp(token: string): Promise<KeyLookup> {
    const begunIn = generation;
    try {
      const project = await askStores(token, begunIn);
      if (generation === begunIn) memory.set(token, { project, lookedUpAtMs: performance.now() });
      return project === null ? unknown : { outcome: 'known', project };
    } catch (error) {
      const wasAsked = !isBusy(error);
      answers[wasAsked ? 'nobody' : 'busy'].add(1);
      logger.debug('a project key could not be looked up', { error });
      const remembered = memory.get(token);
      if (!remembered?.project || performance.now() - remembered.lookedUpAtMs > bridgeForMs) {
        if (!wasAsked) return busy;
        if (generation === begunIn) memory.set(token, { project: undefined, lookedUpAtMs: performance.now() });
        return undetermined;
      }
      return { outcome: 'known', project: remembered.project };
    }
  }

  async function askStores(token: string, begunIn: number): Promise<KnownProject | null> {
    const copy = await readShared(token);
    if (copy !== undefined) {
      answers.cache.add(1);
      return copy;
    }
    const project = await toDatabase.run(() => databaseBreaker.run(() => askDatabase(token)));
    answers.database.add(1);
    if (generation === begunIn) writeShared(token, project);
    return project;
  }

  async function askDatabase(token: string): Promise<KnownProject | null> {
    try {
      const project = await withTimeLimit(findProjectByKey(sql, token), databaseTimeLimitMs);
      isDatabaseAway = false;
      return project;
    } catch (error) {
      isDatabaseAway = true;
      throw error;
    }
  }

  /** A cache that is down is as good as an empty one. */
  async function readShared(token: string): Promise<KnownProject | null | undefined> {
    if (changed.has(token) || performance.now() < copiesTrustedFromMs) return undefined;
    try {
      return await askCache(() => shared.read(token));
    } catch {
      return undefined;
    }
  }

  function writeShared(token: string, project: KnownProject | null): void {
    const longestSeconds = changes.isSubscribed() ? knownTtlSeconds : unsubscribedMaxAgeMs / 1000;
    askCache(() => shared.write(token, project, longestSeconds)).catch(() => {});
  }

  function askCache<T>(ask: () => Promise<T>): Promise<T> {
    return toCache.run(() => cacheBreaker.run(() => withTimeLimit(ask(), cacheTimeLimitMs)));
  }

  function forgetAll({ copiesToo }: { copiesToo: boolean }): void {
    generation += 1;
    underWay.clear();
    staleBeforeMs = performance.now();
    if (copiesToo) copiesTrustedFromMs = performance.now() + knownTtlSeconds * 1000;
  }

  function forget(token: string): void {
    generation += 1;
    underWay.delete(token);
    memory.delete(token);
    changed.set(token, true);
    // Shared for gateways that start later.
    shared.remove(token).catch(() => {});
  }

  let wasSubscribed = false;
  changes.subscribe((change) => {
    // When the subscription begins for the first time, the copies come from gateways that were subscribed before: a new
    // gateway must not ask for all keys.
    if (change === null) forgetAll({ copiesToo: wasSubscribed });
    else for (const token of change.tokens) forget(token);
    wasSubscribed = true;
  });
  await options.cache.subscribe(projectKeyChannel, (message) => {
    if (message === allProjectKeys) forgetAll({ copiesToo: true });
    else forget(message);
  });
  return { find };
}
