// SQL that deletes the data of deleted persons and environments.

import type { Columns, DeletionProgress, Sql, Transaction } from '@millrace/db';

/** A request to delete a person. `events` counts the events that were deleted or stripped of personal data so far. */
export type PersonDeletionRow = Columns<
  'person_deletion',
  'id' | 'project_id' | 'person_uuid' | 'delete_events' | 'requested_at' | 'events'
>;

export interface IdToDelete {
  distinct_id: string;
  /** The ID's events up to this time have been processed. Null if none have been processed yet. */
  done_until: string | null;
}

/**
 * Records the transactions that were in progress when a new deletion request was committed. They may have seen the
 * person, and may still store an event with a copy of the person.
 */
export async function recordOpenTransactions(tx: Transaction): Promise<void> {
  await tx.query(
    `UPDATE person_deletion SET horizon = pg_snapshot_xmax(pg_current_snapshot())::text::bigint
      WHERE id IN (SELECT id FROM person_deletion WHERE finished_at IS NULL AND horizon IS NULL
                    LIMIT 1000 FOR UPDATE SKIP LOCKED)`,
  );
}

/**
 * Locks the oldest request for which no transaction can store new data about the person. Skips requests that another
 * worker has locked. Waits at most an hour for a transaction, because none of Millrace's transactions take that long.
 * The limit also matters after a database was restored on another server, where the stored transaction IDs have no
 * meaning.
 */
