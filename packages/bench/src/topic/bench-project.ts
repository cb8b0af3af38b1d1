import { randomUUID } from 'node:crypto';
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
  /** A copy of its own, with all that is in it; this one cannot be asked any more. The server copies files: a few seconds a gigabyte. */
  copy(): Promise<BenchDatabase>;
  drop(): Promise<void>;
}

/** @param projectApiKey the project's key, chosen by the caller: a topic filled once serves several databases. */
export async function createBenchDatabase(projectApiKey: string): Promise<BenchDatabase> {
  const database = await createTestDatabase();
  const { projectId, organizationId, personalApiKey } = await createTestTenant(database.url);
  const facts = { projectId, projectApiKey, organizationId, personalApiKey };
  const bench = open(database.url, facts, database.drop);
  await bench.query('UPDATE environment SET api_token = $1 WHERE id = $2', [projectApiKey, projectId]);
  return bench;
}

type Facts = Pick<BenchDatabase, 'projectId' | 'projectApiKey' | 'organizationId' | 'personalApiKey'>;

function open(url: string, facts: Facts, drop: () => Promise<void>): BenchDatabase {
  const pool = new pg.Pool({ connectionString: url, max: 2, application_name: 'millrace-bench' });
  pool.on('error', () => {});
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= pool.end();
    return closed;
  };
  return {
    ...facts,
    url,
    query: async <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) =>
      (await pool.query<Row>(text, values)).rows,
    async copy() {
      // A template must be without connections.
      await close();
      const copied = await copyDatabase(url);
      return open(copied.url, facts, copied.drop);
    },
    async drop() {
      await close();
      await drop();
    },
  };
}

async function copyDatabase(url: string): Promise<{ url: string; drop(): Promise<void> }> {
  const original = new URL(url).pathname.slice(1);
  // Not through the write-ahead log, which is for small ones.
  return createOwnDatabase(url, `TEMPLATE ${original} STRATEGY file_copy`);
}

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

/**
 * A database of a measurement's own beside another one, on the same server.
 * @param as what follows its name in `CREATE DATABASE`.
 */
async function createOwnDatabase(url: string, as: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `millrace_bench_${randomUUID().replaceAll('-', '')}`;
  await runOnServer(url, `CREATE DATABASE ${name} ${as}`);
  return {
    url: withDatabase(url, name),
    drop: () => runOnServer(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function runOnServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: withDatabase(url, 'postgres') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function withDatabase(url: string, name: string): string {
  return Object.assign(new URL(url), { pathname: `/${name}` }).toString();
}
