import type { Columns, Sql, Transaction } from '@millrace/db';
import { settingFields } from './setting-fields.ts';

export interface StoredEnvironment
  extends Record<string, unknown>,
    Columns<
      'environment',
      'id' | 'uuid' | 'project_id' | 'name' | 'api_token' | 'timezone' | 'created_at' | 'slack_incoming_webhook'
    > {}

export async function lockEnvironment(tx: Transaction, id: number): Promise<StoredEnvironment | undefined> {
  const rows = await tx.query<StoredEnvironment>('SELECT * FROM environment WHERE id = $1 FOR NO KEY UPDATE', [id]);
  return rows[0];
}

export async function findEnvironment(sql: Sql, id: number): Promise<StoredEnvironment | undefined> {
  const rows = await sql.query<StoredEnvironment>('SELECT * FROM environment WHERE id = $1', [id]);
  return rows[0];
}

/**
 * Updates only the given columns of an environment.
 * @returns the stored values of these columns
 */
export async function updateEnvironment(
  tx: Transaction,
  id: number,
  columns: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const fields = Object.keys(columns);
  const assignments = fields.map((field, index) => `"${field}" = ${formatSettingPlaceholder(field, index + 2)}`);
  const rows = await tx.query<Record<string, unknown>>(
    `UPDATE environment SET ${[...assignments, 'updated_at = now()'].join(', ')} WHERE id = $1
     RETURNING ${fields.map((field) => `"${field}"`).join(', ')}`,
    [id, ...fields.map((field) => stored(field, columns[field]))],
  );
  return rows[0] ?? {};
}

/**
 * Inserts an environment.
 * @param id ID of a project's first environment. If null, the next free ID is used.
 */
export async function insertEnvironment(
  tx: Transaction,
  { id, projectId, columns }: { id: number | null; projectId: number; columns: Record<string, unknown> },
): Promise<StoredEnvironment> {
  const fields = Object.keys(columns);
  const rows = await tx.query<StoredEnvironment>(
    `INSERT INTO environment (${['id', 'project_id', ...fields.map((field) => `"${field}"`)].join(', ')})
     VALUES (${[`coalesce($1::int, nextval('project_and_environment_id')::int)`, '$2', ...fields.map((field, index) => formatSettingPlaceholder(field, index + 3))].join(', ')})
     RETURNING *`,
    [id, projectId, ...fields.map((field) => stored(field, columns[field]))],
  );
  const created = rows[0];
  if (!created) throw new Error('An environment was inserted without a row.');
  return created;
}

/** Deletes an environment and its dependent rows. Its event data is deleted later (`environment_cleanup`). */
export async function deleteEnvironment(tx: Transaction, id: number): Promise<void> {
  await tx.query('DELETE FROM environment WHERE id = $1', [id]);
}

/** Lists these projects' environments, sorted by ID. */
export async function selectEnvironments(sql: Sql, projectIds: number[]): Promise<StoredEnvironment[]> {
  return sql.query<StoredEnvironment>('SELECT * FROM environment WHERE project_id = ANY ($1::int[]) ORDER BY id', [
    projectIds,
  ]);
}

/** Returns the email domains of the organization's active members, in the order of joining. */
export async function findMemberDomains(tx: Transaction, organizationId: string): Promise<string[]> {
  const rows = await tx.query<{ domain: string }>(
    `SELECT lower(split_part(u.email, '@', 2)) AS domain
       FROM membership m JOIN "user" u ON u.id = m.user_id
      WHERE m.organization_id = $1 AND u.is_active ORDER BY m.joined_at, m.id LIMIT 100`,
    [organizationId],
  );
  return rows.map(({ domain }) => domain);
}

/**
 * Returns the SQL placeholder for a setting's value. Settings that are stored as JSON need a cast to `jsonb`. Without
 * it, the driver sends an array as a PostgreSQL array.
 */
export function formatSettingPlaceholder(field: string, index: number): string {
  return isJson(field) ? `$${index}::jsonb` : `$${index}`;
}

const isJson = (field: string) => Object.hasOwn(settingFields, field) && settingFields[field]?.isJson === true;

function stored(field: string, value: unknown): unknown {
  return isJson(field) && value !== null ? JSON.stringify(value) : value;
}
