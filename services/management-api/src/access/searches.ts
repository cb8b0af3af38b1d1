import type { Sql } from '@millrace/db';
import { OverBudget } from '@millrace/insights';
import { AppError } from '@millrace/runtime';
import type { AddressedProject } from './addressed-store.ts';

/** Who searches, and where: the key and the organization are limited. */
interface Searcher {
  caller: { credential: { kind: 'key' | 'session' | 'link'; id: string } };
  target: Pick<AddressedProject, 'organizationId'>;
}

export interface Searches {
  /**
   * Runs a read that may walk all rows of a project.
   *
   * @param narrowing what makes this read quicker, for whoever is refused: "Narrow it with …"; null where nothing does.
   * @param signal ends the waiting for a connection; what runs is stopped by `work` itself.
   * @throws AppError `rate_limited` when the key or its organization has too many under way, `unavailable` when no
   *   connection was free in time or the search took too long; the reason of the signal.
   */
  run<T>(
    searcher: Searcher,
    narrowing: string | null,
    work: (sql: Sql) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>;
}

interface SearchesOptions {
  /** Connections of their own: whatever searches do, those of all other requests are free. */
  sql: Sql;
  /** How many connections `sql` has. */
  connections: number;
  /** How long a search waits for one of them. */
  patienceMs?: number;
}

interface Waiting {
  organizationId: string;
  start: () => void;
}

/** When somebody who was refused may try again: most searches are over by then. */
const retryAfterSeconds = 2;
/** SQLSTATE of a statement cancelled because it ran longer than its pool lets it. */
const queryCanceled = '57014';

/**
 * Shares a few connections among searches, so that one caller's do not stop another's (docs/api/README.md#searches): a key
 * has as many under way as there are connections, an organization twice as many, of which one connection always stays free
 * for the others. Who waits is taken in turn, organizations with the fewest running first. All counts are of this process.
 */
export function createSearches({ sql, connections, patienceMs = 5000 }: SearchesOptions): Searches {
  const mostOfKey = connections;
  const mostOfOrganization = 2 * connections;
  const mostRunningOfOrganization = Math.max(1, connections - 1);
  /** Running and waiting. */
  const underWay = createCounts();
  const running = createCounts();
  let free = connections;
  let queue: Waiting[] = [];

  const mayStart = ({ organizationId }: { organizationId: string }) =>
    running.of(organizationId) < mostRunningOfOrganization;

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
      const settle = () => {
        clearTimeout(giveUp);
        signal?.removeEventListener('abort', onAbort);
      };
      const leave = (reason: unknown) => {
        settle();
        queue = queue.filter((one) => one !== waiting);
        reject(reason);
      };
      const onAbort = () => leave(signal?.reason);
      const giveUp = setTimeout(() => leave(tooBusy()), patienceMs);
      signal?.addEventListener('abort', onAbort);
      const waiting: Waiting = {
        organizationId,
        start() {
          settle();
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
      const who = `${credential.kind} ${credential.id}`;
      if (underWay.of(who) >= mostOfKey) {
        throw tooMany(searcherNames[credential.kind], mostOfKey, narrowing);
      }
      if (underWay.of(organizationId) >= mostOfOrganization) {
        throw tooMany('The organization', mostOfOrganization, narrowing);
      }
      underWay.add(who, 1);
      underWay.add(organizationId, 1);
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
        underWay.add(who, -1);
        underWay.add(organizationId, -1);
      }
    },
  };
}

/** In PostgreSQL, or where else events are. */
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

function tooMany(who: string, most: number, narrowing: string | null): AppError {
  const advice = narrowing === null ? '' : ` To make searches faster, use ${narrowing}.`;
  const detail = `${who} already has ${most} searches running, which is the maximum. Wait until one of them finishes.${advice}`;
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
