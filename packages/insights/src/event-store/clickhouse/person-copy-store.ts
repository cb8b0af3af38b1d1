// Stores in PostgreSQL which persons must still be copied to ClickHouse: the progress of the first pass over all
// persons, and the persons and moved distinct IDs that have changed since that pass began. Triggers record these
// changes, so that no write is missed. The triggers exist only while persons are copied.

import type { Sql, Transaction } from '@millrace/db';
import { copyingPersons as copying } from './copy-store.ts';

/** The key by which persons are sorted and copied. */
export interface PersonKey {
  projectId: number;
  uuid: string;
}

export interface PersonCopyState {
  /** The last person that the first pass has copied, or null before the first portion is copied. */
  filledUntil: PersonKey | null;
  /** The time before which all changes have been copied. Null until the first pass has copied the last person. */
  copiedUntil: Date | null;
}

/**
 * Claims the task of copying persons, as `claimCopy` does for events.
 * @returns undefined while another process holds the claim
 */
export async function claimPersonCopy(sql: Sql, leaseSeconds: number): Promise<PersonCopyState | undefined> {
  await sql.query('INSERT INTO event_store_copy (store) VALUES ($1) ON CONFLICT DO NOTHING', [copying]);
  const [row] = await sql.query<{ project_id: number | null; uuid: string | null; copied_until: Date | null }>(
    `UPDATE event_store_copy SET claimed_until = now() + make_interval(secs => $2)
      WHERE store = $1 AND (claimed_until IS NULL OR claimed_until < now())
      RETURNING person_project_id AS project_id, person_uuid AS uuid, copied_until`,
    [copying, leaseSeconds],
  );
  if (row === undefined) return undefined;
  const { project_id: projectId, uuid, copied_until: copiedUntil } = row;
  return { filledUntil: projectId === null || uuid === null ? null : { projectId, uuid }, copiedUntil };
}

export async function releasePersonCopy(sql: Sql): Promise<void> {
  await sql.query('UPDATE event_store_copy SET claimed_until = NULL WHERE store = $1', [copying]);
}

/** Records the progress of copying persons. Only the holder of the claim may call this function. */
export async function savePersonCopy(sql: Sql, { filledUntil, copiedUntil }: PersonCopyState): Promise<void> {
  await sql.query(
    `UPDATE event_store_copy SET person_project_id = $2, person_uuid = $3, copied_until = $4 WHERE store = $1`,
    [copying, filledUntil?.projectId ?? null, filledUntil?.uuid ?? null, copiedUntil],
  );
}

/** Returns the last person of the portion that follows the key, or null if fewer than `size` persons remain. */
export async function readPortionEnd(sql: Sql, after: PersonKey | null, size: number): Promise<PersonKey | null> {
  const [row] = await sql.query<{ project_id: number; uuid: string }>(
    `SELECT project_id, uuid FROM person WHERE $1::int IS NULL OR (project_id, uuid) > ($1::int, $2::uuid)
      ORDER BY project_id, uuid OFFSET $3 LIMIT 1`,
    [after?.projectId ?? null, after?.uuid ?? null, size - 1],
  );
  return row === undefined ? null : { projectId: row.project_id, uuid: row.uuid };
}

interface PersonChanges {
  ids: string[];
  /** All changes that were committed before this time are in `ids` or have already been copied. */
  until: Date;
}

/**
 * Reads the oldest recorded changes. A change that was recorded earlier but is committed later is read by the next
 * call.
 */
export async function readPersonChanges(sql: Sql, limit: number): Promise<PersonChanges> {
  const [row] = await sql.query<{ ids: string[] | null; now: Date; last: Date | null }>(
    `SELECT array_agg(id::text ORDER BY id) AS ids, max(changed_at) AS last, statement_timestamp() AS now
       FROM (SELECT id, changed_at FROM event_store_person_change ORDER BY id LIMIT $1) AS oldest`,
    [limit],
  );
  const ids = row?.ids ?? [];
  const now = row?.now ?? new Date(0);
  return { ids, until: ids.length < limit ? now : (row?.last ?? now) };
}

export async function finishPersonChanges(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await sql.query('DELETE FROM event_store_person_change WHERE id = ANY ($1::bigint[])', [ids]);
}

/** Returns a version that is higher than all previous versions. Uses a sequence, because clocks can be set back. */
export async function nextPersonVersion(sql: Sql): Promise<string> {
  const [row] = await sql.query<{ version: string }>(
    `SELECT nextval(pg_get_serial_sequence('event_store_person_change', 'id'))::text AS version`,
  );
  return row?.version ?? '0';
}

/**
 * The triggers that record changes. The trigger for new distinct IDs runs only for IDs that have moved to another
 * person, because most new IDs have not.
 */
const triggers = [
  ...triggersOf('person', 'event_store_record_persons', 'INSERT', 'UPDATE', 'DELETE'),
  ...triggersOf('person_distinct_id', 'event_store_record_moved_ids', 'UPDATE', 'DELETE'),
  {
    table: 'person_distinct_id',
    name: 'event_store_person_distinct_id_insert',
    text: 'AFTER INSERT ON person_distinct_id FOR EACH ROW WHEN (NEW.version > 0) EXECUTE FUNCTION event_store_record_moved_ids()',
  },
];

function triggersOf(table: string, recording: string, ...events: ('INSERT' | 'UPDATE' | 'DELETE')[]) {
  return events.map((event) => ({
    table,
    name: `event_store_${table}_${event.toLowerCase()}`,
    text: `AFTER ${event} ON ${table} REFERENCING ${event === 'DELETE' ? 'OLD' : 'NEW'} TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION ${recording}()`,
  }));
}

export async function hasPersonTriggers(sql: Sql): Promise<boolean> {
  const rows = await sql.query(
    `SELECT 1 FROM pg_trigger WHERE tgrelid IN ('person'::regclass, 'person_distinct_id'::regclass) AND tgname = ANY ($1::text[])`,
    [triggers.map(({ name }) => name)],
  );
  return rows.length === triggers.length;
}

/**
 * Creates the triggers. Fails if it does not get a lock within 200 ms, because writes to persons wait for this lock
 * request.
 * @throws PostgreSQL's `lock_not_available`
 */
export async function startRecordingPersons(tx: Transaction): Promise<void> {
  await tx.query("SET LOCAL lock_timeout = '200ms'");
  for (const { name, text } of triggers) await tx.query(`CREATE OR REPLACE TRIGGER ${name} ${text}`);
}

/**
 * Drops the triggers and the changes that they recorded. The next copy starts over with the first person.
 * @throws PostgreSQL's `lock_not_available`
 */
export async function stopRecordingPersons(tx: Transaction): Promise<void> {
  await tx.query("SET LOCAL lock_timeout = '200ms'");
  for (const { name, table } of triggers) await tx.query(`DROP TRIGGER IF EXISTS ${name} ON ${table}`);
  await tx.query('DELETE FROM event_store_copy WHERE store = $1', [copying]);
  await tx.query('TRUNCATE event_store_person_change');
}
