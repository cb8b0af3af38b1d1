/**
 * SQL for persons and their distinct IDs. Each function sends one statement, however large the batch, or no statement
 * for an empty list.
 *
 * **Optimistic reads.** Reading takes no locks, because most events do not change a person, and two batches that only
 * read the same persons must not wait for each other. Writes are checked instead: right before writing, `lockVersions`
 * locks every person that the batch changes, merges away or gives an ID to, and compares the person's version with the
 * version that was read. If they differ, another batch was faster (LedgerConflict). The batch is then rolled back and
 * repeated. The second time, `lockPersonsOf` locks the persons before they are read, so that the batch waits and has no
 * conflict again.
 *
 * **Lock order.** All batches, in any topic, partition or process, take their locks in this order, so they can wait for
 * each other but never deadlock:
 *
 * | Step | Lock | Code |
 * |---|---|---|
 * | 1 | the batch's `consumer_offset` row | packages/event-log/src/offsets-store.ts |
 * | 2 | `event_identity`, inserted in the order of (project, uuid) | events/store.ts |
 * | 3 | the turn of its IDs among the batches of its process | ledger/turns.ts |
 * | 4 | the commit of the batches it builds on, if any | ledger/turns.ts |
 * | 5 | stored persons, locked in the order of (project, uuid) | lockPersonsOf or lockVersions |
 * | 6 | new persons, inserted in the order of (project, uuid) | insertPersons |
 * | 7 | mappings: moves, then new ones in the order of (project, ID) | moveMappings, insertMappings |
 * | 7 | cohort memberships and hash keys of flags, only of persons locked in step 5 | ledger/store.ts |
 * | 8 | new group types in the order of (project, index) | ledger/group-store.ts |
 * | 9 | environments by ID | events/store.ts |
 * | 10 | stored groups in the order of (project, type index, key) | ledger/save-groups.ts |
 * | 10 | warnings in the order of (project, ID), then new groups in the order of stored ones | ledger/save-groups.ts |
 *
 * Event rows never wait once their identities are stored, so they may be written before or after steps 5 to 8. Batches
 * wait for turns (steps 3 and 4) outside of the database, which cannot detect a deadlock that involves turns. Such a
 * deadlock is not possible: a batch that holds a lock of steps 5 to 10 never waits for an earlier step, and a turn only
 * waits for batches that took their turns before. A batch that locks persons before reading them takes step 5 when it
 * loads the ledger, and does not build on other batches.
 *
 * Deleting a person (packages/db, delete-persons.ts) takes step 5, then the mappings, memberships and hash keys of the
 * locked persons, and nothing else. Splitting a person (packages/db, split-person.ts) takes step 5 for that person,
 * then steps 6 and 7 for the new persons.
 *
 * If a batch that locks persons before reading them reads a person that it has not locked, because a mapping moved in
 * between, it releases its locks and starts over. It must not take another lock out of order.
 *
 * **Invariants.** A mapping is only added, moved or deleted while holding the row lock of its person, and every change
 * of a person increases its version. A locked person with the version that was read therefore still has the properties
 * and IDs that were read. Rows that do not exist cannot be locked. When two batches create the same person, mapping,
 * group type, group or event, the unique index makes the second batch wait for the first, fail, and start over. ON
 * CONFLICT would do the same at twice the cost, because it writes a token before each row.
 *
 * FOR NO KEY UPDATE is sufficient, because keys never change, and does not block statements that only require the row
 * to exist.
 */

import type { JsonObject } from '@millrace/contracts';
import type { Transaction } from '@millrace/db/sql';
import { checkLoadedSize, insertOrThrowConflict, LedgerConflict, maxLoadedBytes } from '../failures.ts';

/**
 * Locks the current persons of the IDs, so that they cannot change until they are written. Also locks those persons in
 * `unmapped` that exist. Returns the locked persons.
 */
