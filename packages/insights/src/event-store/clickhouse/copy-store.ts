// Stores in PostgreSQL how far ClickHouse has copied its events, and which events to remove from ClickHouse. Any worker
// can then continue.

import type { Sql } from '@millrace/db';

const following = 'clickhouse';
export const copyingPersons = 'clickhouse persons';
const rebuilding = 'clickhouse rebuild';

/**
 * Claims the copying, so that no other worker copies until the claim is released or its lease expires. Undefined while
 * another worker holds the claim.
 * @returns the time up to which events have been copied; null if none have.
 */
export async function claimCopy(sql: Sql, leaseSeconds: number): Promise<{ copied_until: Date | null } | undefined> {
  await sql.query('INSERT INTO event_store_copy (store) VALUES ($1) ON CONFLICT DO NOTHING', [following]);
  const rows = await sql.query<{ copied_until: Date | null }>(
    `UPDATE event_store_copy SET claimed_until = now() + make_interval(secs => $2)
      WHERE store = $1 AND (claimed_until IS NULL OR claimed_until < now()) RETURNING copied_until`,
    [following, leaseSeconds],
  );
  return rows[0];
}

export async function releaseCopy(sql: Sql): Promise<void> {
  await sql.query(`UPDATE event_store_copy SET claimed_until = NULL WHERE store = $1`, [following]);
}

/** Only the holder of the claim may call this. */
export async function saveCopiedUntil(sql: Sql, until: Date): Promise<void> {
  await sql.query('UPDATE event_store_copy SET copied_until = $2 WHERE store = $1', [following, until]);
}

/** The state of the copy in ClickHouse. */
export interface CopiedUntil {
  /** All events stored before this time. Null if unknown. */
  events: Date | null;
  /** All changes of persons before this time. Null while queries read persons from PostgreSQL. */
  persons: Date | null;
}

export async function readCopiedUntil(sql: Sql): Promise<CopiedUntil> {
  const rows = await sql.query<{ store: string; copied_until: Date | null }>(
    'SELECT store, copied_until FROM event_store_copy',
  );
  const untilOf = (store: string) => rows.find((row) => row.store === store)?.copied_until ?? null;
  return { events: untilOf(following), persons: untilOf(copyingPersons) };
}

/** Returns when the first event that still exists was stored; null without events. */
export async function readOldestStoredAt(sql: Sql): Promise<Date | null> {
  const [row] = await sql.query<{ at: Date | null }>('SELECT min(created_at) AS at FROM event');
  return row?.at ?? null;
}

/**
 * Starts rebuilding the table, or continues. @returns the time up to which events have been copied; null at the start.
 */
export async function beginRebuild(sql: Sql): Promise<Date | null> {
  await sql.query('INSERT INTO event_store_copy (store) VALUES ($1) ON CONFLICT DO NOTHING', [rebuilding]);
  const [row] = await sql.query<{ copied_until: Date | null }>(
    'SELECT copied_until FROM event_store_copy WHERE store = $1',
    [rebuilding],
  );
  return row?.copied_until ?? null;
}

export async function saveRebuiltUntil(sql: Sql, until: Date): Promise<void> {
  await sql.query('UPDATE event_store_copy SET copied_until = $2 WHERE store = $1', [rebuilding, until]);
}

/** Returns whether a rebuild is running or was interrupted. */
export async function isRebuilding(sql: Sql): Promise<boolean> {
  return (await sql.query('SELECT 1 FROM event_store_copy WHERE store = $1', [rebuilding])).length > 0;
}

/**
 * Records that the new table is in place, so that copying continues from its end. Only the holder of the claim may call
 * this; it releases the claim.
 */
export async function finishRebuild(sql: Sql): Promise<void> {
  await sql.query(
    `WITH done AS (DELETE FROM event_store_copy WHERE store = $1 RETURNING copied_until)
     UPDATE event_store_copy c SET copied_until = least(c.copied_until, done.copied_until), claimed_until = NULL
       FROM done WHERE c.store = $2`,
    [rebuilding, following],
  );
}

export interface EventRemoval {
  id: bigint;
  project_id: number;
  /** Null for all events of the project. */
  distinct_id: string | null;
  /**
   * Limits the removal to the events of this deleted person, together with `requested_at`. Null for events of any
   * person.
   */
  person_uuid: string | null;
  requested_at: Date | null;
  keeps_events: boolean;
}

/** Reads the oldest requests to remove events. */
export async function readEventRemovals(sql: Sql, limit: number): Promise<EventRemoval[]> {
  return sql.query<EventRemoval & Record<string, unknown>>(
    `SELECT id, project_id, distinct_id, person_uuid, requested_at, keeps_events
       FROM event_store_removal ORDER BY id LIMIT $1`,
    [limit],
  );
}

export async function deleteEventRemovals(sql: Sql, ids: EventRemoval['id'][]): Promise<void> {
  if (ids.length > 0) await sql.query('DELETE FROM event_store_removal WHERE id = ANY ($1::bigint[])', [ids]);
}
