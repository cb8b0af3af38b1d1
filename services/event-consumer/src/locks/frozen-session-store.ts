import type { Sql } from '@millrace/db/sql';

/**
 * Ends the transactions of this service's sessions that have waited for their process for so long, and gives their number.
 * That is what `idle_in_transaction_session_timeout` does, too; but not to a COPY whose rows do not come, nor to an answer
 * that nobody reads, for which PostgreSQL has no limit.
 */
export async function endFrozenSessions(sql: Sql, silentMs: number): Promise<number> {
  const [row] = await sql.query<{ ended: number }>(
    `SELECT (count(*) FILTER (WHERE pg_terminate_backend(pid)))::int AS ended
       FROM pg_stat_activity
      WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
        AND application_name = current_setting('application_name') AND xact_start IS NOT NULL
        AND state_change < clock_timestamp() - make_interval(secs => $1 / 1000.0)
        AND (state LIKE 'idle in transaction%' OR state = 'active' AND wait_event_type = 'Client')`,
    [silentMs],
  );
  return row?.ended ?? 0;
}
