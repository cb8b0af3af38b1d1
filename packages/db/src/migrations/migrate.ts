import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, isAppError } from '@millrace/runtime';
import type { MigrationList, SchemaEngine } from '@prisma/schema-engine-wasm';
import pg from 'pg';
import { toClientConfig } from '../connection-config.ts';
import { endConnection, limitDisconnectTime } from '../pg-internals/end-connection.ts';
import { createSqlRole } from '../sql-role.ts';
import { applyMigrationScript, defaultLockTimeouts, type LockTimeouts } from './apply-script.ts';
import { loadSchemaEngine, schemaEngineAdapter } from './schema-engine.ts';

export const noSchemaFilter = { externalTables: [], externalEnums: [] };

/**
 * Applies the migrations that the database does not have yet, in the order of their names, and records them in
 * `_prisma_migrations`. Does not need a native engine.
 *
 * Several processes can call this function at the same time: one process applies the migrations while the other
 * processes wait. Each migration is sent as one script together with its record. PostgreSQL therefore commits both or
 * neither, and a new run can continue after a process was killed. Migrations do not block running services (see
 * `applyMigrationScript`).
 *
 * @param prismaDirectory the repository's `prisma/` folder
 * @returns the names of the migrations that this call applied
 * @throws AppError `internal` that names the failed migration, with PostgreSQL's error as its cause, or `conflict` if a
 * table stayed in use for too long. Migrations that were already applied remain. `conflict` with the code
 * `older_database` if a pre-release version created the database.
 */
export async function migrate(
  databaseUrl: string,
  prismaDirectory: string,
  lockPatience: LockTimeouts = defaultLockTimeouts,
): Promise<string[]> {
  return withMigrationLock(databaseUrl, async (client) => {
    const migrationsList = await readMigrations(prismaDirectory);
    await forgetInterrupted(client);
    if (await hasAll(client, migrationsList)) {
      await createSqlRole(client);
      return [];
    }
    let scriptError: unknown;
    const applied = withSchemaEngine(
      databaseUrl,
      prismaDirectory,
      async (engine) =>
        (await engine.applyMigrations({ migrationsList, filters: noSchemaFilter })).appliedMigrationNames,
      async (pool, script) => {
        try {
          await applyMigrationScript(pool, script, lockPatience);
        } catch (error) {
          scriptError = error;
          throw error;
        }
      },
    );
    try {
      const names = await applied;
      await createSqlRole(client);
      return names;
    } catch (error) {
      // The engine reports only "an external error", so throw the script's error instead.
      throw scriptError === undefined ? error : await migrationFailed(client, scriptError);
    }
  });
}

/** An arbitrary advisory lock ID that is not otherwise used in this database. */
const migrationLock = 7_316_553;

async function withMigrationLock<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(connectionOfHours(databaseUrl));
  // Without a listener, a connection error while the script runs would crash the process. The connection that runs the
  // script reports the error.
  client.on('error', () => {});
  await client.connect();
  try {
    // Poll instead of waiting in PostgreSQL. A waiting query would be an open transaction, and building an index
    // concurrently waits for all open transactions, so they would deadlock.
    while (!(await tryLock(client))) await sleep(250);
    return await work(client);
  } finally {
    await endConnection(client);
  }
}

/**
 * Returns the settings of a connection that can be idle for hours while a script runs. Keepalive prevents the network
 * from closing the connection.
 */
function connectionOfHours(databaseUrl: string): pg.ClientConfig {
  return { ...toClientConfig(databaseUrl), keepAlive: true, keepAliveInitialDelayMillis: 10_000 };
}

async function tryLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS locked', [migrationLock]);
  return rows[0]?.locked === true;
}

/**
 * Marks migrations without an end time as rolled back, because PostgreSQL rolled back their scripts. If they were not
 * marked, the engine would refuse to continue until an operator changes the records.
 */
async function forgetInterrupted(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`SELECT to_regclass('_prisma_migrations') AS found`);
  if (rows[0]?.found === null) return;
  await client.query(
    `UPDATE "_prisma_migrations" SET "rolled_back_at" = now() WHERE "finished_at" IS NULL AND "rolled_back_at" IS NULL`,
  );
}

/**
 * Returns whether all migrations are already applied, as they are at most starts. This check does not load the engine,
 * which takes 80 MB and almost a second.
 * @throws AppError if the first migration is missing or has a different text. Until the first release, the first
 * migration is edited in place, so databases with a former version of it cannot be upgraded.
 */
async function hasAll(client: pg.Client, { migrationDirectories }: MigrationList): Promise<boolean> {
  const [first] = migrationDirectories;
  const { rows: tables } = await client.query(`SELECT to_regclass('_prisma_migrations') AS found`);
  if (tables[0]?.found === null || first?.migrationFile.content.tag !== 'ok') return false;
  const checksum = createHash('sha256').update(first.migrationFile.content.value).digest('hex');
  const { rows } = await client.query<{ name: string; checksum: string }>(
    `SELECT "migration_name" AS name, "checksum" FROM "_prisma_migrations" WHERE "finished_at" IS NOT NULL ORDER BY "started_at"`,
  );
  if (rows.length === 0) return false;
  if (rows.some((row) => row.name === first.path && row.checksum === checksum)) {
    return migrationDirectories.every(({ path }) => rows.some(({ name }) => name === path));
  }
  throw new AppError(
    'conflict',
    'This database was created by a pre-release version of Millrace and cannot be upgraded. Use an empty database.',
    { code: 'older_database' },
  );
}

async function migrationFailed(client: pg.Client, cause: unknown): Promise<AppError> {
  const name = await unfinishedMigration(client).catch(() => undefined);
  const reason = cause instanceof Error ? cause.message : String(cause);
  const kind = isAppError(cause) ? cause.kind : 'internal';
  return new AppError(kind, `${name === undefined ? 'A migration' : `Migration ${name}`} failed: ${reason}`, { cause });
}

async function unfinishedMigration(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query(
    `SELECT "migration_name" AS name FROM "_prisma_migrations" WHERE "finished_at" IS NULL AND "rolled_back_at" IS NULL`,
  );
  return rows[0]?.name;
}

export async function withSchemaEngine<T>(
  databaseUrl: string,
  prismaDirectory: string,
  work: (engine: SchemaEngine) => Promise<T>,
  executeScript = async (pool: pg.Pool, script: string) => void (await pool.query(script)),
): Promise<T> {
  const schema = await readPrismaSchema(prismaDirectory);
  const Engine = await loadSchemaEngine();
  const pool = new pg.Pool({ ...connectionOfHours(databaseUrl), max: 1 });
  pool.on('error', () => {});
  limitDisconnectTime(pool);
  const adapter = schemaEngineAdapter(pool, (script) => executeScript(pool, script));
  try {
    const engine = await Engine.new({ datamodels: [[schema.path, schema.content]] }, () => {}, adapter);
    try {
      return await work(engine);
    } finally {
      engine.free();
    }
  } finally {
    await pool.end();
  }
}

export async function readPrismaSchema(prismaDirectory: string): Promise<{ path: string; content: string }> {
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
