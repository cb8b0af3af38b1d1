// Creates and removes the databases of benchmarks.

import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createTestDatabase, createTestTenant } from '@millrace/testing';
import pg from 'pg';

/** A migrated database for one measurement, with one project. */
export interface BenchDatabase {
  url: string;
  projectId: number;
  projectApiKey: string;
  organizationId: string;
  /** A personal API key of the organization's owner, with all scopes. */
  personalApiKey: string;
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  /**
   * Copies the database with its content, and closes the connections to the original. Takes a few seconds per gigabyte.
   */
  copy(): Promise<BenchDatabase>;
  drop(): Promise<void>;
}

export const generateProjectKey = () => `phc_bench_${randomUUID().replaceAll('-', '')}`;

/**
 * Creates a database with a project.
 * @param projectApiKey the key of the project. Several databases with the same key can store the events of one topic.
 */
export async function createBenchDatabase(projectApiKey: string): Promise<BenchDatabase> {
  const database = await createTestDatabase();
  const { projectId, organizationId, personalApiKey } = await createTestTenant(database.url);
  const bench = open(database.url, { projectId, projectApiKey, organizationId, personalApiKey }, database.drop);
  await bench.query('UPDATE environment SET api_token = $1 WHERE id = $2', [projectApiKey, projectId]);
  return bench;
}

/**
 * Opens the database that `file` describes. If the file does not exist, creates a database and the file, for the next
 * run.
 */
export async function openReusableDatabase(file: string): Promise<BenchDatabase> {
  if (!existsSync(file)) {
    const { query, copy, drop, ...facts } = await createBenchDatabase(generateProjectKey());
    writeFileSync(file, JSON.stringify(facts, null, 2));
  }
  const { url, ...facts }: Facts & { url: string } = JSON.parse(readFileSync(file, 'utf8'));
  return open(url, facts, async () => {});
}

type Facts = Pick<BenchDatabase, 'projectId' | 'projectApiKey' | 'organizationId' | 'personalApiKey'>;

function open(url: string, facts: Facts, drop: () => Promise<unknown>): BenchDatabase {
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
      // PostgreSQL can only copy a database that has no connections.
      await close();
      const name = `millrace_bench_${randomUUID().replaceAll('-', '')}`;
      // FILE_COPY makes PostgreSQL copy the files. By default, PostgreSQL writes every page to the WAL, which is faster
      // only for small databases.
      const original = new URL(url).pathname.slice(1);
      await runOnServer(url, `CREATE DATABASE ${name} TEMPLATE ${original} STRATEGY file_copy`);
      return open(withDatabase(url, name), facts, () =>
        runOnServer(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
      );
    },
    async drop() {
      await close();
      await drop();
    },
  };
}

/** Adds a project with one environment for each project API key to the database's organization. */
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
