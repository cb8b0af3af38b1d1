// Ends unresponsive consumers' database sessions, so that their locks do not block other consumers.

import type { Sql } from '@millrace/db/sql';
import type { Logger } from '@millrace/runtime';
import { describeFailure } from './failures.ts';

const intervalMs = 1000;

/**
 * Creates a function that ends transactions whose process has stopped or cannot be reached. A batch calls it when it
 * could not get a lock. The function checks at most once a second, however often it is called. Never throws.
 */
export function createFrozenTransactionEnder({
  sql,
  logger,
  silentMs,
  now,
}: {
  sql: Sql;
  logger: Logger;
  /** A session is ended when its process has sent nothing within a transaction for this many milliseconds. */
  silentMs: number;
  now: () => number;
}): () => Promise<void> {
  let nextAtMs = 0;
  let isLogged = false;
  return async () => {
    if (now() < nextAtMs) return;
    nextAtMs = now() + intervalMs;
    try {
      const { ended: sessions, hidden } = await endFrozenSessions(sql, silentMs);
      if (sessions > 0) logger.warn('ended transactions of an unresponsive consumer', { sessions });
      if (hidden > 0 && !isLogged) {
        isLogged = true;
        logger.warn(
          'other consumers use a different database role, so this consumer cannot release the locks of a consumer that stops in the middle of a batch. Use the same role for all consumers',
          { sessions: hidden },
        );
      }
    } catch (error) {
      logger.debug('could not determine the lock holder', describeFailure(error));
    }
  };
}

interface FrozenSessions {
  ended: number;
  /**
   * The number of this service's database sessions that use a different role. The consumer is not allowed to inspect or
   * end them.
   */
  hidden: number;
}

/**
 * Ends transactions of this service's sessions whose process has sent nothing for `silentMs`.
 * `idle_in_transaction_session_timeout` does the same in most cases. However, PostgreSQL has no time limit for a COPY
 * whose rows do not arrive, or for a response that is not read.
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
