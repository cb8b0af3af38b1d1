import { allProjectKeys, projectKeyChannel } from '@millrace/contracts';
import { type ProjectChanges, type Sql, unsubscribedMaxAgeMs } from '@millrace/db/sql';
import { type Logger, type Metrics, tallies } from '@millrace/runtime';
import type { KeyValue } from '@millrace/runtime/cache';
import { LRUCache } from 'lru-cache';
import { createKeyStores, restAfterFailureMs } from './key-stores.ts';
import type { KnownProject } from './project-key-store.ts';
import { isBusy, isSlow, type StoreTimeLimits, storeTimeLimits, withTimeLimit } from './store-limits.ts';

export interface ProjectKeys {
  /** Answers nearly every request from memory. Never rejects. */
  find(token: string): Promise<KeyLookup>;
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
  timeLimits?: StoreTimeLimits;
}

/**
 * Project keys: first memory, then the cache that gateways share, then PostgreSQL. One lookup for each key at a time. A
 * remembered key never waits for a store that does not answer.
 */
export async function createProjectKeys(options: ProjectKeysOptions): Promise<ProjectKeys> {
  const { changes, logger, knownForMs = 60_000, unknownForMs = 5000, timeLimits = storeTimeLimits } = options;
  const stores = createKeyStores(options);
  const memory = createKeyMemory({
    ...{ changes, knownForMs, unknownForMs, undeterminedForMs: restAfterFailureMs },
    refreshInBackgroundForMs: options.refreshInBackgroundForMs ?? 60_000,
    isDatabaseAway: stores.isDatabaseAway,
    refresh: (token) => void lookUpOnce(token),
  });
  const underWay = new Map<string, Promise<KeyLookup>>();
  const answers = countAnswers(options.metrics);

  async function find(token: string): Promise<KeyLookup> {
    const answer = memory.recall(token);
    if (answer === undefined) return lookUpSoon(token);
    answers.memory.add(1);
    return answer;
  }

  /** Whoever was known is not kept waiting by a slow store. */
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
      const { project, source } = await stores.ask(token, isCurrent);
      answers[source].add(1);
      if (isCurrent()) memory.keep(token, project);
      return project === null ? unknown : { outcome: 'known', project };
    } catch (error) {
      const source = isBusy(error) ? 'busy' : isSlow(error) ? 'slow' : 'nobody';
      answers[source].add(1);
      logger.debug('a project key could not be looked up', { error });
      const project = memory.bridge(token);
      if (project !== undefined) return { outcome: 'known', project };
      if (source !== 'nobody') return busy;
      if (isCurrent()) memory.keep(token, undefined);
      return undetermined;
    }
  }

  function forgetAll({ copiesToo }: { copiesToo: boolean }): void {
    underWay.clear();
    memory.distrustAll();
    if (copiesToo) stores.distrustCopies();
  }

  function forget(token: string): void {
    underWay.delete(token);
    memory.forget(token);
    stores.removeCopy(token);
  }

  await followChanges(options, { forgetAll, forget });
  return { find };
}

interface Forgetting {
  forgetAll(what: { copiesToo: boolean }): void;
  forget(token: string): void;
}

async function followChanges(
  { cache, changes }: Pick<ProjectKeysOptions, 'cache' | 'changes'>,
  { forgetAll, forget }: Forgetting,
): Promise<void> {
  let wasSubscribed = false;
  changes.subscribe((change) => {
    // When the subscription begins for the first time, the copies come from gateways that were subscribed before: a new
    // gateway must not ask for all keys.
    if (change === null) forgetAll({ copiesToo: wasSubscribed });
    else for (const token of change.tokens) forget(token);
    wasSubscribed = true;
  });
  await cache.subscribe(projectKeyChannel, (message) => {
    if (message === allProjectKeys) forgetAll({ copiesToo: true });
    else forget(message);
  });
}

function countAnswers(metrics: Metrics) {
  const answeredBy = tallies(
    metrics.counter(
      'millrace_project_key_lookups_total',
      'Project API key lookups by what knew the answer: memory, cache, database; nobody (the stores refuse), slow (no answer in time), busy (too many lookups at once)',
      ['source'],
    ),
  );
  return {
    memory: answeredBy('memory'),
    cache: answeredBy('cache'),
    database: answeredBy('database'),
    nobody: answeredBy('nobody'),
    slow: answeredBy('slow'),
    busy: answeredBy('busy'),
  };
}

interface KeyMemoryOptions {
  changes: Pick<ProjectChanges, 'isSubscribed'>;
  /** How long an answer is used without asking again, while changes are received. */
  knownForMs: number;
  unknownForMs: number;
  /** For this time after `knownForMs` an answer is still used while it is looked up again, so that nobody waits. */
  refreshInBackgroundForMs: number;
  /** How long it is remembered that no store could say. */
  undeterminedForMs: number;
  isDatabaseAway(): boolean;
  /** Looks a key up beside the request that has its answer already. */
  refresh(token: string): void;
}

/** What this process remembers of keys, and how long it may be used. */
interface KeyMemory {
  /** The remembered answer, if it may still be used. When it is getting old it is looked up again in the background. */
  recall(token: string): KeyLookup | undefined;
  /** @param project null: there is no such key. Undefined: no store could say. */
  keep(token: string, project: KnownProject | null | undefined): void;
  /** What may be used while no store answers, however old. */
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
/** How long an outage of the stores can be bridged from memory. */
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
      // During an outage not every request with this key may ask all stores again.
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
 * Whose key it is. `undetermined`: the stores refuse to answer and nothing is remembered; the event is accepted and the
 * consumer decides (docs/architecture.md#the-way-of-one-event). `busy`: they are up, but did not answer in time or have
 * too many questions; the client has to come again, else whoever keeps them busy would be let in with any key.
 */
export type KeyLookup =
  | { outcome: 'known'; project: KnownProject }
  | { outcome: 'unknown' }
  | { outcome: 'undetermined' }
  | { outcome: 'busy' };

const undetermined: KeyLookup = Object.freeze({ outcome: 'undetermined' });
const unknown: KeyLookup = Object.freeze({ outcome: 'unknown' });
const busy: KeyLookup = Object.freeze({ outcome: 'busy' });
