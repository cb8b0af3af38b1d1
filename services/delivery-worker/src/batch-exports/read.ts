import type { Sql, Transaction } from '@millrace/db';
import { type EventList, type EventSpan, type EventStore, readCopiedUntil } from '@millrace/insights';
import type { Logger } from '@millrace/runtime';
import type { EventRecord, PersonRecord } from './destination.ts';
import { fetchRows, type HiddenTransaction, readOpenTransactions } from './store.ts';

/**
 * The moment before which nothing can be stored any more: an event carries the time at which its transaction began
 * (`created_at`), so whatever is still open counts from its beginning.
 *
 * @returns null while that is not known.
 */
export type SettledUntil = () => Promise<Date | null>;

interface SettledUntilDeps {
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
    logger.warn('batch exports start later than necessary: grant pg_read_all_stats to the database role', {
      sessions,
    });
  }

  return () => {
    const looked = looking.then(look);
    looking = looked.catch(() => {});
    return looked;
  };
}

/** Where events are read from another store: what was stored before is there too. */
export function copiedUntil(sql: Sql, settledUntil: SettledUntil): SettledUntil {
  return async () => {
    const [settled, copied] = [await settledUntil(), await readCopiedUntil(sql)];
    if (settled === null || copied === null) return null;
    return new Date(Math.min(copied.getTime(), settled.getTime()));
  };
}

const targetBytes = 4 * 1024 * 1024;
const maxRows = 2000;
/** Rows that come at once, however large they turn out to be: small ones may be followed by such of nearly a megabyte each. */
const maxFetched = 32;

/**
 * The rows of the open cursor in pages of about 4 MiB. They are fetched a few at a time, fewer when the last ones were large, so
 * that no mixture of small and large events fills the memory.
 */
export async function* readPages<Row extends EventRecord | PersonRecord>(tx: Transaction): AsyncGenerator<Row[]> {
  let page: Row[] = [];
  let pageBytes = 0;
  for (let count = maxFetched; ; ) {
    const rows = await fetchRows<Row>(tx, count);
    const bytes = rows.reduce((sum, row) => sum + sizeOf(row), 0);
    page.push(...rows);
    pageBytes += bytes;
    const isLast = rows.length < count;
    if (page.length > 0 && (isLast || pageBytes >= targetBytes || page.length >= maxRows)) {
      yield page;
      page = [];
      pageBytes = 0;
    }
    if (isLast) return;
    count = Math.max(1, Math.min(maxFetched, Math.floor((targetBytes * rows.length) / bytes)));
  }
}

function sizeOf(row: EventRecord | PersonRecord): number {
  return 300 + row.properties.length + ('person_properties' in row ? row.person_properties.length : 0);
}

/** One page takes less by far; a store that is busy has some time. */
const longestPageMs = 120_000;

/** The events of a run from another store than PostgreSQL, in the same order and in pages of the same size. */
export async function* readStoredPages(
  events: EventStore,
  span: EventSpan,
  signal: AbortSignal,
): AsyncGenerator<EventRecord[]> {
  const question = { ...span, uuid: null, isOldestFirst: true, limit: maxRows, maxBytes: targetBytes };
  let behind: { time: number; uuid: string } | null = null;
  for (let hasMore = true; hasMore; ) {
    const page: EventList = await events.list(
      { ...question, behind },
      { signal, maxMs: longestPageMs, maxBytes: 64 * targetBytes },
    );
    if (page.events.length > 0) yield page.events;
    const last = page.events.at(-1);
    behind = last ? { time: last[question.by].getTime(), uuid: last.uuid } : null;
    hasMore = page.hasMore;
  }
}
