// SQL that reads and writes ingestion restrictions.

import type { Sql } from '@millrace/db';

export interface Restriction extends Record<string, unknown> {
  id: string;
  kind: string;
  token: string;
  /** The distinct ID that the restriction applies to, or an empty string for all events with the key. */
  distinct_id: string;
  note: string;
  created_at: Date;
}

/** Inserts a restriction. If it already exists, only updates its note, and only if a note is given. */
export async function upsertRestriction(
  sql: Sql,
  row: Pick<Restriction, 'id' | 'kind' | 'token' | 'distinct_id'> & { note: string | null },
): Promise<Restriction> {
  const rows = await sql.query<Restriction>(
    `INSERT INTO ingestion_restriction AS r (id, kind, token, distinct_id, note)
     VALUES ($1, $2, $3, $4, coalesce($5::text, ''))
     ON CONFLICT (token, distinct_id, kind) DO UPDATE SET note = coalesce($5::text, r.note) RETURNING *`,
    [row.id, row.kind, row.token, row.distinct_id, row.note],
  );
  return rows[0] as Restriction;
}

export async function selectRestrictions(sql: Sql): Promise<Restriction[]> {
  return sql.query<Restriction>('SELECT * FROM ingestion_restriction ORDER BY created_at, id');
}

export async function deleteRestriction(sql: Sql, id: string): Promise<Restriction | undefined> {
  const rows = await sql.query<Restriction>('DELETE FROM ingestion_restriction WHERE id = $1 RETURNING *', [id]);
  return rows[0];
}
