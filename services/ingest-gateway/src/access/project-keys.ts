import type { KeyValue } from '@millrace/cache';
import { allProjectKeys, projectKeyChannel } from '@millrace/contracts';
import type { ProjectChanges, Sql } from '@millrace/db/sql';
import { type Logger, type Metrics, tallies } from '@millrace/runtime';
import { busy, type KeyLookup, undetermined, unknown } from './key-lookup.ts';
import { createKeyMemory } from './key-memory.ts';
import { createKeyStores, restAfterFailureMs } from './key-stores.ts';
import { isBusy } from './slots.ts';
import type { StoreTimeLimits } from './store-time-limits.ts';

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
  timeLimits?: StoreTimeLimits;
}

/**
 * Project keys: first memory, then the cache that gateways share, then PostgreSQL. One lookup for each key at a time. A
 * remembered key never waits for a store that does not answer.
 */
export async function createProjectKeys(options: ProjectKeysOptions): Promise<ProjectKeys> {
  const { changes, logger, knownForMs = 60_000, unknownForMs = 5000 } = options;
  const stores = createKeyStores(options);
  const memory = createKeyMemory({
    ...{ changes, knownForMs, unknownForMs, undeterminedForMs: restAfterFailureMs },
    refreshInBackgroundForMs: options.refreshInBackgroundForMs ?? 60_000,
    isDatabaseAway: stores.isDatabaseAway,
    refresh: (token) => void lookUpOnce(token),
  });
  const underWay = new Map<string, Promise<KeyLookup>>();
  const answers = countAnswers(options.metrics);

  function find(token: string): KeyLookup | Promise<KeyLookup> {
    const answer = memory.recall(token);
    if (answer === undefined) return lookUpOnce(token);
    answers.memory.add(1);
    return answer;
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
      const wasAsked = !isBusy(error);
      answers[wasAsked ? 'nobody' : 'busy'].add(1);
      logger.debug('a project key could not be looked up', { error });
      const project = memory.bridge(token);
      if (project !== undefined) return { outcome: 'known', project };
      if (!wasAsked) return busy;
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
      'Project API keys looked up, by what knew the answer: memory, cache, database, nobody while these are out, or nobody was asked because of too many (busy)',
      ['source'],
    ),
  );
  return {
    memory: answeredBy('memory'),
    cache: answeredBy('cache'),
    database: answeredBy('database'),
    nobody: answeredBy('nobody'),
    busy: answeredBy('busy'),
  };
}
