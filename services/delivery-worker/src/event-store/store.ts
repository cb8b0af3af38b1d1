// How far ClickHouse follows, and what is to leave it.

import type { Columns, Sql } from '@millrace/db';

const store = 'clickhouse';

/** Undefined while another worker copies. A worker that died holds it until the lease is over. */
export async function claimCopy(
  sql: Sql,
  leaseSeconds: number,
): Promise<Columns<'event_store_copy', 'copied_until'> | undefined> {
  await sql.query('INSERT INTO event_store_copy (store) VALUES ($1) ON CONFLICT DO NOTHING', [store]);
  const rows = await sql.query<{ copied_until: Date | null }>(
    `UPDATE event_store_copy SET claimed_until = now() + make_interval(secs => $2)
      WHERE store = $1 AND (claimed_until IS NULL OR claimed_until < now()) RETURNING copied_until`,
    [store, leaseSeconds],
  );
  return rows[0];
}

/** Whether `millrace events rebuild` is under way, or was broken off. */
export async function isRebuilding(sql: Sql): Promise<boolean> {
  return (await sql.query(`SELECT 1 FROM event_store_copy WHERE store = 'clickhouse rebuild'`)).length > 0;
}

export async function releaseCopy(sql: Sql): Promise<void> {
  await sql.query(`UPDATE event_store_copy SET claimed_until = NULL WHERE store = $1`, [store]);
}

export async function noteCopied(sql: Sql, until: Date): Promise<void> {
  await sql.query('UPDATE event_store_copy SET copied_until = $2 WHERE store = $1', [store, until]);
}

/** When the first event that is there was stored; null: there is none. */
export async function oldestStored(sql: Sql): Promise<Date | null> {
  const [row] = await sql.query<{ at: Date | null }>('SELECT min(created_at) AS at FROM event');
  return row?.at ?? null;
}

export type Removal = Columns<'event_store_removal', 'id' | 'project_id' | 'distinct_id'>;

/** The oldest requests. */
export async function readRemovals(sql: Sql, limit: number): Promise<Removal[]> {
  return sql.query<Removal & Record<string, unknown>>(
    'SELECT id, project_id, distinct_id FROM event_store_removal ORDER BY id LIMIT $1',
    [limit],
  );
}

export async function finishRemovals(sql: Sql, ids: Removal['id'][]): Promise<void> {
  if (ids.length > 0) await sql.query('DELETE FROM event_store_removal WHERE id = ANY ($1::bigint[])', [ids]);
}
