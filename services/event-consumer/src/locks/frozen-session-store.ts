import type { Sql } from '@millrace/db/sql';

export interface FrozenSessions {
  /** Whose transactions were ended. */
  ended: number;
  /** Sessions of this service that are another role's, so that nobody here can see or end what they do. */
  hidden: number;
}

/**
 * Ends the transactions of this service's sessions that have waited for their process for this time.
 * `idle_in_transaction_session_timeout` does that too, but not for a COPY whose rows do not arrive, nor for an answer
 * that nobody reads: PostgreSQL has no limit for these.
 */
export async function endFrozenSessions(sql: Sql, silentMs: number): Promise<FrozenSessions> {
  const [row] = await sql.query<{ ended: number; hidden: number }>(
    `SELECT (count(*) FILTER (WHERE CASE WHEN is_frozen THEN pg_terminate_backend(pid) END))::int AS ended,
            (count(*) FILTER (WHERE NOT is_ours))::int AS hidden
       FROM (SELECT pid, is_ours,
                    is_ours AND xact_start IS NOT NULL
                      AND state_change < clock_timestamp() - make_interval(secs => $1 / 1000.0)
                      AND (state LIKE 'idle in transaction%' OR state = 'active' AND wait_event_type = 'Client') AS is_frozen
               FROM pg_stat_activity, pg_has_role(usesysid, 'USAGE') AS is_ours
              WHERE datname = current_database() AND pid <> pg_backend_pid()
                AND application_name = current_setting('application_name')) AS session`,
    [silentMs],
  );
  return { ended: row?.ended ?? 0, hidden: row?.hidden ?? 0 };
}
