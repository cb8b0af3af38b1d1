// SQL that deletes persons, and stores their distinct IDs so that late events do not recreate them.

import type { Sql } from '../transaction.ts';

export interface PersonDeletion {
  id: string;
  personUuid: string;
}

/**
 * Locks the existing persons in the same order as the consumer (see its ledger/store.ts). While they are locked, their
 * distinct IDs cannot change.
 * @returns the UUIDs of the existing persons
 */
export async function lockPersons(tx: Sql, projectId: number, uuids: string[]): Promise<string[]> {
  const rows = await tx.query<{ uuid: string }>(
    `SELECT uuid FROM person WHERE project_id = $1::int AND uuid = ANY ($2::uuid[]) ORDER BY uuid FOR UPDATE`,
    [projectId, uuids],
  );
  return rows.map(({ uuid }) => uuid);
}

export async function findPersonUuids(sql: Sql, projectId: number, distinctIds: string[]): Promise<string[]> {
  const rows = await sql.query<{ person_uuid: string }>(
    `SELECT DISTINCT person_uuid FROM person_distinct_id
      WHERE project_id = $1::int AND distinct_id = ANY ($2::text[])`,
    [projectId, distinctIds],
  );
  return rows.map(({ person_uuid }) => person_uuid);
}

/**
 * Requests deletion of the persons' data. The request stores the time of this statement. By then, the persons are
 * locked and can no longer change.
 */
export async function insertDeletions(
  tx: Sql,
  projectId: number,
  { deletions, deletesEvents }: { deletions: PersonDeletion[]; deletesEvents: boolean },
): Promise<void> {
  await tx.query(
    `INSERT INTO person_deletion (id, project_id, person_uuid, delete_events, requested_at)
     SELECT d.id, $1::int, d.person_uuid, $4::boolean, (SELECT clock_timestamp())
       FROM unnest($2::uuid[], $3::uuid[]) AS d (id, person_uuid)`,
    [projectId, ...columnsOf(deletions), deletesEvents],
  );
}

export async function insertDeletedIds(tx: Sql, projectId: number, deletions: PersonDeletion[]): Promise<void> {
  await tx.query(
    `INSERT INTO deleted_distinct_id (project_id, id_hash, deletion_id, person_uuid, version, deleted_at, distinct_id, split_from)
     SELECT d.project_id, sha256(convert_to(d.distinct_id, 'UTF8')), p.id, p.person_uuid, d.version, p.requested_at,
            d.distinct_id, d.split_from
       FROM person_deletion p
       JOIN person_distinct_id d ON d.project_id = p.project_id AND d.person_uuid = p.person_uuid
      WHERE p.id = ANY ($1::uuid[]) AND d.project_id = $2::int`,
    [deletions.map(({ id }) => id), projectId],
  );
}

/** Deletes persons that this transaction has locked, with their distinct IDs, cohort memberships and flag hash keys. */
export async function deleteLockedPersons(tx: Sql, projectId: number, uuids: string[]): Promise<void> {
  const values = [projectId, uuids];
  await tx.query(
    'DELETE FROM person_distinct_id WHERE project_id = $1::int AND person_uuid = ANY ($2::uuid[])',
    values,
  );
  await tx.query('DELETE FROM cohort_member WHERE project_id = $1::int AND person_uuid = ANY ($2::uuid[])', values);
  await tx.query(
    'DELETE FROM feature_flag_hash_key WHERE project_id = $1::int AND person_uuid = ANY ($2::uuid[])',
    values,
  );
  await tx.query('DELETE FROM person WHERE project_id = $1::int AND uuid = ANY ($2::uuid[])', values);
}

/**
 * Inserts one activity record for each deletion. The record has the deletion's ID, so that the worker can find it to
 * record its progress.
 */
export async function insertDeletionActivity(
  tx: Sql,
  projectId: number,
  deletions: PersonDeletion[],
  { organizationId, userId, detail }: { organizationId: string; userId: number | null; detail: object },
): Promise<void> {
  await tx.query(
    `INSERT INTO activity_log (id, organization_id, environment_id, user_id, scope, item_id, activity, detail, created_at)
     SELECT d.id, $4::uuid, $1::int, $5::int, 'Person', d.person_uuid::text, 'deleted', $6::jsonb, clock_timestamp()
       FROM unnest($2::uuid[], $3::uuid[]) AS d (id, person_uuid)`,
    [projectId, ...columnsOf(deletions), organizationId, userId, JSON.stringify(detail)],
  );
}

function columnsOf(deletions: PersonDeletion[]): [string[], string[]] {
  return [deletions.map(({ id }) => id), deletions.map(({ personUuid }) => personUuid)];
}
