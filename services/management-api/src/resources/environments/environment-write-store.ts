import type { Sql, Transaction } from '@millrace/db';
import { settingFields } from './setting-fields.ts';

/** A stored environment with every setting under its own name. */
export interface StoredEnvironment extends Record<string, unknown> {
  id: number;
  project_id: number;
  name: string;
  api_token: string;
}

/** `$3::jsonb` for settings stored as JSON: the driver would write an array as an array of PostgreSQL. */
function placeholder(field: string, index: number): string {
  return settingFields[field]?.isJson ? `$${index}::jsonb` : `$${index}`;
}

function stored(field: string, value: unknown): unknown {
  return settingFields[field]?.isJson && value !== null ? JSON.stringify(value) : value;
}

/** Holds an environment until the transaction ends: changes of it, whatever their fields, come one after the other. */
export async function lockEnvironment(tx: Transaction, id: number): Promise<StoredEnvironment | undefined> {
  const rows = await tx.query<StoredEnvironment>('SELECT * FROM environment WHERE id = $1 FOR NO KEY UPDATE', [id]);
  return rows[0];
}

/** Writes the given columns and no other. @returns them as they are stored now. */
export async function updateEnvironment(
  tx: Transaction,
  id: number,
  columns: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const fields = Object.keys(columns);
  const assignments = fields.map((field, index) => `"${field}" = ${placeholder(field, index + 2)}`);
  const rows = await tx.query<Record<string, unknown>>(
    `UPDATE environment SET ${[...assignments, 'updated_at = now()'].join(', ')} WHERE id = $1
     RETURNING ${fields.map((field) => `"${field}"`).join(', ')}`,
    [id, ...fields.map((field) => stored(field, columns[field]))],
  );
  return rows[0] ?? {};
}

/** @param id of a project's first environment; null takes the next free one. */
export async function insertEnvironment(
  tx: Transaction,
  { id, projectId, columns }: { id: number | null; projectId: number; columns: Record<string, unknown> },
): Promise<number> {
  const fields = Object.keys(columns);
  const rows = await tx.query<{ id: number }>(
    `INSERT INTO environment (${['id', 'project_id', ...fields.map((field) => `"${field}"`)].join(', ')})
     VALUES (${[`coalesce($1::int, nextval('project_and_environment_id')::int)`, '$2', ...fields.map((field, index) => placeholder(field, index + 3))].join(', ')})
     RETURNING id`,
    [id, projectId, ...fields.map((field) => stored(field, columns[field]))],
  );
  const created = rows[0];
  if (!created) throw new Error('An environment was inserted without a row.');
  return created.id;
}

/** Removes an environment and all that hangs on it; its ingested data goes later (`environment_cleanup`). */
export async function deleteEnvironment(tx: Transaction, id: number): Promise<void> {
  await tx.query('DELETE FROM environment WHERE id = $1', [id]);
}

/** Makes an environment what `@current` means for a person. */
export async function makeCurrent(
  tx: Transaction,
  userId: number,
  { environmentId, organizationId }: { environmentId: number; organizationId: string },
): Promise<void> {
  await tx.query('UPDATE "user" SET current_environment_id = $2, current_organization_id = $3 WHERE id = $1', [
    userId,
    environmentId,
    organizationId,
  ]);
}

/** Notes what somebody wants to use; again means one more time (docs/api-rules.md#product-intents). */
export async function upsertProductIntent(
  sql: Sql,
  environmentId: number,
  { productType, context }: { productType: string; context: string },
): Promise<void> {
  await sql.query(
    `INSERT INTO product_intent AS i (environment_id, product_type, contexts)
     VALUES ($1, $2, jsonb_build_object($3::text, 1))
     ON CONFLICT (environment_id, product_type) DO UPDATE
        SET contexts = i.contexts || jsonb_build_object($3::text, coalesce((i.contexts ->> $3::text)::int, 0) + 1),
            updated_at = clock_timestamp()`,
    [environmentId, productType, context],
  );
}
