// What is stored of the numbers of reports.

import type { Columns, Sql } from '@millrace/db';
import type { ReportContent } from '@millrace/insights/report';
import type { SlotUsage } from '../poll.ts';

export interface ClaimedReport
  extends Columns<'subscription_report', 'id' | 'subscription_id' | 'due_at' | 'attempts'>,
    Columns<'subscription', 'environment_id' | 'insight' | 'dashboard'> {
  organization_id: string;
}

/**
 * Claims reports that are to be sent and were not computed yet, of each organization in turn the oldest. A claim holds for
 * `leaseSeconds`; whoever has not kept its numbers by then counts as dead.
 */
export async function claimReports(
  sql: Sql,
  { limit, leaseSeconds, usage }: { limit: number; leaseSeconds: number; usage: SlotUsage },
): Promise<ClaimedReport[]> {
  return sql.query<ClaimedReport & Record<string, unknown>>(
    `WITH due AS (
       SELECT DISTINCT d.subscription_id, d.due_at, s.environment_id, s.insight, s.dashboard, p.organization_id
         FROM subscription_delivery d
         JOIN subscription s ON s.id = d.subscription_id
         JOIN environment e ON e.id = s.environment_id
         JOIN project p ON p.id = e.project_id
         LEFT JOIN subscription_report r ON r.subscription_id = d.subscription_id AND r.due_at = d.due_at
        WHERE d.status = 'pending' AND d.attempt_at <= now() AND d.occasion <> 'ended' AND NOT s.deleted
          AND r.content IS NULL AND (r.id IS NULL OR r.attempt_at <= now())
     ), ranked AS (
       SELECT due.*, row_number() OVER (PARTITION BY due.organization_id ORDER BY due.due_at, due.subscription_id)
                       + coalesce(taken.slots, 0) AS rank
         FROM due
         LEFT JOIN unnest($3::uuid[], $4::int[]) AS taken (organization_id, slots)
           ON taken.organization_id = due.organization_id
     ), chosen AS (
       SELECT * FROM ranked WHERE rank <= $5 ORDER BY rank, organization_id <= $6::uuid, organization_id LIMIT $1
     ), claimed AS (
       INSERT INTO subscription_report AS r (id, subscription_id, due_at, attempt_at)
       SELECT gen_random_uuid(), subscription_id, due_at, now() + make_interval(secs => $2)
         FROM chosen ORDER BY subscription_id, due_at
       ON CONFLICT (subscription_id, due_at) DO UPDATE
          SET attempts = r.attempts + 1, attempt_at = excluded.attempt_at
        WHERE r.content IS NULL AND r.attempt_at <= now()
       RETURNING r.id, r.subscription_id, r.due_at, r.attempts
     )
     SELECT claimed.*, chosen.environment_id, chosen.insight, chosen.dashboard, chosen.organization_id
       FROM claimed JOIN chosen USING (subscription_id, due_at)`,
    [limit, leaseSeconds, usage.organizationIds, usage.counts, usage.maxEach, usage.last],
  );
}

/** What a report says; JSON null where it is about nothing that is there. The first to say so is who is sent. */
export async function keepReport(sql: Sql, { id }: ClaimedReport, content: ReportContent | null): Promise<void> {
  await sql.query('UPDATE subscription_report SET content = $2::jsonb WHERE id = $1 AND content IS NULL', [
    id,
    JSON.stringify(content),
  ]);
}
