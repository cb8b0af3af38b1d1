import type { Sql } from '@millrace/db';
import type { Logger } from '@millrace/runtime';
import { type HiddenTransaction, readOpenTransactions } from './open-transactions-store.ts';

/**
 * The moment before which nothing can be stored any more: an event carries the time at which its transaction began
 * (`created_at`), so whatever is still open counts from its beginning.
 *
 * @returns null while that is not known.
 */
export type SettledUntil = () => Promise<Date | null>;

export interface SettledUntilDeps {
  sql: Sql;
  logger: Logger;
  /** How long is waited by all means: what was stored shortly before an interval's end may be committed a little later. */
  settleSeconds?: number;
}

/** What is known of a hidden transaction: when it was first seen, and the look before, at which it was not there. */
interface Seen {
  firstAt: Date;
  startedAfter: Date | null;
}

/** Whoever has written for longer is stuck, is no consumer, and holds nobody up. */
const stuckMs = 3_600_000;

/**
 * Looks at the transactions that are open. Of those of other roles the server may not tell when they began (it does to
 * members of `pg_read_all_stats`): such a one began after the last look at which it was not there; one that was
 * there at the first look holds everything back until it ends.
 */
export function createSettledUntil({ sql, logger, settleSeconds = 20 }: SettledUntilDeps): SettledUntil {
  let seen = new Map<string, Seen>();
  let lastReached: Date | null = null;
  let isTold = false;
  /** One look after the other, because each is compared with the one before. */
  let looking: Promise<unknown> = Promise.resolve();

  async function look(): Promise<Date | null> {
    const open = await readOpenTransactions(sql, settleSeconds);
    if (open.hiddenSessions > 0) warnOnce(open.hiddenSessions);
    const { reached, oldest } = open;
    const first = { firstAt: reached, startedAfter: lastReached };
    seen = new Map(open.hidden.map(({ id }) => [id, seen.get(id) ?? first]));
    lastReached = reached;
    const begins = open.hidden.filter(holdsUp).map(({ id }) => seen.get(id)?.startedAfter ?? null);
    if (open.hasPrepared || begins.includes(null)) return null;
    return [oldest, ...begins].reduce<Date>((least, at) => (at !== null && at < least ? at : least), reached);
  }

  function holdsUp({ id, isConsumer, hasWritten }: HiddenTransaction): boolean {
    const isStuck = Number(lastReached) - Number(seen.get(id)?.firstAt) > stuckMs;
    return isConsumer || (hasWritten && !isStuck);
  }

  function warnOnce(sessions: number): void {
    if (isTold) return;
    isTold = true;
    logger.warn(
      'the database hides from this role since when others write: batch exports wait a little longer than they need to. GRANT pg_read_all_stats to it to end that',
      { sessions },
    );
  }

  return () => {
    const looked = looking.then(look);
    looking = looked.catch(() => {});
    return looked;
  };
}
