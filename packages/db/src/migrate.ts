import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import type { MigrationList, SchemaEngine } from '@prisma/schema-engine-wasm';
import pg from 'pg';
import { loadSchemaEngine } from './load-schema-engine.ts';

const noFilter = { externalTables: [], externalEnums: [] };

/**
 * Applies the migrations that are not in the database yet, in the order of their names, and records them in
 * `_prisma_migrations`. Needs no native engine. Several processes may start it at once: one works, the others wait.
 * Each migration is sent as one script, so PostgreSQL applies it whole or not at all.
 *
 * @param prismaDirectory the repository's `prisma/` folder.
 * @returns names of the migrations applied now.
 */
export async function migrate(databaseUrl: string, prismaDirectory: string): Promise<string[]> {
  return withMigrationLock(databaseUrl, () =>
    withEngine(databaseUrl, prismaDirectory, async (engine) => {
      const migrationsList = await readMigrations(prismaDirectory);
      return (await engine.applyMigrations({ migrationsList, filters: noFilter })).appliedMigrationNames;
    }),
  );
}

/**
 * What would have to change in the migrated database to match `schema.prisma`, as SQL; empty when they agree.
 * @param databaseUrl a database to which all migrations have been applied.
 */
export async function schemaDrift(databaseUrl: string, prismaDirectory: string): Promise<string> {
  const schema = await readSchema(prismaDirectory);
  return withEngine(databaseUrl, prismaDirectory, async (engine) => {
    const { stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files: [schema], configDir: prismaDirectory },
      to: { tag: 'schemaDatamodel', files: [schema] },
      script: true,
      exitCode: null,
      shadowDatabaseUrl: null,
      filters: noFilter,
    } as Parameters<SchemaEngine['diff']>[0]);
    return stdout ?? '';
  });
}

/** Any number; taken by nobody else in this database. */
const migrationLock = 7_316_553;

async function withMigrationLock<T>(databaseUrl: string, work: () => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [migrationLock]);
    return await work();
  } finally {
    await client.end();
  }
}

/** Prisma's adapter for the engine, sending scripts whole: its own cuts them at every `;`, even inside a comment. */
function engineAdapter(pool: pg.Pool) {
  const factory = new PrismaPg(pool);
  const connect = factory.connect.bind(factory);
  factory.connect = async () => {
    const adapter = await connect();
    adapter.executeScript = async (script) => void (await pool.query(script));
    return adapter;
  };
  return bindMigrationAwareSqlAdapterFactory(factory);
}

async function withEngine<T>(
  databaseUrl: string,
  prismaDirectory: string,
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  const schema = await readSchema(prismaDirectory);
  const Engine = await loadSchemaEngine();
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  try {
    const engine = await Engine.new({ datamodels: [[schema.path, schema.content]] }, () => {}, engineAdapter(pool));
    try {
      return await work(engine);
    } finally {
      engine.free();
    }
  } finally {
    await pool.end();
  }
}

async function readSchema(prismaDirectory: string): Promise<{ path: string; content: string }> {
  const path = join(prismaDirectory, 'schema.prisma');
  return { path, content: await readFile(path, 'utf8') };
}

async function readMigrations(prismaDirectory: string): Promise<MigrationList> {
  const baseDir = join(prismaDirectory, 'migrations');
  const entries = await readdir(baseDir, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  const migrationDirectories = await Promise.all(
    names.map(async (path) => ({
      path,
      migrationFile: {
        path: 'migration.sql',
        content: { tag: 'ok' as const, value: await readFile(join(baseDir, path, 'migration.sql'), 'utf8') },
      },
    })),
  );
  return {
    baseDir,
    lockfile: { path: 'migration_lock.toml', content: await readFile(join(baseDir, 'migration_lock.toml'), 'utf8') },
    shadowDbInitScript: '',
    migrationDirectories,
  };
}