export async function lockPersonsOf(
  tx: Transaction,
  ids: DistinctIdKey[],
  unmapped: PersonKey[],
): Promise<PersonKey[]> {
  if (ids.length === 0) return [];
  return tx.query<PersonKey & Record<string, unknown>>(
    `SELECT p.project_id AS "projectId", p.uuid
       FROM person p
      WHERE (p.project_id, p.uuid) IN (
              SELECT d.project_id, d.person_uuid
                FROM unnest($1::int[], $2::text[]) AS touched (project_id, distinct_id)
                JOIN person_distinct_id d USING (project_id, distinct_id)
               UNION ALL
              SELECT * FROM unnest($3::int[], $4::uuid[]))
      ORDER BY p.project_id, p.uuid
        FOR NO KEY UPDATE OF p`,
    [...idColumns(ids), unmapped.map(({ projectId }) => projectId), unmapped.map(({ uuid }) => uuid)],
  );
}

/** Reads persons by their UUIDs. Takes no locks. */
export async function readPersons(tx: Transaction, keys: PersonKey[]): Promise<StoredPerson[]> {
  if (keys.length === 0) return [];
  const rows = await tx.query<PersonRow>(
    `SELECT p.project_id, p.uuid, p.main_distinct_id, p.properties, p.is_identified, p.version,
            (extract(epoch FROM p.created_at) * 1000)::float8 AS created_at_ms
       FROM unnest($1::int[], $2::uuid[]) AS sought (project_id, uuid)
       JOIN person p USING (project_id, uuid)`,
    [keys.map(({ projectId }) => projectId), keys.map(({ uuid }) => uuid)],
  );
  return rows.map(toStoredPerson);
}

/**
 * Reads, as one snapshot, the mappings of the given IDs and their persons without duplicates. Takes no locks. Checks
 * the total size before the server sends the properties, because many IDs may belong to persons of hundreds of
 * kilobytes each.
 * @throws BatchTooLarge if the persons of more than two IDs together exceed the size limit
 */
export async function readMappings(
  tx: Transaction,
  ids: DistinctIdKey[],
): Promise<{ mappings: StoredMapping[]; persons: StoredPerson[] }> {
  if (ids.length === 0) return { mappings: [], persons: [] };
  // LATERAL with LIMIT uses one index lookup per ID. For a plain join, the planner might scan whole tables.
  const rows = await tx.query<MappedPersonRow>(
    `SELECT project_id, distinct_id, mapping_version, uuid, main_distinct_id, is_identified, version, created_at_ms,
            running_bytes,
            CASE WHEN is_first AND running_bytes <= $3 THEN properties END AS properties
       FROM (SELECT id_of.*,
                    sum(CASE WHEN NOT is_first THEN 0
                             WHEN pg_column_compression(properties) IS NULL THEN pg_column_size(properties)
                             ELSE octet_length(properties::text) END)
                      OVER (ROWS UNBOUNDED PRECEDING)::float8 AS running_bytes
               FROM (SELECT d.project_id, d.distinct_id, d.version AS mapping_version, p.uuid, p.main_distinct_id,
                            p.properties, p.is_identified, p.version,
                            (extract(epoch FROM p.created_at) * 1000)::float8 AS created_at_ms,
                            row_number() OVER (PARTITION BY p.project_id, p.uuid) = 1 AS is_first
                       FROM unnest($1::int[], $2::text[]) AS touched (project_id, distinct_id)
                      CROSS JOIN LATERAL (SELECT * FROM person_distinct_id d
                                           WHERE d.project_id = touched.project_id
                                             AND d.distinct_id = touched.distinct_id LIMIT 1) AS d
                      CROSS JOIN LATERAL (SELECT * FROM person p
                                           WHERE p.project_id = d.project_id AND p.uuid = d.person_uuid LIMIT 1) AS p
                    ) AS id_of) AS measured`,
    [...idColumns(ids), ids.length <= 2 ? Number.MAX_SAFE_INTEGER : maxLoadedBytes],
  );
  if (ids.length > 2)
    checkLoadedSize(
      'its persons are large',
      rows.map(({ running_bytes: bytes }) => bytes),
    );
  const mappings = rows.map((row) => ({
    projectId: row.project_id,
    distinctId: row.distinct_id,
    personUuid: row.uuid,
    version: Number(row.mapping_version),
  }));
  const persons = rows.flatMap((row) =>
    row.properties === null ? [] : [toStoredPerson({ ...row, properties: row.properties })],
  );
  return { mappings, persons };
}

