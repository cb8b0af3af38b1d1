// SQL for splitting a person into several persons.

import type { Columns } from '../columns.ts';
import type { Sql } from '../transaction.ts';

export type PersonToSplit = Columns<'person', 'main_distinct_id' | 'created_at'>;

/** Locks the person in the same way as the consumer does, so that its distinct IDs cannot change. */
export async function lockPerson(tx: Sql, projectId: number, uuid: string): Promise<PersonToSplit | undefined> {
  const rows = await tx.query<PersonToSplit & Record<string, unknown>>(
    `SELECT main_distinct_id, created_at FROM person
      WHERE project_id = $1::int AND uuid = $2::uuid FOR NO KEY UPDATE`,
    [projectId, uuid],
  );
  return rows[0];
}

/**
 * Returns a person's distinct IDs in the order they were added. If the person has more than `limit` of them, returns an
 * arbitrary selection of this size.
 */
export async function readDistinctIds(
  tx: Sql,
  projectId: number,
  { uuid, limit }: { uuid: string; limit: number },
): Promise<string[]> {
  const rows = await tx.query<{ distinct_id: string }>(
    `SELECT distinct_id
       FROM (SELECT distinct_id, id FROM person_distinct_id
              WHERE project_id = $1::int AND person_uuid = $2::uuid LIMIT $3::int) AS own
      ORDER BY id`,
    [projectId, uuid, limit],
  );
  return rows.map(({ distinct_id }) => distinct_id);
}

export async function findOwnDistinctIds(
  tx: Sql,
  projectId: number,
  { uuid, distinctIds }: { uuid: string; distinctIds: string[] },
): Promise<Set<string>> {
  const rows = await tx.query<{ distinct_id: string }>(
    `SELECT distinct_id FROM person_distinct_id
      WHERE project_id = $1::int AND distinct_id = ANY ($3::text[]) AND person_uuid = $2::uuid`,
    [projectId, uuid, distinctIds],
  );
  return new Set(rows.map(({ distinct_id }) => distinct_id));
}

export interface SplitDistinctId {
  distinct_id: string;
  uuid: string;
}

/** Inserts the new persons in the consumer's locking order. */
export async function insertSplitPersons(
  tx: Sql,
  projectId: number,
  { splits, createdAt }: { splits: SplitDistinctId[]; createdAt: Date },
): Promise<void> {
  await tx.query(
    `INSERT INTO person (project_id, uuid, main_distinct_id, created_at)
     SELECT $1::int, s.uuid, s.distinct_id, $4::timestamptz
       FROM unnest($2::text[], $3::uuid[]) AS s (distinct_id, uuid)
      ORDER BY s.uuid`,
    [projectId, ...columnsOf(splits), createdAt],
  );
}

/**
 * Moves the distinct IDs to the new persons. Increases the version of each ID, so that its past events count for the
 * new person, although event rows keep the former person's UUID.
 */
export async function moveSplitIds(
  tx: Sql,
  projectId: number,
  { splits, from }: { splits: SplitDistinctId[]; from: string },
): Promise<void> {
  await tx.query(
    `UPDATE person_distinct_id d
        SET person_uuid = s.uuid, version = d.version + 1, split_from = coalesce(d.split_from, $4::uuid)
       FROM unnest($2::text[], $3::uuid[]) AS s (distinct_id, uuid)
      WHERE d.project_id = $1::int AND d.distinct_id = s.distinct_id AND d.person_uuid = $4::uuid`,
    [projectId, ...columnsOf(splits), from],
  );
}

/**
 * Updates the person's main distinct ID and increases the person's version, so that consumer batches that have already
 * read the person start over.
 */
export async function updateSplitPerson(
  tx: Sql,
  projectId: number,
  { uuid, mainDistinctId }: { uuid: string; mainDistinctId: string },
): Promise<void> {
  await tx.query(
    `UPDATE person SET main_distinct_id = $3, version = version + 1 WHERE project_id = $1::int AND uuid = $2::uuid`,
    [projectId, uuid, mainDistinctId],
  );
}

function columnsOf(splits: SplitDistinctId[]): [string[], string[]] {
  return [splits.map(({ distinct_id }) => distinct_id), splits.map(({ uuid }) => uuid)];
}
