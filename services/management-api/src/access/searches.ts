// Limits queries that may read all rows of a project, so that one caller cannot block the others.

import type { Sql } from '@millrace/db';
import { OverBudget } from '@millrace/insights';
import { AppError } from '@millrace/runtime';
import type { AddressedProject } from './addressed-store.ts';

interface Searcher {
  caller: { credential: { kind: 'key' | 'session' | 'link'; id: string } };
  target: Pick<AddressedProject, 'organizationId'>;
}

export interface Searches {
  /**
   * Runs a query that may read all rows of a project.
   * @param narrowing the parameters that make the query faster, for the error message: "use …". Null if no parameter makes
   *   it faster.
   * @param signal aborts waiting for a connection. `work` itself must stop a running query.
   * @throws AppError `rate_limited` if the key or its organization has too many searches in flight, `unavailable` if no
   *   connection was free in time or the search took too long, or the reason of the signal
   */
  run<T>(
    searcher: Searcher,
    narrowing: string | null,
    work: (sql: Sql) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>;
}

interface SearchesOptions {
  /** A separate connection pool, so that searches cannot use the connections of other requests. */
  sql: Sql;
  connections: number;
  /** The maximum number of milliseconds that a search waits for a connection. */
  patienceMs?: number;
}

interface Waiting {
  organizationId: string;
  start: () => void;
}

/** Seconds after which a rejected client can retry. Most searches end within this time. */
const retryAfterSeconds = 2;
/** SQLSTATE of a statement that exceeded its pool's time limit and was canceled. */
const queryCanceled = '57014';

/**
 * Shares a few connections among searches, so that one caller's searches do not block those of other callers
 * (docs/api/README.md#searches). A key can have as many searches in flight as the pool has connections, and an
 * organization can have twice as many, but one connection always stays free for other organizations. Among waiting
 * searches, those of the organization with the fewest running searches start first. Within an organization, searches
 * start in the order of arrival. All counts are per process.
 */
export function createSearches({ sql, connections, patienceMs = 5000 }: SearchesOptions): Searches {
  const maxPerKey = connections;
  const maxPerOrganization = 2 * connections;
  const maxRunningPerOrganization = Math.max(1, connections - 1);
  const inFlight = createCounts();
  const running = createCounts();
  let free = connections;
  let queue: Waiting[] = [];

  const mayStart = ({ organizationId }: { organizationId: string }) =>
    running.of(organizationId) < maxRunningPerOrganization;

  function startNext(): void {
    const [first, ...others] = free > 0 ? queue.filter(mayStart) : [];
    if (first === undefined) return;
    const next = others.reduce(
      (best, one) => (running.of(one.organizationId) < running.of(best.organizationId) ? one : best),
      first,
    );
    queue = queue.filter((one) => one !== next);
    next.start();
  }

  function take(organizationId: string, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stopWaiting = () => {
        clearTimeout(giveUp);
        signal?.removeEventListener('abort', onAbort);
      };
      const leave = (reason: unknown) => {
        stopWaiting();
        queue = queue.filter((one) => one !== waiting);
        reject(reason);
      };
      const onAbort = () => leave(signal?.reason);
      const giveUp = setTimeout(() => leave(tooBusy()), patienceMs);
      signal?.addEventListener('abort', onAbort);
      const waiting: Waiting = {
        organizationId,
        start() {
          stopWaiting();
          free -= 1;
          running.add(organizationId, 1);
          resolve();
        },
      };
      queue.push(waiting);
      startNext();
    });
  }

  return {
    async run({ caller: { credential }, target: { organizationId } }, narrowing, work, signal) {
      const searcher = `${credential.kind} ${credential.id}`;
      if (inFlight.of(searcher) >= maxPerKey) {
        throw tooMany(searcherNames[credential.kind], maxPerKey, narrowing);
      }
      if (inFlight.of(organizationId) >= maxPerOrganization) {
        throw tooMany('The organization', maxPerOrganization, narrowing);
      }
      inFlight.add(searcher, 1);
      inFlight.add(organizationId, 1);
      try {
        signal?.throwIfAborted();
        await take(organizationId, signal);
        try {
          return await work(sql);
        } finally {
          free += 1;
          running.add(organizationId, -1);
          startNext();
        }
      } catch (error) {
        throw isTooLong(error) ? tookTooLong(narrowing, error) : error;
      } finally {
        inFlight.add(searcher, -1);
        inFlight.add(organizationId, -1);
      }
    },
  };
}

const isTooLong = (error: unknown) =>
  error instanceof OverBudget || (error as { code?: unknown } | null)?.code === queryCanceled;

function createCounts() {
  const counts = new Map<string, number>();
  return {
    of: (name: string) => counts.get(name) ?? 0,
    add(name: string, by: number) {
      const count = (counts.get(name) ?? 0) + by;
      if (count > 0) counts.set(name, count);
      else counts.delete(name);
    },
  };
}

const searcherNames = { key: 'This API key', session: 'Your session', link: 'This public link' };

function tooMany(searcher: string, most: number, narrowing: string | null): AppError {
  const advice = narrowing === null ? '' : ` To make searches faster, use ${narrowing}.`;
  const detail = `${searcher} already has ${most} searches running, which is the maximum. Wait until one of them finishes.${advice}`;
  return new AppError('rate_limited', detail, { code: 'too_many_searches', retryAfterSeconds });
}

function tooBusy(): AppError {
  const detail = 'Too many searches are running. Try again in a moment.';
  return new AppError('unavailable', detail, { code: 'too_many_searches', retryAfterSeconds });
}

function tookTooLong(narrowing: string | null, cause: unknown): AppError {
  const detail = `The search took too long. ${narrowing === null ? 'Try again later.' : `To make it faster, use ${narrowing}.`}`;
  return new AppError('unavailable', detail, { code: 'query_timeout', retryAfterSeconds, cause });
}