export async function lockDeletion(tx: Transaction): Promise<PersonDeletionRow | undefined> {
  const rows = await tx.query<PersonDeletionRow & Record<string, unknown>>(
    `SELECT id, project_id, person_uuid, delete_events, requested_at, events
       FROM person_deletion
      WHERE finished_at IS NULL
        AND (horizon <= pg_snapshot_xmin(pg_current_snapshot())::text::bigint
             OR requested_at < now() - interval '1 hour')
      ORDER BY attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
  );
  return rows[0];
}

export async function readIdsToDelete(
  tx: Transaction,
  { id, project_id }: PersonDeletionRow,
  limit: number,
): Promise<IdToDelete[]> {
  return tx.query<IdToDelete & Record<string, unknown>>(
    `SELECT distinct_id, done_until::text FROM deleted_distinct_id
      WHERE deletion_id = $1::uuid AND project_id = $2::int AND distinct_id IS NOT NULL
      ORDER BY id_hash LIMIT $3`,
    [id, project_id, limit],
  );
}

/** Returns the time of the event that is `limit` events after `after`, or null if fewer events remain. */
export async function findPortionEnd(
  tx: Transaction,
  { project_id }: PersonDeletionRow,
  { distinct_id, done_until }: IdToDelete,
  limit: number,
): Promise<string | null> {
  const rows = await tx.query<{ timestamp: string }>(
    `SELECT timestamp::text FROM event
      WHERE project_id = $1::int AND distinct_id = $2 AND timestamp > $3::timestamptz
      ORDER BY timestamp OFFSET $4 LIMIT 1`,
    [project_id, distinct_id, done_until ?? '-infinity', limit - 1],
  );
  return rows[0]?.timestamp ?? null;
}

/**
 * SQL condition for a deleted person's events. An event matches if it was captured or stored before the request, or if
 * it contains the deleted person's UUID, which is never used again. Events of a new person with the same distinct ID do
 * not match.
 */
const isOfPerson = `project_id = $1::int AND distinct_id = $2
   AND timestamp > $3::timestamptz AND timestamp <= $4::timestamptz
   AND (captured_at <= $5::timestamptz OR created_at <= $5::timestamptz OR person_id = $6::uuid)`;

/** Properties that update the person, and therefore contain the person's data. */
const copies = `'{$set,$set_once,$unset}'::text[]`;

/** Deletes an ID's events up to a time, or removes their personal data. @returns the number of events */
export async function removePersonFromEvents(
  tx: Transaction,
  deletion: PersonDeletionRow,
  { distinct_id, done_until, until }: IdToDelete & { until: string | null },
): Promise<number> {
  const change = deletion.delete_events
    ? `DELETE FROM event WHERE ${isOfPerson}`
    : `UPDATE event SET person_properties = '{}', person_created_at = NULL, properties = properties - ${copies}
        WHERE ${isOfPerson} AND (person_properties <> '{}' OR person_created_at IS NOT NULL OR properties ?| ${copies})`;
  const rows = await tx.query<{ count: number }>(
    `WITH changed AS (${change} RETURNING 1) SELECT count(*)::int AS count FROM changed`,
    [
      deletion.project_id,
      distinct_id,
      done_until ?? '-infinity',
      until ?? 'infinity',
      deletion.requested_at,
      deletion.person_uuid,
    ],
  );
  return rows[0]?.count ?? 0;
}

export async function saveDoneUntil(
  tx: Transaction,
  { id, project_id }: PersonDeletionRow,
  { distinct_id, until }: { distinct_id: string; until: string },
): Promise<void> {
  await tx.query(
    `UPDATE deleted_distinct_id SET done_until = $4::timestamptz
      WHERE project_id = $1::int AND id_hash = sha256(convert_to($2, 'UTF8')) AND deletion_id = $3::uuid`,
    [project_id, distinct_id, id, until],
  );
}

/** Deletes warnings that were created before the request and contain one of the IDs. */
export async function deleteWarningsAbout(
  tx: Transaction,
  { project_id, requested_at }: PersonDeletionRow,
  distinctIds: string[],
): Promise<void> {
  await tx.query(
    `DELETE FROM ingestion_warning
      WHERE project_id = $1::int AND timestamp <= $2::timestamptz
        AND EXISTS (SELECT 1 FROM jsonb_each_text(details) AS detail WHERE detail.value = ANY ($3::text[]))`,
    [project_id, requested_at, distinctIds],
  );
}

/** Requests the same removal from ClickHouse, because it may contain older events than PostgreSQL. */
export async function requestRemoval(
  tx: Transaction,
  { project_id, person_uuid, requested_at, delete_events }: PersonDeletionRow,
  distinctIds: string[],
): Promise<void> {
  await tx.query(
    `INSERT INTO event_store_removal (project_id, distinct_id, person_uuid, requested_at, keeps_events)
     SELECT $1::int, id, $3::uuid, $4::timestamptz, NOT $5::boolean FROM unnest($2::text[]) AS id`,
    [project_id, distinctIds, person_uuid, requested_at, delete_events],
  );
}

export async function requestProjectRemoval(tx: Transaction, projectId: number): Promise<void> {
  await tx.query('INSERT INTO event_store_removal (project_id) VALUES ($1)', [projectId]);
}

export async function hashDeletedIds(
  tx: Transaction,
  { id, project_id }: PersonDeletionRow,
  distinctIds: string[],
): Promise<void> {
  await tx.query(
    `UPDATE deleted_distinct_id SET distinct_id = NULL, done_until = NULL
      WHERE project_id = $1::int AND deletion_id = $2::uuid
        AND id_hash IN (SELECT sha256(convert_to(one, 'UTF8')) FROM unnest($3::text[]) AS one)`,
    [project_id, id, distinctIds],
  );
}

/** Updates the progress of a request and, if it still exists, its activity record. */
export async function saveDeletionProgress(tx: Transaction, id: string, progress: DeletionProgress): Promise<void> {
  await tx.query(
    `UPDATE person_deletion
        SET events = $2, attempt_at = clock_timestamp(),
            finished_at = CASE WHEN $3::boolean THEN clock_timestamp() END
      WHERE id = $1::uuid`,
    [id, progress.events, progress.status === 'completed'],
  );
  await tx.query(
    `UPDATE activity_log SET detail = jsonb_set(detail, '{changes,0,after}', $2::jsonb) WHERE id = $1::uuid`,
    [id, JSON.stringify(progress)],
  );
}

/** Maximum number of requests per DELETE statement. */
const portion = 100;

/**
 * Deletes the records of IDs whose deletion ended long ago. The record of an ID that was split from a person is kept
 * while that person exists: without it, using the ID again could create a person with the same UUID and would return
 * the ID to the original person.
 * @returns whether more records may remain
 */
export async function deleteOldIdRecords(sql: Sql, days: number): Promise<boolean> {
  const rows = await sql.query(
    `WITH old AS (SELECT id FROM person_deletion o
                   WHERE finished_at < now() - make_interval(days => $1::int)
                     AND NOT EXISTS (SELECT FROM deleted_distinct_id d
                                       JOIN person p ON p.project_id = d.project_id AND p.uuid = d.split_from
                                      WHERE d.deletion_id = o.id)
                   LIMIT $2 FOR UPDATE OF o SKIP LOCKED),
          ids AS (DELETE FROM deleted_distinct_id WHERE deletion_id IN (SELECT id FROM old))
     DELETE FROM person_deletion WHERE id IN (SELECT id FROM old) RETURNING id`,
    [days, portion],
  );
  return rows.length > 0;
}

/**
 * Tables of ingested data in deletion order: a table that refers to another one comes first. Their rows belong to an
 * environment, but have no foreign key. A test compares this list with the database.
 */
export const ingestedTables = [
  'event',
  'event_identity',
  'cohort_member',
  'feature_flag_hash_key',
  'person_distinct_id',
  'person',
  'group',
  'group_type_mapping',
  'ingestion_warning',
  'deleted_distinct_id',
  'person_deletion',
  'event_definition',
  'property_definition',
] as const;

/** Locks a due cleanup request that no other worker has locked. */
export async function lockCleanup(tx: Transaction): Promise<number | undefined> {
  const rows = await tx.query<{ environment_id: number }>(
    `SELECT environment_id FROM environment_cleanup
      WHERE not_before <= now() ORDER BY not_before LIMIT 1 FOR UPDATE SKIP LOCKED`,
  );
  return rows[0]?.environment_id;
}

/**
 * Deletes about `limit` rows of an environment.
 * @returns the number of deleted rows
 */
export async function deleteSomeRows(
  tx: Transaction,
  table: (typeof ingestedTables)[number],
  { environmentId, limit }: { environmentId: number; limit: number },
): Promise<number> {
  // Rows of different partitions can have equal `ctid`s, so a few more of the environment's rows may be deleted.
  const rows = await tx.query<{ count: number }>(
    `WITH gone AS (
       DELETE FROM "${table}"
        WHERE project_id = $1 AND ctid = ANY (ARRAY(SELECT ctid FROM "${table}" WHERE project_id = $1 LIMIT $2))
       RETURNING 1
     ) SELECT count(*)::int AS count FROM gone`,
    [environmentId, limit],
  );
  return rows[0]?.count ?? 0;
}

export async function finishCleanup(tx: Transaction, environmentId: number): Promise<void> {
  await tx.query('DELETE FROM environment_cleanup WHERE environment_id = $1', [environmentId]);
}
