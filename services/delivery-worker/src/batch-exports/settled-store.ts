import type { Sql } from '@millrace/db';

/** What was stored shortly before an interval's end may be committed a little later. */
const usualSettleSeconds = 20;

/**
 * The moment before which nothing can be stored any more: an event carries the time at which its transaction began
 * (`created_at`), so whatever is still open counts from its beginning. That is a session of a consumer, also one that
 * has written nothing yet and therefore has no transaction id; any other session that has written something, unless it has
 * been open for an hour (it is stuck, is no consumer, and holds nobody up); and a prepared transaction that holds
 * the table of events, of which nobody knows when it began.
 *
 * @returns null while such a prepared transaction is there.
 */
export async function readSettledUntil(sql: Sql, settleSeconds = usualSettleSeconds): Promise<Date | null> {
  const [row] = await sql.query<{ settled_until: Date | null }>(
    `SELECT CASE WHEN EXISTS (SELECT FROM pg_locks
                               WHERE pid IS NULL AND relation = 'event'::regclass AND mode = 'RowExclusiveLock'
                                 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
                 THEN NULL
                 ELSE least(now() - make_interval(secs => $1),
                            (SELECT min(xact_start) FROM pg_stat_activity
                              WHERE datname = current_database() AND pid <> pg_backend_pid()
                                AND (application_name = $2
                                     OR backend_xid IS NOT NULL AND xact_start > now() - interval '1 hour')))
            END AS settled_until`,
    [settleSeconds, consumerName],
  );
  return row?.settled_until ?? null;
}

/** What consumers call their sessions (services/event-consumer/src/main.ts). */
const consumerName = 'event-consumer';
