/** Reads and writes projects, and counts them for plan limits. */

import type { Columns, Sql, Transaction } from '@millrace/db';
import type { PlanCount } from './plan-limits.ts';

export interface StoredProject
  extends Record<string, unknown>,
    Columns<'project', 'id' | 'organization_id' | 'name' | 'product_description' | 'created_at'> {}

export async function insertProject(
  tx: Transaction,
  { organizationId, name, description }: { organizationId: string; name: string; description: string | null },
): Promise<StoredProject> {
  const rows = await tx.query<StoredProject>(
    'INSERT INTO project (organization_id, name, product_description) VALUES ($1, $2, $3) RETURNING *',
    [organizationId, name, description],
  );
  const created = rows[0];
  if (!created) throw new Error('A project was inserted without a row.');
  return created;
}

export async function findProject(sql: Sql, id: number): Promise<StoredProject | undefined> {
  const rows = await sql.query<StoredProject>('SELECT * FROM project WHERE id = $1', [id]);
  return rows[0];
}

export async function findOrganizationOfProject(sql: Sql, id: number): Promise<string | undefined> {
  const rows = await sql.query<{ organization_id: string }>('SELECT organization_id FROM project WHERE id = $1', [id]);
  return rows[0]?.organization_id;
}

export async function findProjectOfEnvironment(sql: Sql, id: number): Promise<number | undefined> {
  const rows = await sql.query<{ project_id: number }>('SELECT project_id FROM environment WHERE id = $1', [id]);
  return rows[0]?.project_id;
}

export async function findOrganizationOfEnvironment(sql: Sql, id: number): Promise<string | undefined> {
  const rows = await sql.query<{ organization_id: string }>(
    'SELECT p.organization_id FROM environment e JOIN project p ON p.id = e.project_id WHERE e.id = $1',
    [id],
  );
  return rows[0]?.organization_id;
}

/** Lists the projects of an organization or of all organizations (null), sorted by ID. */
export async function selectProjects(sql: Sql, organizationId: string | null): Promise<StoredProject[]> {
  return sql.query<StoredProject>('SELECT * FROM project WHERE $1::uuid IS NULL OR organization_id = $1 ORDER BY id', [
    organizationId,
  ]);
}

export async function lockProject(tx: Transaction, id: number): Promise<StoredProject | undefined> {
  const rows = await tx.query<StoredProject>('SELECT * FROM project WHERE id = $1 FOR NO KEY UPDATE', [id]);
  return rows[0];
}

/**
 * Updates a project's `name` and `product_description`. Undefined values stay unchanged.
 * @returns the stored values
 */
export async function updateProject(
  tx: Transaction,
  id: number,
  columns: { name?: unknown; product_description?: unknown },
): Promise<Record<string, unknown>> {
  const fields = Object.keys(columns).filter((field) => field === 'name' || field === 'product_description');
  const rows = await tx.query<Record<string, unknown>>(
    `UPDATE project SET ${[...fields.map((field, index) => `${field} = $${index + 2}`), 'updated_at = now()'].join(', ')}
      WHERE id = $1 RETURNING ${fields.join(', ')}`,
    [id, ...fields.map((field) => columns[field as 'name'])],
  );
  return rows[0] ?? {};
}

/** Lists the IDs and keys of a project's environments, starting with the first environment. */
export async function listEnvironmentKeys(
  tx: Transaction,
  projectId: number,
): Promise<{ id: number; name: string; api_token: string }[]> {
  return tx.query('SELECT id, name, api_token FROM environment WHERE project_id = $1 ORDER BY id', [projectId]);
}

/**
 * Deletes a project, its environments and their dependent rows. The event data is deleted later
 * (`environment_cleanup`).
 */
export async function deleteProject(tx: Transaction, id: number): Promise<void> {
  await tx.query('DELETE FROM project WHERE id = $1', [id]);
}

/** Counts an organization's projects. A project counts as demo data if all its environments are demo data. */
export async function countProjects(tx: Transaction, organizationId: string): Promise<PlanCount> {
  const [row] = await tx.query<{ all: number; demo: number }>(
    `SELECT count(*)::int AS all, count(*) FILTER (WHERE is_demo)::int AS demo
       FROM (SELECT (SELECT bool_and(e.is_demo) FROM environment e WHERE e.project_id = p.id) AS is_demo
               FROM project p WHERE p.organization_id = $1) project`,
    [organizationId],
  );
  return row ?? { all: 0, demo: 0 };
}

export async function countEnvironments(tx: Transaction, projectId: number): Promise<PlanCount> {
  const [row] = await tx.query<{ all: number; demo: number }>(
    'SELECT count(*)::int AS all, count(*) FILTER (WHERE is_demo)::int AS demo FROM environment WHERE project_id = $1',
    [projectId],
  );
  return row ?? { all: 0, demo: 0 };
}

export async function isDemoEnvironment(tx: Transaction, environmentId: number): Promise<boolean | undefined> {
  const rows = await tx.query<{ is_demo: boolean }>('SELECT is_demo FROM environment WHERE id = $1', [environmentId]);
  return rows[0]?.is_demo;
}
