import type { Transaction } from '@millrace/db/sql';

export interface FlagCall {
  projectId: number;
  flagKey: string;
  calledAtMs: number;
}

/** Moves `last_called_at` forward, never back. Rows are locked in the order of their ids; unknown keys are passed over. */
export async function noteFlagCalls(tx: Transaction, calls: FlagCall[]): Promise<void> {
  if (calls.length === 0) return;
  await tx.query(
    `WITH called AS (
       SELECT f.id, to_timestamp(c.called_at_ms / 1000.0) AS at
         FROM unnest($1::int[], $2::text[], $3::bigint[]) AS c (project_id, flag_key, called_at_ms)
         JOIN feature_flag f ON f.project_id = c.project_id AND f.key = c.flag_key AND NOT f.deleted
        ORDER BY f.id FOR NO KEY UPDATE OF f)
     UPDATE feature_flag f SET last_called_at = called.at FROM called
      WHERE f.id = called.id AND (f.last_called_at IS NULL OR f.last_called_at < called.at)`,
    [
      calls.map(({ projectId }) => projectId),
      calls.map(({ flagKey }) => flagKey),
      calls.map(({ calledAtMs }) => calledAtMs),
    ],
  );
}
