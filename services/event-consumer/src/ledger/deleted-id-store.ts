import type { Transaction } from '@millrace/db/sql';
import type { DeletedId } from '../model/ledger.ts';
import type { DistinctIdKey } from './store.ts';

/** Which of the projects have deleted persons that are remembered. Takes no locks; nearly always none. */
export async function projectsWithDeletions(tx: Transaction, projectIds: number[]): Promise<Set<number>> {
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

/** Those of the ids whose person was deleted, the last time it was. Takes no locks. */
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

interface DeletedIdRow {
  [column: string]: unknown;
  project_id: number;
  distinct_id: string;
  deletion_id: string;
  person_uuid: string;
  version: string;
  deleted_at_ms: number;
}
