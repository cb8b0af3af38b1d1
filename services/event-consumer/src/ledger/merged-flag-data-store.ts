/**
 * What feature flags know of a person goes to the survivor of a merge. One statement each, only in batches that merge, after
 * the persons were locked: whoever adds a member to a cohort locks the person as well (packages/cohorts, `addCohortMembers`), so
 * no membership is added to a person who is being merged away.
 */
import type { Transaction } from '@millrace/db/sql';
import type { MergedPerson } from './ledger-rows.ts';

/** Survivors are in all static cohorts that persons merged into them were in. */
export async function moveCohortMembers(tx: Transaction, merged: MergedPerson[]): Promise<void> {
  if (merged.length === 0) return;
  await tx.query(
    `WITH gone AS (
       DELETE FROM cohort_member c USING unnest($1::int[], $2::uuid[], $3::uuid[]) AS m (project_id, uuid, survivor_uuid)
        WHERE c.project_id = m.project_id AND c.person_uuid = m.uuid
       RETURNING c.project_id, c.cohort_id, m.survivor_uuid, c.added_at)
     INSERT INTO cohort_member (project_id, cohort_id, person_uuid, added_at)
     SELECT project_id, cohort_id, survivor_uuid, min(added_at) FROM gone
      GROUP BY project_id, cohort_id, survivor_uuid
      ORDER BY project_id, cohort_id, survivor_uuid
         ON CONFLICT (project_id, cohort_id, person_uuid) DO NOTHING`,
    columnsOf(merged),
  );
}

/** The ids that buckets of flags are made of: what the survivor has of its own stays, and of several one is kept. */
export async function moveFlagHashKeys(tx: Transaction, merged: MergedPerson[]): Promise<void> {
  if (merged.length === 0) return;
  await tx.query(
    `WITH gone AS (
       DELETE FROM feature_flag_hash_key k
        USING unnest($1::int[], $2::uuid[], $3::uuid[]) AS m (project_id, uuid, survivor_uuid)
        WHERE k.project_id = m.project_id AND k.person_uuid = m.uuid
       RETURNING k.project_id, k.person_uuid, m.survivor_uuid, k.flag_key, k.hash_key)
     INSERT INTO feature_flag_hash_key (project_id, person_uuid, flag_key, hash_key)
     SELECT DISTINCT ON (project_id, survivor_uuid, flag_key) project_id, survivor_uuid, flag_key, hash_key FROM gone
      ORDER BY project_id, survivor_uuid, flag_key, person_uuid
         ON CONFLICT (project_id, person_uuid, flag_key) DO NOTHING`,
    columnsOf(merged),
  );
}

function columnsOf(merged: MergedPerson[]): [number[], string[], string[]] {
  return [
    merged.map(({ projectId }) => projectId),
    merged.map(({ uuid }) => uuid),
    merged.map(({ survivorUuid }) => survivorUuid),
  ];
}
