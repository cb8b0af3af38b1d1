// SQL that adds entries to the activity log. The log shows who changed what.

import type { Columns, Sql } from '@millrace/db';
import type { FieldChange } from './changed-fields.ts';

export interface ActivityDetail {
  name: string | null;
  short_id: null;
  type: null;
  /** The job that made the change, or null if a user made it. */
  trigger: { job_type: string; job_id: string; payload: Record<string, never> } | null;
  changes: FieldChange[] | null;
}

export interface NewActivityRow
  extends Columns<
    'activity_log',
    'id' | 'organization_id' | 'environment_id' | 'user_id' | 'scope' | 'item_id' | 'activity'
  > {
  detail: ActivityDetail;
}

export async function insertActivity(tx: Sql, row: NewActivityRow): Promise<void> {
  await tx.query(
    `INSERT INTO activity_log (id, organization_id, environment_id, user_id, scope, item_id, activity, detail, created_at)
     VALUES ($1::uuid, $2::uuid, $3::int, $4::int, $5, $6, $7, $8::jsonb, clock_timestamp())`,
    [
      row.id,
      row.organization_id,
      row.environment_id,
      row.user_id,
      row.scope,
      row.item_id,
      row.activity,
      JSON.stringify(row.detail),
    ],
  );
}