/** Locks persons that were read before. @throws LedgerConflict if a person is missing or its version has changed */
export async function lockVersions(tx: Transaction, persons: PersonVersion[]): Promise<void> {
  if (persons.length === 0) return;
  const unchanged = await tx.query<{ isUnchanged: boolean }>(
    `SELECT p.version = read.version AS "isUnchanged"
       FROM unnest($1::int[], $2::uuid[], $3::bigint[]) AS read (project_id, uuid, version)
       JOIN person p USING (project_id, uuid)
      ORDER BY p.project_id, p.uuid
        FOR NO KEY UPDATE OF p`,
    [persons.map(({ projectId }) => projectId), persons.map(({ uuid }) => uuid), persons.map(({ version }) => version)],
  );
  if (unchanged.filter(({ isUnchanged }) => isUnchanged).length !== persons.length)
    throw new LedgerConflict('a person');
}

/**
 * Inserts persons in lock order. Assigns sequence numbers in the order of the array. They determine the order of
 * persons in lists.
 * @throws LedgerConflict if one of the persons exists
 */
export async function insertPersons(tx: Transaction, persons: StoredPerson[]): Promise<void> {
  if (persons.length === 0) return;
  await insertOrThrowConflict(
    'a person',
    tx.query(
      `INSERT INTO person (id, project_id, uuid, main_distinct_id, properties, is_identified, version, created_at)
     SELECT id, project_id, uuid, main_distinct_id, properties, is_identified, version,
            to_timestamp(created_at_ms / 1000.0)
       FROM (SELECT nextval('person_id_seq') AS id, p.*
               FROM jsonb_to_recordset($1::jsonb) AS p (${personColumns})) AS numbered
      ORDER BY project_id, uuid`,
      [personDocument(persons)],
    ),
  );
}

export async function updatePersons(tx: Transaction, persons: StoredPerson[]): Promise<void> {
  if (persons.length === 0) return;
  await tx.query(
    `UPDATE person
        SET main_distinct_id = p.main_distinct_id, properties = p.properties, is_identified = p.is_identified,
            version = p.version, created_at = to_timestamp(p.created_at_ms / 1000.0)
       FROM jsonb_to_recordset($1::jsonb) AS p (${personColumns})
      WHERE person.project_id = p.project_id AND person.uuid = p.uuid`,
    [personDocument(persons)],
  );
}

/** Deletes persons that this transaction has locked and whose mappings it has moved. */
export async function deletePersons(tx: Transaction, merged: MergedPerson[]): Promise<void> {
  if (merged.length === 0) return;
  await tx.query(
    `DELETE FROM person USING unnest($1::int[], $2::uuid[]) AS gone (project_id, uuid)
      WHERE person.project_id = gone.project_id AND person.uuid = gone.uuid`,
    [merged.map(({ projectId }) => projectId), merged.map(({ uuid }) => uuid)],
  );
}

/** Moves all IDs of merged persons to the surviving persons, including IDs that the batch does not use. */
export async function moveMappings(tx: Transaction, merged: MergedPerson[]): Promise<void> {
  if (merged.length === 0) return;
  await tx.query(
    `UPDATE person_distinct_id d
        SET person_uuid = m.survivor_uuid, version = d.version + m.moves
       FROM unnest($1::int[], $2::uuid[], $3::uuid[], $4::int[]) AS m (project_id, uuid, survivor_uuid, moves)
      WHERE d.project_id = m.project_id AND d.person_uuid = m.uuid`,
    [
      merged.map(({ projectId }) => projectId),
      merged.map(({ uuid }) => uuid),
      merged.map(({ survivorUuid }) => survivorUuid),
      merged.map(({ moves }) => moves),
    ],
  );
}

/**
 * Inserts mappings in lock order. Assigns sequence numbers in the order of the array. They determine the order of a
 * person's IDs in lists.
 * @throws LedgerConflict if one of the IDs already has a person
 */
