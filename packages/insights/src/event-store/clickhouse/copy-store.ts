// How far ClickHouse follows PostgreSQL, and what is to leave it: kept in PostgreSQL, for whoever copies next.

import type { Sql } from '@millrace/db';

const following = 'clickhouse';
const rebuilding = 'clickhouse rebuild';

/**
 * Lets nobody else copy until it is released; undefined while somebody else does. Who died holds it until the lease is over.
 * @returns until when what was stored is there; null: nothing is yet.
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

/** Only who holds the claim notes how far it is. */
export async function noteCopied(sql: Sql, until: Date): Promise<void> {
  await sql.query('UPDATE event_store_copy SET copied_until = $2 WHERE store = $1', [following, until]);
}

/** What was stored before is in ClickHouse; null: nothing is known to be there. */
export async function readCopiedUntil(sql: Sql): Promise<Date | null> {
  const [row] = await sql.query<{ copied_until: Date | null }>(
    'SELECT copied_until FROM event_store_copy WHERE store = $1',
    [following],
  );
  return row?.copied_until ?? null;
}

/** When the first event that is there was stored; null: there is none. */
export async function oldestStored(sql: Sql): Promise<Date | null> {
  const [row] = await sql.query<{ at: Date | null }>('SELECT min(created_at) AS at FROM event');
  return row?.at ?? null;
}

/** Begins to make the table anew, or goes on. @returns how far it is; null: at its beginning. */
export async function beginRebuild(sql: Sql): Promise<Date | null> {
  await sql.query('INSERT INTO event_store_copy (store) VALUES ($1) ON CONFLICT DO NOTHING', [rebuilding]);
  const [row] = await sql.query<{ copied_until: Date | null }>(
    'SELECT copied_until FROM event_store_copy WHERE store = $1',
    [rebuilding],
  );
  return row?.copied_until ?? null;
}

export async function noteRebuilt(sql: Sql, until: Date): Promise<void> {
  await sql.query('UPDATE event_store_copy SET copied_until = $2 WHERE store = $1', [rebuilding, until]);
}

/** Whether a table is made anew, or its making was broken off. */
export async function isRebuilding(sql: Sql): Promise<boolean> {
  return (await sql.query('SELECT 1 FROM event_store_copy WHERE store = $1', [rebuilding])).length > 0;
}

/** The new table is in place: copying goes on from where it ends. Only who holds the claim does so, and gives it back by it. */
export async function finishRebuild(sql: Sql): Promise<void> {
  await sql.query(
    `WITH done AS (DELETE FROM event_store_copy WHERE store = $1 RETURNING copied_until)
     UPDATE event_store_copy c SET copied_until = least(c.copied_until, done.copied_until), claimed_until = NULL
       FROM done WHERE c.store = $2`,
    [rebuilding, following],
  );
}

export interface Removal {
  id: bigint;
  project_id: number;
  /** Null: all of the project. */
  distinct_id: string | null;
  /** With `requested_at`: of this deleted person; null: whoever they are of. */
  person_uuid: string | null;
  requested_at: Date | null;
  keeps_events: boolean;
}

/** The oldest requests to take events away. */
export async function readRemovals(sql: Sql, limit: number): Promise<Removal[]> {
  return sql.query<Removal & Record<string, unknown>>(
    `SELECT id, project_id, distinct_id, person_uuid, requested_at, keeps_events
       FROM event_store_removal ORDER BY id LIMIT $1`,
    [limit],
  );
}

export async function finishRemovals(sql: Sql, ids: Removal['id'][]): Promise<void> {
  if (ids.length > 0) await sql.query('DELETE FROM event_store_removal WHERE id = ANY ($1::bigint[])', [ids]);
}
