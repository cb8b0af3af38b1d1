import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate } from '@millrace/db';
import pg from 'pg';
import { testServers } from './test-servers.ts';

export const prismaDirectory = fileURLToPath(new URL('../../prisma', import.meta.url));

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/**
 * Creates an empty database for a test file by cloning a template. Each set of migrations has its own template, which
 * is migrated once.
 * @param isMigrated whether the database has tables
 */
export async function createTestDatabase({ isMigrated = true } = {}): Promise<TestDatabase> {
  const template = isMigrated ? await ensureTemplate() : 'template0';
  const name = `millrace_test_${randomUUID().replaceAll('-', '')}`;
  await withServer(async (client) => {
    // Take a lock, because only one session at a time can clone a template.
    await client.query('SELECT pg_advisory_lock(7316554)');
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  });
  return {
    url: databaseUrl(name),
    drop: () => withServer(async (client) => void (await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))),
  };
}

async function ensureTemplate(): Promise<string> {
  const name = `millrace_template_${migrationsHash()}`;
  await withServer(async (client) => {
    await client.query('SELECT pg_advisory_lock(7316554)');
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1 AND datistemplate', [name]);
    if (rowCount) return;
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${name}`);
    await migrate(databaseUrl(name), prismaDirectory);
    await client.query(`ALTER DATABASE ${name} IS_TEMPLATE true`);
  });
  return name;
}

function migrationsHash(): string {
  const hash = createHash('sha256');
  const migrations = join(prismaDirectory, 'migrations');
  for (const entry of readdirSync(migrations, { withFileTypes: true }).filter((e) => e.isDirectory())) {
    hash.update(entry.name).update(readFileSync(join(migrations, entry.name, 'migration.sql')));
  }
  return hash.digest('hex').slice(0, 12);
}

function databaseUrl(name: string): string {
  const url = new URL(testServers().databaseUrl);
  url.pathname = `/${name}`;
  return url.toString();
}

async function withServer<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: testServers().databaseUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