export async function insertMappings(tx: Transaction, mappings: StoredMapping[]): Promise<void> {
  if (mappings.length === 0) return;
  await insertOrThrowConflict(
    'a distinct id',
    tx.query(
      `INSERT INTO person_distinct_id (id, project_id, distinct_id, person_uuid, version)
     SELECT id, project_id, distinct_id, person_uuid, version
       FROM (SELECT nextval('person_distinct_id_id_seq') AS id, m.*
               FROM unnest($1::int[], $2::text[], $3::uuid[], $4::bigint[])
                 AS m (project_id, distinct_id, person_uuid, version)) AS numbered
      ORDER BY project_id, distinct_id COLLATE "C"`,
      [
        mappings.map(({ projectId }) => projectId),
        mappings.map(({ distinctId }) => distinctId),
        mappings.map(({ personUuid }) => personUuid),
        mappings.map(({ version }) => version),
      ],
    ),
  );
}

/**
 * A batch that merges persons moves each person's flag data to the survivor, with one statement for cohorts and one for
 * hash keys, after it has locked the persons. Adding a member to a cohort also locks the person
 * (packages/flags/src/cohorts, `addCohortMembers`), so no membership is added to a person that is being merged away.
 */
/** Adds the surviving persons to all static cohorts of the persons merged into them. */
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

/**
 * Moves the stored hash keys of flags. The keys of the surviving person take precedence. If several merged persons have
 * a key for the same flag, one of the keys is kept.
 */
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

export interface DistinctIdKey {
  projectId: number;
  distinctId: string;
}

export interface StoredPerson {
  projectId: number;
  uuid: string;
  mainDistinctId: string;
  properties: JsonObject;
  isIdentified: boolean;
  version: number;
  createdAtMs: number;
}

export interface StoredMapping {
  projectId: number;
  distinctId: string;
  personUuid: string;
  version: number;
}

export interface PersonKey {
  projectId: number;
  uuid: string;
}

export interface PersonVersion extends PersonKey {
  version: number;
}

/** A person that was merged into `survivorUuid`, which gets its IDs. The versions of the IDs increase by `moves`. */
export interface MergedPerson {
  projectId: number;
  uuid: string;
  survivorUuid: string;
  moves: number;
}

interface MappedPersonRow extends PersonColumns {
  distinct_id: string;
  mapping_version: string;
  /** The total size in bytes of the person properties up to and including this row. */
  running_bytes: number;
  /** The person's properties. Null if the size limit is exceeded, and in all rows of a person except the first. */
  properties: JsonObject | null;
}

interface PersonRow extends PersonColumns {
  properties: JsonObject;
}

interface PersonColumns {
  [column: string]: unknown;
  project_id: number;
  uuid: string;
  main_distinct_id: string;
  is_identified: boolean;
  version: string;
  created_at_ms: number;
}

function toStoredPerson(row: PersonRow): StoredPerson {
  return {
    projectId: row.project_id,
    uuid: row.uuid,
    mainDistinctId: row.main_distinct_id,
    properties: row.properties,
    isIdentified: row.is_identified,
    version: Number(row.version),
    createdAtMs: Math.round(row.created_at_ms),
  };
}

const personColumns = `project_id int, uuid uuid, main_distinct_id text, properties jsonb, is_identified boolean,
  version bigint, created_at_ms bigint`;

/** Encodes persons as one JSON document, which PostgreSQL parses faster than an array of separate JSON strings. */
function personDocument(persons: StoredPerson[]): string {
  return JSON.stringify(
    persons.map((person) => ({
      project_id: person.projectId,
      uuid: person.uuid,
      main_distinct_id: person.mainDistinctId,
      properties: person.properties,
      is_identified: person.isIdentified,
      version: person.version,
      created_at_ms: person.createdAtMs,
    })),
  );
}

function idColumns(ids: DistinctIdKey[]): [number[], string[]] {
  return [ids.map(({ projectId }) => projectId), ids.map(({ distinctId }) => distinctId)];
}
