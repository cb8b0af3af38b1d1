// SQL that reads and removes a static cohort's members.

import type { Sql, Transaction } from '@millrace/db';
import type { StaticCohort } from '@millrace/flags/cohorts';
import { limitPageBytes } from '../../sql/limit-page-bytes.ts';
import type { PersonRow } from '../shown-persons/person-row.ts';

/**
 * Removes a person from a static cohort.
 * @returns false if the person was not a member
 */
export async function deleteCohortMember(
  tx: Transaction,
  { projectId, cohortId }: StaticCohort,
  personUuid: string,
): Promise<boolean> {
  const rows = await tx.query(
    `DELETE FROM cohort_member WHERE project_id = $1 AND cohort_id = $2 AND person_uuid = $3::uuid RETURNING 1`,
    [projectId, cohortId, personUuid],
  );
  return rows.length > 0;
}

/** Returns a page of a static cohort's member UUIDs, sorted, starting after the UUID `after`. */
export async function listMemberUuids(
  sql: Sql,
  { projectId, cohortId }: StaticCohort,
  { after, limit }: { after: string | null; limit: number },
): Promise<string[]> {
  const rows = await sql.query<{ person_uuid: string }>(
    `SELECT person_uuid FROM cohort_member
      WHERE project_id = $1 AND cohort_id = $2 AND person_uuid > $3::uuid ORDER BY person_uuid LIMIT $4`,
    [projectId, cohortId, after ?? '00000000-0000-0000-0000-000000000000', limit],
  );
  return rows.map(({ person_uuid }) => person_uuid);
}

/**
 * Reads the existing persons with these UUIDs, sorted by UUID. Stops once their total size reaches the byte limit of a
 * page.
 */
export async function readPersons(sql: Sql, projectId: number, uuids: string[]): Promise<PersonRow[]> {
  if (uuids.length === 0) return [];
  return sql.query<PersonRow & Record<string, unknown>>(
    limitPageBytes(
      `SELECT id, uuid, main_distinct_id, properties, is_identified, created_at
         FROM person WHERE project_id = $1 AND uuid = ANY ($2::uuid[]) ORDER BY uuid`,
      ['properties'],
    ),
    [projectId, uuids],
  );
}
