import { randomUUID } from 'node:crypto';
import type { Columns, Sql, Transaction } from '@millrace/db';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { addVisibilityCondition } from '../../access/record-rights.ts';
import { createConditions } from '../../sql/conditions.ts';
import { type FlagRow, listFlags } from '../feature-flags/store.ts';
import type { Stage } from './rules.ts';

export interface FeatureFields extends Columns<'early_access_feature', 'name' | 'description' | 'documentation_url'> {
  stage: Stage;
  payload: Record<string, unknown>;
}

export interface FeatureRow
  extends FeatureFields,
    Columns<'early_access_feature', 'id' | 'feature_flag_id' | 'created_at'> {}
type Row = FeatureRow & Record<string, unknown>;

const columns = 'f.id, f.feature_flag_id, f.name, f.description, f.stage, f.documentation_url, f.payload, f.created_at';

/** Returns a page of an environment's features that the caller can see, newest first, and the total count. */
export async function listFeatures(
  sql: Sql,
  { environmentId, rights }: Pick<AddressedProject, 'environmentId' | 'rights'>,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ count: number; rows: FeatureRow[] }> {
  const where = createConditions();
  where.add(`f.project_id = ${where.parameter(environmentId)}`);
  addVisibilityCondition(where, rights, 'early_access_feature', { id: 'f.id' });
  const from = `FROM early_access_feature f WHERE ${where.text()}`;
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>(`SELECT count(*)::int AS count ${from}`, [...where.values]),
    sql.query<Row>(
      `SELECT ${columns} ${from} ORDER BY f.created_at DESC, f.id DESC
        LIMIT ${where.parameter(limit)} OFFSET ${where.parameter(offset)}`,
      where.values,
    ),
  ]);
  return { count: counted[0]?.count ?? 0, rows };
}

export async function findFeature(sql: Sql, environmentId: number, id: string): Promise<FeatureRow | undefined> {
  const rows = await sql.query<Row>(
    `SELECT ${columns} FROM early_access_feature f WHERE f.project_id = $1 AND f.id = $2::uuid`,
    [environmentId, id],
  );
  return rows[0];
}

export async function hasFeature(sql: Sql, flagId: number): Promise<boolean> {
  const rows = await sql.query('SELECT 1 FROM early_access_feature WHERE feature_flag_id = $1', [flagId]);
  return rows.length > 0;
}

export async function insertFeature(
  tx: Transaction,
  { environmentId, flagId }: { environmentId: number; flagId: number },
  { name, description, stage, documentation_url, payload }: FeatureFields,
): Promise<string> {
  const id = randomUUID();
  await tx.query(
    `INSERT INTO early_access_feature (id, project_id, feature_flag_id, name, description, stage, documentation_url, payload)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [id, environmentId, flagId, name, description, stage, documentation_url, payload],
  );
  return id;
}

export async function updateFeature(
  tx: Transaction,
  id: string,
  { name, description, stage, documentation_url, payload }: FeatureFields,
): Promise<void> {
  await tx.query(
    `UPDATE early_access_feature SET name = $2, description = $3, stage = $4, documentation_url = $5, payload = $6
      WHERE id = $1::uuid`,
    [id, name, description, stage, documentation_url, payload],
  );
}

export async function deleteFeature(tx: Transaction, id: string): Promise<void> {
  await tx.query('DELETE FROM early_access_feature WHERE id = $1::uuid', [id]);
}

export async function findFeatureFlags(
  sql: Sql,
  environmentId: number,
  features: FeatureRow[],
): Promise<Map<number, FlagRow>> {
  const flags = new Map<number, FlagRow>();
  let missing = [...new Set(features.map(({ feature_flag_id }) => feature_flag_id))];
  // One page may not contain all flags, because its size in bytes is limited.
  while (missing.length > 0) {
    const where = createConditions();
    where.add(`f.project_id = ${where.parameter(environmentId)}`);
    where.add(`f.id = ANY (${where.parameter(missing)}::int[])`);
    const { rows } = await listFlags(sql, where, { order: 'f.id', limit: missing.length, offset: 0 });
    for (const row of rows) flags.set(row.id, row);
    if (rows.length === 0) break;
    missing = missing.filter((id) => !flags.has(id));
  }
  return flags;
}
