// Stores the progress of copying events to ClickHouse, and the events to remove from ClickHouse. PostgreSQL contains
// this state, so any worker can continue the copy.

import type { Sql } from '@millrace/db';

const following = 'clickhouse';
export const copyingPersons = 'clickhouse persons';
const rebuilding = 'clickhouse rebuild';
const restored = 'clickhouse restored';

/** A lease that allows only one worker to copy events. */
export interface CopyClaim {
  /** The time before which all stored events have been copied. Null if no events have been copied. */
  copiedUntil: Date | null;
  /** Expiry time of the lease, as a string that also identifies the claim. */
  expiresAt: string;
}

/**
 * Claims the task of copying events, so that no other worker copies events until the claim is released or its lease
 * expires. Returns undefined while another worker holds the claim.
 *
 * If `copied_until` is less than `settleSeconds` ago, PostgreSQL's clock was set back, for example because a standby
 * with a different clock was promoted. Events stored since then may have times before `copied_until`, so the last hour
 * is copied again.
 *
 * @param settleSeconds the minimum age in seconds of the events to copy
 */
export async function claimCopy(
  sql: Sql,
  { leaseSeconds, settleSeconds }: { leaseSeconds: number; settleSeconds: number },
): Promise<CopyClaim | undefined> {
  await sql.query('INSERT INTO event_store_copy (store) VALUES ($1) ON CONFLICT DO NOTHING', [following]);
  const [row] = await sql.query<{ copied_until: Date | null; expires_at: string }>(
    `UPDATE event_store_copy
        SET claimed_until = now() + make_interval(secs => $2),
            copied_until = CASE WHEN copied_until > now() - make_interval(secs => $3)
                                THEN now() - interval '1 hour' ELSE copied_until END
      WHERE store = $1 AND (claimed_until IS NULL OR claimed_until < now())
      RETURNING copied_until, claimed_until::text AS expires_at`,
    [following, leaseSeconds, settleSeconds],
  );
  return row && { copiedUntil: row.copied_until, expiresAt: row.expires_at };
}

export async function releaseCopyClaim(sql: Sql, { expiresAt }: CopyClaim): Promise<void> {
  await sql.query(
    'UPDATE event_store_copy SET claimed_until = NULL WHERE store = $1 AND claimed_until = $2::timestamptz',
    [following, expiresAt],
  );
}

/**
 * Records up to which time events have been copied.
 * @throws Error if the lease has expired and another process has claimed the task of copying
 */
export async function saveCopiedUntil(sql: Sql, { expiresAt }: CopyClaim, until: Date): Promise<void> {
  const rows = await sql.query(
    `UPDATE event_store_copy SET copied_until = $3 WHERE store = $1 AND claimed_until = $2::timestamptz RETURNING store`,
    [following, expiresAt, until],
  );
  if (rows.length === 0)
    throw new Error('Another process has continued copying events, because this one took too long.');
}

/**
 * Records that PostgreSQL was restored from a backup. ClickHouse may contain events that were stored after the backup,
 * and the consumers store those events again. Does nothing if the backup was made before any events were copied,
 * because such a backup does not show which events were stored after it.
 */
export async function requestCopyAfterRestore(sql: Sql): Promise<void> {
  await sql.query(
    `INSERT INTO event_store_copy AS c (store, copied_until)
     SELECT $1, copied_until FROM event_store_copy WHERE store = $2 AND copied_until IS NOT NULL
     ON CONFLICT (store) DO UPDATE SET copied_until = least(c.copied_until, EXCLUDED.copied_until)`,
    [restored, following],
  );
}

/** Returns the time from which events must be copied again after a restore, or null if PostgreSQL was not restored. */
export async function readRestoredCopy(sql: Sql): Promise<Date | null> {
  const [row] = await sql.query<{ copied_until: Date }>('SELECT copied_until FROM event_store_copy WHERE store = $1', [
    restored,
  ]);
  return row?.copied_until ?? null;
}

/** Records that all events since a time have been deleted from ClickHouse, so that they are copied again. */
export async function finishRestoredCopy(sql: Sql, claim: CopyClaim, since: Date): Promise<void> {
  await saveCopiedUntil(sql, claim, since);
  await sql.query('DELETE FROM event_store_copy WHERE store = $1 AND copied_until >= $2', [restored, since]);
}

export interface CopiedUntil {
  /** The time before which all stored events have been copied, or null if unknown. */
  events: Date | null;
  /** The time before which all person changes have been copied. Null while queries read persons from PostgreSQL. */
  persons: Date | null;
}

export async function readCopiedUntil(sql: Sql): Promise<CopiedUntil> {
  const rows = await sql.query<{ store: string; copied_until: Date | null }>(
    'SELECT store, copied_until FROM event_store_copy',
  );
  const untilOf = (store: string) => rows.find((row) => row.store === store)?.copied_until ?? null;
  return { events: untilOf(following), persons: untilOf(copyingPersons) };
}

/** Returns the time at which the oldest event was stored, or null if no events are stored. */
export async function readOldestStoredAt(sql: Sql): Promise<Date | null> {
  const [row] = await sql.query<{ at: Date | null }>('SELECT min(created_at) AS at FROM event');
  return row?.at ?? null;
}

/**
 * Starts rebuilding the events table, or continues an interrupted rebuild.
 * @returns the time up to which the new table contains all events, or null if it is empty
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

/** Returns true if a rebuild is running or was interrupted. */
export async function isRebuilding(sql: Sql): Promise<boolean> {
  return (await sql.query('SELECT 1 FROM event_store_copy WHERE store = $1', [rebuilding])).length > 0;
}

/**
 * Records that queries read the rebuilt table. Copying then continues where the rebuild ended, or starts over if the
 * table is empty. Releases the claim, so only its holder may call this function.
 */
export async function finishRebuild(sql: Sql): Promise<void> {
  await sql.query(
    `WITH done AS (DELETE FROM event_store_copy WHERE store = $1 RETURNING copied_until)
     UPDATE event_store_copy c
        SET copied_until = CASE WHEN done.copied_until < c.copied_until THEN done.copied_until
                                WHEN done.copied_until IS NOT NULL THEN c.copied_until END,
            claimed_until = NULL
       FROM done WHERE c.store = $2`,
    [rebuilding, following],
  );
}

export interface EventRemoval {
  id: bigint;
  project_id: number;
  /** Distinct ID whose events are removed. Null removes the events of all distinct IDs. */
  distinct_id: string | null;
  /**
   * Together with `requested_at`, limits the removal to the events of this deleted person. Null to remove the events of
   * any person.
   */
  person_uuid: string | null;
  requested_at: Date | null;
  keeps_events: boolean;
}

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
