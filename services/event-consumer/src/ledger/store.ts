/**
 * SQL for persons and their distinct ids. Each function is one statement, however large the batch, and none for an empty
 * list.
 *
 * Reading takes no locks: most events change nobody, and two batches that merely look at the same persons must not wait
 * for each other. What is written is checked instead: right before writing, `lockVersions` locks every person the batch
 * changes, merges away or gives an id to, and compares its version with the one that was read. A difference means that
 * another batch was faster (LedgerConflict): this one is rolled back and done again, the second time with `lockPersonsOf`
 * before reading, so that it waits for its turn instead of losing again.
 *
 * Lock order. All batches take their locks in this order, whatever lane, partition or process they belong to, so two of
 * them can wait for each other but never in a circle:
 *
 *  1. the batch's `consumer_position` row                packages/event-log/src/offsets-store.ts
 *  2. `event_identity`, inserted in the order of (project, uuid)                 events/store.ts
 *  3. the turn of its ids among the batches of its process                       ledger/turns.ts
 *  4. what it builds on is committed, if it builds on other batches              ledger/turns.ts
 *  5. stored persons, locked in the order of (project, uuid)                     lockPersonsOf or lockVersions
 *  6. new persons, inserted in the order of (project, uuid)                      insertPersons
 *  7. mappings: moves, then new ones in the order of (project, id)               moveMappings, insertMappings
 *     cohort memberships and flag buckets, only of persons held by 5              ledger/store.ts
 *  8. new group types in the order of (project, index)                           ledger/group-store.ts
 *  9. environments by id                                                        events/store.ts
 * 10. stored groups in the order of (project, type index, key), warnings in the
 *     order of (project, id), new groups in the order of stored ones             ledger/save-groups.ts
 *
 * Event rows wait for nobody once their identities are stored, so they come before or after 5 to 8. Turns (3 and 4) are
 * waited for outside the database, which cannot see a circle they are part of. There is none: whoever holds a lock of 5 to 10 waits
 * for nothing above it, and a turn waits only for batches that took theirs before. (A batch that locks first takes 5 when it
 * loads; it builds on nobody.)
 *
 * Who deletes persons (packages/db, delete-persons.ts) takes 5, then the mappings, memberships and buckets of persons it
 * holds, and nothing else. Splitting a person (packages/db, split-person.ts) takes 5 for that person, then 6 and 7 for the new
 * ones.
 *
 * A batch that locks first and then reads a person it has not locked, because a mapping moved in between, gives its locks
 * back and asks again: it must not lock once more out of order.
 *
 * Who relies on what: a mapping is only added, moved or deleted by somebody who holds the row lock of the person it
 * belongs to, and whoever changes a person raises its version. So a person whose version is the one read, and which is
 * locked now, still has the properties, and the ids, that were read. Rows that do not exist cannot be locked: when two
 * batches create the same person, mapping, group type, group or event, the unique index makes the second wait for the
 * first, fail, and start over. (ON CONFLICT would do the same for twice the price: it writes a claim before each row.)
 *
 * FOR NO KEY UPDATE is enough: keys never change, and it lets through what only needs the row to exist.
 */

import type { JsonObject } from '@millrace/contracts';
import type { Transaction } from '@millrace/db/sql';
import { checkLoaded, insertNew, LedgerConflict, maxLoadedBytes } from '../failures.ts';

/**
 * Locks the persons that own any of the ids now, so that they are the same when they are read and when they are
 * written, and those of `unmapped` that exist. Returns which they are.
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

/** Persons by their uuids. Takes no locks. */
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
 * The mappings of those ids that have one, and their persons, each once, all as of one moment. Takes no locks.
 *
 * A large value is measured before it is sent: many ids may belong to persons of hundreds of kilobytes each.
 *
 * @throws BatchTooLarge when the persons of more than two ids are too much to be loaded at once.
 */
export async function readMappings(
  tx: Transaction,
  ids: DistinctIdKey[],
): Promise<{ mappings: StoredMapping[]; persons: StoredPerson[] }> {
  if (ids.length === 0) return { mappings: [], persons: [] };
  // LATERAL with LIMIT looks into the indexes once for each id. For a plain join the planner may read whole tables.
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
    checkLoaded(
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

/** Locks the persons. @throws LedgerConflict when one of them is gone or has another version than the one read. */
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
 * Inserts in the order of the locks; the sequence numbers, by which persons are listed, follow the order of the array.
 *
 * @throws LedgerConflict when one of them exists already.
 */
export async function insertPersons(tx: Transaction, persons: StoredPerson[]): Promise<void> {
  if (persons.length === 0) return;
  await insertNew(
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

/** Writes all columns of persons this transaction has locked. */
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

/** Deletes persons this transaction has locked and whose mappings it has moved. */
export async function deletePersons(tx: Transaction, merged: MergedPerson[]): Promise<void> {
  if (merged.length === 0) return;
  await tx.query(
    `DELETE FROM person USING unnest($1::int[], $2::uuid[]) AS gone (project_id, uuid)
      WHERE person.project_id = gone.project_id AND person.uuid = gone.uuid`,
    [merged.map(({ projectId }) => projectId), merged.map(({ uuid }) => uuid)],
  );
}

/** Gives all ids of merged persons to their survivors, those the batch never named too. */
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
 * Inserts in the order of the locks; the sequence numbers, by which a person's ids are listed, follow the array's order.
 *
 * @throws LedgerConflict when one of the ids has a person already.
 */
export async function insertMappings(tx: Transaction, mappings: StoredMapping[]): Promise<void> {
  if (mappings.length === 0) return;
  await insertNew(
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
 * What feature flags know of a person goes to the survivor of a merge. One statement each, only in batches that merge, after
 * the persons were locked: whoever adds a member to a cohort locks the person as well (packages/flags/src/cohorts, `addCohortMembers`), so
 * no membership is added to a person who is being merged away.
 */
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

/** A person at the version that was read. */
export interface PersonVersion extends PersonKey {
  version: number;
}

/** A person merged away: its ids go to `survivorUuid`, their versions rise by `moves`. */
export interface MergedPerson {
  projectId: number;
  uuid: string;
  survivorUuid: string;
  moves: number;
}

interface MappedPersonRow extends PersonColumns {
  distinct_id: string;
  mapping_version: string;
  /** Bytes of the properties of the persons up to this row. */
  running_bytes: number;
  /** Null in all rows of a person but the first, and beyond the limit. */
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

/** One JSON document: PostgreSQL parses it faster than an array of texts that are each parsed as JSON. */
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
