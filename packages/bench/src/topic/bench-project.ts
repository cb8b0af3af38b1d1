import { randomUUID } from 'node:crypto';
import { createTestDatabase } from '@millrace/testing';
import pg from 'pg';

/** A migrated database of a measurement's own, with one project in it. */
export interface BenchDatabase {
  url: string;
  projectId: number;
  projectApiKey: string;
  query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]>;
  drop(): Promise<void>;
}

export async function createBenchDatabase(projectApiKey: string): Promise<BenchDatabase> {
  const database = await createTestDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 2 });
  pool.on('error', () => {});
  const organizationId = randomUUID();
  await pool.query('INSERT INTO organization (id, name) VALUES ($1, $2)', [organizationId, 'Bench']);
  const { rows } = await pool.query<{ id: number }>('INSERT INTO project (organization_id) VALUES ($1) RETURNING id', [
    organizationId,
  ]);
  const projectId = rows[0]?.id ?? 0;
  await pool.query('INSERT INTO environment (id, uuid, project_id, api_token) VALUES ($1, $2, $1, $3)', [
    projectId,
    randomUUID(),
    projectApiKey,
  ]);
  return {
    url: database.url,
    projectId,
    projectApiKey,
    query: async <Row extends pg.QueryResultRow>(text: string) => (await pool.query<Row>(text)).rows,
    async drop() {
      await pool.end();
      await database.drop();
    },
  };
}
