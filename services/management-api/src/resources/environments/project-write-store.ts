import type { Transaction } from '@millrace/db';

export interface StoredProject extends Record<string, unknown> {
  id: number;
  organization_id: string;
  name: string;
  product_description: string | null;
}

export async function insertProject(
  tx: Transaction,
  { organizationId, name, description }: { organizationId: string; name: string; description: unknown },
): Promise<number> {
  const rows = await tx.query<{ id: number }>(
    'INSERT INTO project (organization_id, name, product_description) VALUES ($1, $2, $3) RETURNING id',
    [organizationId, name, description],
  );
  const created = rows[0];
  if (!created) throw new Error('A project was inserted without a row.');
  return created.id;
}

/** Holds a project until the transaction ends. */
export async function lockProject(tx: Transaction, id: number): Promise<StoredProject | undefined> {
  const rows = await tx.query<StoredProject>('SELECT * FROM project WHERE id = $1 FOR NO KEY UPDATE', [id]);
  return rows[0];
}

/** Writes the given columns of `name` and `product_description`. @returns them as they are stored now. */
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

/** Ids and keys of a project's environments, the first one in front. */
export async function listEnvironmentKeys(
  tx: Transaction,
  projectId: number,
): Promise<{ id: number; name: string; api_token: string }[]> {
  return tx.query('SELECT id, name, api_token FROM environment WHERE project_id = $1 ORDER BY id', [projectId]);
}

/** Removes a project, its environments and all that hangs on them; ingested data goes later (`environment_cleanup`). */
export async function deleteProject(tx: Transaction, id: number): Promise<void> {
  await tx.query('DELETE FROM project WHERE id = $1', [id]);
}
