import { createTestDatabase, createTestTenant } from '@millrace/testing';
import pg from 'pg';

/** A migrated database of a measurement's own, with one project in it. */
export interface BenchDatabase {
  url: string;
  projectId: number;
  projectApiKey: string;
  organizationId: string;
  /** A key of the organization's owner that may do everything. */
  personalApiKey: string;
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  drop(): Promise<void>;
}

/** @param projectApiKey the project's key, chosen by the caller: a topic filled once serves several databases. */
export async function createBenchDatabase(projectApiKey: string): Promise<BenchDatabase> {
  const database = await createTestDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 2, application_name: 'millrace-bench' });
  pool.on('error', () => {});
  const { projectId, organizationId, personalApiKey } = await createTestTenant(database.url);
  await pool.query('UPDATE environment SET api_token = $1 WHERE id = $2', [projectApiKey, projectId]);
  return {
    url: database.url,
    projectId,
    projectApiKey,
    organizationId,
    personalApiKey,
    query: async <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) =>
      (await pool.query<Row>(text, values)).rows,
    async drop() {
      await pool.end();
      await database.drop();
    },
  };
}
