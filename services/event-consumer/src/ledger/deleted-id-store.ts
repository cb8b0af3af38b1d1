// SQL for the distinct IDs of deleted persons.

import type { Transaction } from '@millrace/db/sql';
import { LedgerConflict } from '../failures.ts';
import type { DeletedId } from '../model/ledger.ts';
import type { DistinctIdKey, StoredMapping } from './store.ts';

/** Returns the projects that have deleted distinct IDs. Most projects have none. Takes no locks. */
export async function findProjectsWithDeletions(tx: Transaction, projectIds: number[]): Promise<Set<number>> {
  if (projectIds.length === 0) return new Set();
  const rows = await tx.query<{ project_id: number }>(
    `SELECT stored.project_id
       FROM unnest($1::int[]) AS sought (project_id)
      CROSS JOIN LATERAL (SELECT d.project_id FROM deleted_distinct_id d
                           WHERE d.project_id = sought.project_id LIMIT 1) AS stored`,
    [projectIds],
  );
  return new Set(rows.map(({ project_id }) => project_id));
}

/** Returns the IDs whose person was deleted, each with its latest deletion. Takes no locks. */
export async function readDeletedIds(
  tx: Transaction,
  ids: DistinctIdKey[],
): Promise<(DistinctIdKey & { deleted: DeletedId })[]> {
  const rows = await tx.query<DeletedIdRow>(
    `SELECT sought.project_id, sought.distinct_id, d.deletion_id, d.person_uuid, d.version,
            (extract(epoch FROM d.deleted_at) * 1000)::float8 AS deleted_at_ms
       FROM unnest($1::int[], $2::text[]) AS sought (project_id, distinct_id)
      CROSS JOIN LATERAL (SELECT * FROM deleted_distinct_id d
                           WHERE d.project_id = sought.project_id
                             AND d.id_hash = sha256(convert_to(sought.distinct_id, 'UTF8'))
                           ORDER BY d.deleted_at DESC, d.version DESC LIMIT 1) AS d`,
    [ids.map(({ projectId }) => projectId), ids.map(({ distinctId }) => distinctId)],
  );
  return rows.map((row) => ({
    projectId: row.project_id,
    distinctId: row.distinct_id,
    deleted: {
      deletionId: row.deletion_id,
      personUuid: row.person_uuid,
      version: Number(row.version),
      deletedAtMs: Math.round(row.deleted_at_ms),
    },
  }));
}

/**
 * Checks that no ID refers to a deleted person. If another batch created a person, and that person was deleted before
 * this batch read its ID, this batch may have read neither the person nor its deletion. Without this check, the batch
 * could create the person again with the same UUID. Send this statement after inserting the persons, because the insert
 * waits for a deletion in progress.
 * @throws LedgerConflict if one of the persons was deleted
 */
export async function assertPersonsNotDeleted(tx: Transaction, mappings: StoredMapping[]): Promise<void> {
  if (mappings.length === 0) return;
  const rows = await tx.query(
    `SELECT 1 FROM unnest($1::int[], $2::text[], $3::uuid[]) AS added (project_id, distinct_id, person_uuid)
      WHERE EXISTS (SELECT FROM deleted_distinct_id d
                     WHERE d.project_id = added.project_id
                       AND d.id_hash = sha256(convert_to(added.distinct_id, 'UTF8'))
                       AND d.person_uuid = added.person_uuid)
      LIMIT 1`,
    [
      mappings.map(({ projectId }) => projectId),
      mappings.map(({ distinctId }) => distinctId),
      mappings.map(({ personUuid }) => personUuid),
    ],
  );
  if (rows.length > 0) throw new LedgerConflict('a deleted person');
}

interface DeletedIdRow {
  [column: string]: unknown;
  project_id: number;
  distinct_id: string;
  deletion_id: string;
  person_uuid: string;
  version: string;
  deleted_at_ms: number;
}
