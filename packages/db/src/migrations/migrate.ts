import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, isAppError } from '@millrace/runtime';
import type { MigrationList, SchemaEngine } from '@prisma/schema-engine-wasm';
import pg from 'pg';
import { connectionConfig } from '../connection-config.ts';
import { endConnection, limitGoodByes } from '../pg-internals/end-connection.ts';
import { applyScript, type LockPatience, usualLockPatience } from './apply-script.ts';
import { loadSchemaEngine, schemaEngineAdapter } from './schema-engine.ts';

export const noFilter = { externalTables: [], externalEnums: [] };

/**
 * Applies the migrations that are not in the database yet, in the order of their names, and records them in
 * `_prisma_migrations`. Needs no native engine. Several processes may start it at once: one works, the others wait.
 *
 * Each migration is sent as one script together with its record, so PostgreSQL keeps both or neither: a process killed
 * in the middle leaves nothing that a later run could not go on from. It gives way to services that are running: see
 * `applyScript`.
 *
 * @param prismaDirectory the repository's `prisma/` folder.
 * @returns names of the migrations applied now.
 * @throws AppError `internal` naming the migration that failed, with PostgreSQL's error as its cause, `conflict` when a table
 * it changes was in use all the time; the migrations before it stay applied. `conflict` with the code `older_database` when
 * the tables are those of a build before the first release.
 */
export async function migrate(
  databaseUrl: string,
  prismaDirectory: string,
  lockPatience: LockPatience = usualLockPatience,
): Promise<string[]> {
  return withMigrationLock(databaseUrl, async (client) => {
    const migrationsList = await readMigrations(prismaDirectory);
    await forgetInterrupted(client);
    if (await hasAll(client, migrationsList)) return [];
    let scriptError: unknown;
    const applied = withEngine(
      databaseUrl,
      prismaDirectory,
      async (engine) => (await engine.applyMigrations({ migrationsList, filters: noFilter })).appliedMigrationNames,
      async (pool, script) => {
        try {
          await applyScript(pool, script, lockPatience);
        } catch (error) {
          scriptError = error;
          throw error;
        }
      },
    );
    try {
      return await applied;
    } catch (error) {
      // The engine knows only that "an external error" happened.
      throw scriptError === undefined ? error : await migrationFailed(client, scriptError);
    }
  });
}

/** Any number that nothing else in this database uses. */
const migrationLock = 7_316_553;

async function withMigrationLock<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(connectionOfHours(databaseUrl));
  // Without a listener an error while the script runs would end the process. The script's own connection tells what happened.
  client.on('error', () => {});
  await client.connect();
  try {
    // Asked again and again: to wait in PostgreSQL is an open transaction, and an index that is built beside those who
    // write waits for all of them, while they would wait for it.
    while (!(await tryLock(client))) await sleep(250);
    return await work(client);
  } finally {
    await endConnection(client);
  }
}

/** A script may take hours, in which the network between must not forget the connections that wait for it. */
function connectionOfHours(databaseUrl: string): pg.ClientConfig {
  return { ...connectionConfig(databaseUrl), keepAlive: true, keepAliveInitialDelayMillis: 10_000 };
}

async function tryLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS locked', [migrationLock]);
  return rows[0]?.locked === true;
}

/** A record without an end belongs to a script that PostgreSQL rolled back; the engine would wait for a person forever. */
async function forgetInterrupted(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`SELECT to_regclass('_prisma_migrations') AS found`);
  if (rows[0]?.found === null) return;
  await client.query(
    `UPDATE "_prisma_migrations" SET "rolled_back_at" = now() WHERE "finished_at" IS NULL AND "rolled_back_at" IS NULL`,
  );
}

/**
 * Whether nothing is left to do, as at most starts: reading the engine in takes 80 MB and most of a second.
 * @throws AppError until the first release the first migration is edited in place, so a database that holds another text of
 * it, or none, cannot be brought up to date.
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

export async function withEngine<T>(
  databaseUrl: string,
  prismaDirectory: string,
  work: (engine: SchemaEngine) => Promise<T>,
  executeScript = async (pool: pg.Pool, script: string) => void (await pool.query(script)),
): Promise<T> {
  const schema = await readSchema(prismaDirectory);
  const Engine = await loadSchemaEngine();
  const pool = new pg.Pool({ ...connectionOfHours(databaseUrl), max: 1 });
  pool.on('error', () => {});
  limitGoodByes(pool);
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

export async function readSchema(prismaDirectory: string): Promise<{ path: string; content: string }> {
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
