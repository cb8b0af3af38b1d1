// Reads a batch export's rows in pages, and finds the time before which no more events can be stored.

import type { Sql, Transaction } from '@millrace/db';
import {
  type EventList,
  type EventSpan,
  type EventStore,
  type PreparedExport,
  readCopiedUntil,
} from '@millrace/insights';
import type { Logger } from '@millrace/runtime';
import type { EventRecord, PersonRecord } from './destination.ts';
import { fetchRows, type HiddenTransaction, readTransactionsThatMayStoreEvents } from './store.ts';

/**
 * Returns the time before which no more events can be stored. An event's stored time (`created_at`) is the start of its
 * transaction, so open transactions limit the result.
 * @returns null while the time is unknown
 */
export type SettledUntil = () => Promise<Date | null>;

interface SettledUntilDeps {
  sql: Sql;
  logger: Logger;
  /** Minimum age in seconds of events to export, because an event is committed after its stored time. */
  settleSeconds?: number;
}

/** When a hidden transaction was first seen, and when the check before that ran (null if it was the first check). */
interface Seen {
  firstAt: Date;
  startedAfter: Date | null;
}

/**
 * A transaction that is older than this age in milliseconds is stuck and therefore ignored. No consumer transaction
 * takes this long.
 */
const stuckMs = 3_600_000;

/**
 * Creates a check of open transactions. PostgreSQL hides the start times of other roles' transactions, unless the role
 * is a member of `pg_read_all_stats`. A hidden transaction is assumed to have started at the last check before it was
 * seen. If the first check already sees it, the time stays unknown until the transaction ends.
 */
export function createSettledUntil({ sql, logger, settleSeconds = 20 }: SettledUntilDeps): SettledUntil {
  let seen = new Map<string, Seen>();
  let lastReached: Date | null = null;
  let isLogged = false;
  /** Run one check at a time, because each check is compared with the previous check. */
  let looking: Promise<unknown> = Promise.resolve();

  async function look(): Promise<Date | null> {
    const open = await readTransactionsThatMayStoreEvents(sql, settleSeconds);
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
    if (isLogged) return;
    isLogged = true;
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

/** Like `settledUntil`, but events and their persons must also have been copied to the other store. */
export function createCopiedUntil(sql: Sql, settledUntil: SettledUntil): SettledUntil {
  return async () => {
    const [settled, { events, persons }] = [await settledUntil(), await readCopiedUntil(sql)];
    if (settled === null || events === null) return null;
    return new Date(Math.min(settled.getTime(), events.getTime(), persons?.getTime() ?? Number.POSITIVE_INFINITY));
  };
}

const targetBytes = 4 * 1024 * 1024;
const maxRows = 2000;
/** Maximum number of rows per fetch, because small rows may be followed by rows of nearly a megabyte each. */
const maxFetched = 32;

/**
 * Reads the open cursor's rows in pages of about 4 MiB. Fetches few rows at a time, and fewer after large ones, so that
 * a mixture of small and large events does not fill the memory.
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

/** Time limit for one page in milliseconds. A page normally takes much less time, even if the store is busy. */
const longestPageMs = 120_000;

/** Reads a run's events from ClickHouse, in the same order and with the same page size as from PostgreSQL. */
export async function* readStoredPages(
  events: EventStore,
  span: EventSpan,
  signal: AbortSignal,
): AsyncGenerator<EventRecord[]> {
  const pageQuery = { ...span, uuid: null, isOldestFirst: true, limit: maxRows, maxBytes: targetBytes };
  let after: { time: number; uuid: string } | null = null;
  for (let hasMore = true; hasMore; ) {
    const page: EventList = await events.list(
      { ...pageQuery, after },
      { signal, maxMs: longestPageMs, maxBytes: 64 * targetBytes },
    );
    if (page.events.length > 0) yield page.events;
    const last = page.events.at(-1);
    after = last ? { time: last[pageQuery.by].getTime(), uuid: last.uuid } : null;
    hasMore = page.hasMore;
  }
}

/** Maximum number of events per statement, because each event is a statement parameter. */
const maxKeys = 500;
/** A row with more columns than this may be larger than its event, because each column can contain all properties. */
const columnsPerEvent = 8;

/** Reads the selected columns of a run's events. Events that do not match the query's condition are omitted. */
export async function* readSelectedPages(
  { events, query }: { events: EventStore; query: PreparedExport },
  span: EventSpan,
  signal: AbortSignal,
): AsyncGenerator<unknown[][]> {
  const most = targetBytes / Math.ceil(query.columns.length / columnsPerEvent);
  for await (const page of readStoredPages(events, span, signal)) {
    for (const part of parts(page, most)) {
      const keys = part.map(({ uuid, timestamp, event, distinct_id }) => ({
        uuid,
        timestamp: timestamp.getTime(),
        event,
        distinctId: distinct_id,
      }));
      yield await query.rows(events, keys, { signal, maxMs: longestPageMs, maxBytes: 64 * targetBytes });
    }
  }
}

function* parts(page: readonly EventRecord[], mostBytes: number): Generator<EventRecord[]> {
  let part: EventRecord[] = [];
  let bytes = 0;
  for (const event of page) {
    if (part.length > 0 && (part.length >= maxKeys || bytes + sizeOf(event) > mostBytes)) {
      yield part;
      [part, bytes] = [[], 0];
    }
    part.push(event);
    bytes += sizeOf(event);
  }
  if (part.length > 0) yield part;
}
