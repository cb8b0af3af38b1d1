import type { BenchDatabase } from './bench-project.ts';

/** Adds one project for each project key to the database's organization, each with its first environment. */
export async function addProjects(database: BenchDatabase, projectApiKeys: readonly string[]): Promise<void> {
  await database.query(
    `WITH added AS (
       INSERT INTO project (organization_id, name)
       SELECT $1, 'Project ' || number FROM generate_series(1, cardinality($2::text[])) AS number
       RETURNING id)
     INSERT INTO environment (id, uuid, project_id, api_token)
     SELECT id, gen_random_uuid(), id, ($2::text[])[row_number() OVER (ORDER BY id)] FROM added`,
    [database.organizationId, projectApiKeys],
  );
}
