// SQL that reads and writes insight variables, which are the placeholders in SQL insights.

import { randomUUID } from 'node:crypto';
import type { Columns, Sql, Transaction } from '@millrace/db';
import type { VariableType } from '@millrace/insights';

export interface VariableFields extends Columns<'insight_variable', 'name'> {
  type: VariableType;
  default_value: unknown;
  values: (string | number)[] | null;
}

export interface VariableRow extends VariableFields, Columns<'insight_variable', 'id' | 'code_name' | 'created_at'> {
  created_by: number | null;
}
type Row = VariableRow & Record<string, unknown>;

const columns = `id, name, type, default_value, created_by_id AS created_by, created_at, code_name, "values"`;

/** Returns a page of an environment's variables, sorted by name, and the total count. */
export async function listVariables(
  sql: Sql,
  environmentId: number,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ count: number; rows: VariableRow[] }> {
  const count = await countVariables(sql, environmentId);
  const rows = await sql.query<Row>(
    `SELECT ${columns} FROM insight_variable WHERE environment_id = $1
      ORDER BY lower(name), id LIMIT $2 OFFSET $3`,
    [environmentId, limit, offset],
  );
  return { count, rows };
}

export async function countVariables(sql: Sql, environmentId: number): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM insight_variable WHERE environment_id = $1',
    [environmentId],
  );
  return row?.count ?? 0;
}

export async function findVariable(sql: Sql, environmentId: number, id: string): Promise<VariableRow | undefined> {
  const [row] = await sql.query<Row>(
    `SELECT ${columns} FROM insight_variable WHERE environment_id = $1 AND id = $2::uuid`,
    [environmentId, id],
  );
  return row;
}

/** Stores a variable. Returns its ID, or undefined if the environment already has a variable with this code name. */
export async function insertVariable(
  tx: Transaction,
  { environmentId, userId, codeName }: { environmentId: number; userId: number; codeName: string },
  { name, type, default_value, values }: VariableFields,
): Promise<string | undefined> {
  const [row] = await tx.query<{ id: string }>(
    `INSERT INTO insight_variable (id, environment_id, created_by_id, code_name, name, type, default_value, "values")
     VALUES ($1, $2, $3, $4, $5, $6, $7::json, $8::json)
     ON CONFLICT (environment_id, code_name) DO NOTHING RETURNING id`,
    [randomUUID(), environmentId, userId, codeName, name, type, JSON.stringify(default_value), JSON.stringify(values)],
  );
  return row?.id;
}

export async function updateVariable(
  tx: Transaction,
  id: string,
  { name, type, default_value, values }: VariableFields,
): Promise<void> {
  await tx.query(
    `UPDATE insight_variable SET name = $2, type = $3, default_value = $4::json, "values" = $5::json WHERE id = $1::uuid`,
    [id, name, type, JSON.stringify(default_value), JSON.stringify(values)],
  );
}

export async function deleteVariable(tx: Transaction, id: string): Promise<void> {
  await tx.query('DELETE FROM insight_variable WHERE id = $1::uuid', [id]);
}
