import type { Sql } from '@millrace/db';

/** A transaction of which the server does not tell us since when it is open: its session is another role's. */
export interface HiddenTransaction {
  /** The same at every look, and never given twice while the server runs. */
  id: string;
  isConsumer: boolean;
  hasWritten: boolean;
}

/** Who may still store events at this moment. */
export interface OpenTransactions {
  /** The moment of the look, less the time that is waited by all means. */
  reached: Date;
  /** When the oldest of those began that we can see into and that counts; null when there is none. */
  oldest: Date | null;
  hidden: HiddenTransaction[];
  /** Sessions that are hidden from us and could hold something back, now or later. */
  hiddenSessions: number;
  /** A prepared transaction holds the table of events; nobody knows when it began. */
  hasPrepared: boolean;
}

/**
 * Those that count are the sessions of consumers, also one that has written nothing yet and therefore has no transaction
 * id; and any other session that has written something, unless it has been open for an hour.
 *
 * The locks of transactions are shown to everybody, so that one whose session is hidden from us is known by its own.
 */
export async function readOpenTransactions(sql: Sql, settleSeconds: number): Promise<OpenTransactions> {
  const [row] = await sql.query<Row>(
    `WITH session AS (
       SELECT coalesce(application_name = $2, true) AS is_consumer, backend_xid IS NOT NULL AS has_written, xact_start,
              backend_type IS NULL AS is_hidden, own.virtualtransaction AS id
         FROM pg_stat_activity
         LEFT JOIN pg_locks own ON own.pid = pg_stat_activity.pid AND own.locktype = 'virtualxid'
                               AND own.virtualxid = own.virtualtransaction
        WHERE datname = current_database() AND pg_stat_activity.pid <> pg_backend_pid()
     )
     SELECT now() - make_interval(secs => $1) AS reached,
            min(xact_start) FILTER (WHERE is_consumer OR has_written AND xact_start > now() - interval '1 hour') AS oldest,
            coalesce(json_agg(json_build_object('id', id, 'isConsumer', is_consumer, 'hasWritten', has_written))
                       FILTER (WHERE xact_start IS NULL AND id IS NOT NULL), '[]') AS hidden,
            (count(*) FILTER (WHERE is_hidden AND (is_consumer OR has_written)))::int AS hidden_sessions,
            EXISTS (SELECT FROM pg_locks
                     WHERE pid IS NULL AND relation = 'event'::regclass AND mode = 'RowExclusiveLock'
                       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS has_prepared
       FROM session`,
    [settleSeconds, consumerName],
  );
  if (row === undefined) throw new Error('An aggregate gave no row.');
  const { reached, oldest, hidden, hidden_sessions: hiddenSessions, has_prepared: hasPrepared } = row;
  return { reached, oldest, hidden, hiddenSessions, hasPrepared };
}

interface Row extends Record<string, unknown> {
  reached: Date;
  oldest: Date | null;
  hidden: HiddenTransaction[];
  hidden_sessions: number;
  has_prepared: boolean;
}

/** What consumers call their sessions (services/event-consumer/src/main.ts). */
const consumerName = 'event-consumer';
