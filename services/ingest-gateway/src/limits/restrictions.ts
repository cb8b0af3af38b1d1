import type { KeyValue } from '@millrace/cache';
import { projectKeyChannel, type Restriction } from '@millrace/contracts';
import type { ProjectChanges, Sql } from '@millrace/db/sql';
import type { Logger } from '@millrace/runtime';
import { withTimeLimit } from '../access/time-limit.ts';
import { createRestrictionSet, type KeyRestrictions } from './restriction-set.ts';
import { selectRestrictions } from './restriction-store.ts';

export interface RestrictionsOptions {
  sql: Sql;
  cache: Pick<KeyValue, 'subscribe'>;
  changes: Pick<ProjectChanges, 'subscribe'>;
  logger: Logger;
  /** From the settings: valid whatever the table says. */
  configured: readonly Restriction[];
  refreshAfterMs: number;
}

export interface Restrictions {
  of(token: string): KeyRestrictions | undefined;
  size(): number;
  stop(): void;
}

/** For a database that takes the question and never answers; its own time limit is shorter. */
const firstReadLimitMs = 3000;
/** Several keys may change at once; the table is read once for all of them. */
const afterMessageMs = 100;

/**
 * The operator's lists: settings and table together. The table is read again every few seconds, and at once when a
 * project key was announced as changed. While PostgreSQL is away the last known state holds; a process that starts
 * meanwhile knows the settings only.
 */
export async function createRestrictions(options: RestrictionsOptions): Promise<Restrictions> {
  const { sql, cache, changes, logger, configured, refreshAfterMs } = options;
  let set = createRestrictionSet(configured);
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let nextAtMs = Number.POSITIVE_INFINITY;
  let isReading = false;
  let wasReported = false;

  async function refresh(): Promise<void> {
    isReading = true;
    nextAtMs = Number.POSITIVE_INFINITY;
    try {
      set = createRestrictionSet([...configured, ...(await selectRestrictions(sql))]);
      wasReported = false;
    } catch (error) {
      if (!wasReported) logger.warn('the restriction lists could not be read; the last known ones hold', { error });
      wasReported = true;
    }
    isReading = false;
    const askedInMs = Math.max(0, nextAtMs - performance.now());
    nextAtMs = Number.POSITIVE_INFINITY;
    refreshIn(Math.min(refreshAfterMs, askedInMs));
  }

  function refreshIn(ms: number): void {
    const atMs = performance.now() + ms;
    if (isStopped || atMs >= nextAtMs) return;
    nextAtMs = atMs;
    if (isReading) return;
    clearTimeout(timer);
    timer = setTimeout(() => void refresh(), ms).unref();
  }

  await withTimeLimit(refresh(), firstReadLimitMs).catch(() => {});
  changes.subscribe(() => refreshIn(afterMessageMs));
  await cache.subscribe(projectKeyChannel, () => refreshIn(afterMessageMs));
  return {
    of: (token) => set.of(token),
    size: () => set.size,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
