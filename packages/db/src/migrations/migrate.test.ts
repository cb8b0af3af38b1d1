import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  createTestDatabase,
  eventually,
  prismaDirectory,
  type TestDatabase,
  typeScriptProcess,
} from '@millrace/testing';
import pg from 'pg';
import { copyPrismaDirectory, type PrismaCopy } from '../testing/prisma-copy.ts';
import { computeSchemaDrift } from '../testing/schema-drift.ts';
import { migrate } from './migrate.ts';

const firstMigration = '20261123000000_init';

let database: TestDatabase;
let client: pg.Client;
let prisma: PrismaCopy;

beforeEach(() => {
  prisma = copyPrismaDirectory(prismaDirectory);
});
afterEach(async () => {
  await client.end();
  await database.drop();
  prisma.remove();
});

async function open({ isMigrated }: { isMigrated: boolean }): Promise<void> {
  database = await createTestDatabase({ isMigrated });
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
}

async function runScript(script: string, prismaDirectory: string): Promise<string> {
  const args = [...typeScriptProcess.options, '--input-type=module', '-e', script, database.url, prismaDirectory];
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  return (await promisify(execFile)(process.execPath, args, { cwd, env: typeScriptProcess.env })).stdout;
}

const exists = async (table: string) =>
  (await client.query('SELECT to_regclass($1) IS NOT NULL AS exists', [table])).rows[0].exists as boolean;

describe('migrate', () => {
  test('migrates an empty database, and does nothing the second time', async () => {
    await open({ isMigrated: false });
    expect(await migrate(database.url, prismaDirectory)).toContain(firstMigration);
    expect(await exists('event')).toBe(true);
    expect(await migrate(database.url, prismaDirectory)).toEqual([]);
  });

  test('migrates once when several processes start at the same time, and all of them exit', async () => {
    await open({ isMigrated: false });
    const script = `import { migrate } from './src/migrations/migrate.ts';
      const applied = await migrate(process.argv[1], process.argv[2]);
      console.log(JSON.stringify({ applied, remaining: process.getActiveResourcesInfo() }));`;
    const outcomes = (await Promise.all([1, 2, 3].map(() => runScript(script, prismaDirectory)))).map(
      (stdout) => JSON.parse(stdout) as { applied: string[]; remaining: string[] },
    );

    expect(outcomes.filter(({ applied }) => applied.includes(firstMigration))).toHaveLength(1);
    expect(outcomes.filter(({ applied }) => applied.length === 0)).toHaveLength(2);
    for (const { remaining } of outcomes) expect(remaining).not.toContain('Timeout');
    const { rows } = await client.query('SELECT migration_name FROM _prisma_migrations WHERE migration_name = $1', [
      firstMigration,
    ]);
    expect(rows).toHaveLength(1);
  });

  test('a second process does not treat a running migration as interrupted', async () => {
    await open({ isMigrated: true });
    prisma.write('29990101000000_next', 'CREATE TABLE slow (id int); SELECT pg_sleep(2)');
    const first = migrate(database.url, prisma.directory);
    await eventually(
      async () =>
        (await client.query(`SELECT 1 FROM _prisma_migrations WHERE migration_name LIKE '2999%'`)).rows.length > 0,
      { what: 'The start of the slow migration' },
    );

    expect(await Promise.all([first, migrate(database.url, prisma.directory)])).toEqual([['29990101000000_next'], []]);
  });

  test('a migration reports the cause when PostgreSQL terminates all its connections', async () => {
    await open({ isMigrated: true });
    prisma.write('29990101000000_next', 'CREATE TABLE slow (id int); SELECT pg_sleep(60)');
    const script = `import { migrate } from './src/migrations/migrate.ts';
      console.log(await migrate(process.argv[1], process.argv[2]).catch((error) => error.message));`;
    const failing = runScript(script, prisma.directory);
    await eventually(
      async () =>
        (await client.query(`SELECT 1 FROM pg_stat_activity WHERE query LIKE '%slow%' AND wait_event = 'PgSleep'`)).rows
          .length > 0,
      { what: 'The start of the slow migration' },
    );
    await client.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    expect(await failing).toMatch(/failed: terminating connection due to administrator command/);
  });

  test('names a failed migration, rolls back its changes, and continues once the script is corrected', async () => {
    await open({ isMigrated: false });
    prisma.write('29990101000000_next', 'CREATE TABLE half (id int);\nSELECT 1/0; -- never');

    await expect(migrate(database.url, prisma.directory)).rejects.toMatchObject({
      name: 'AppError',
      message: 'Migration 29990101000000_next failed: division by zero',
      cause: { code: '22012' },
    });
    expect(await exists('event')).toBe(true);
    expect(await exists('half')).toBe(false);

    prisma.write('29990101000000_next', 'CREATE TABLE half (id int)');
    expect(await migrate(database.url, prisma.directory)).toEqual(['29990101000000_next']);
    expect(await exists('half')).toBe(true);
  });

  test('continues after a process that crashed before its script was committed', async () => {
    await open({ isMigrated: true });
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ('x', 'y', '29990101000000_next')`,
    );
    prisma.write('29990101000000_next', 'CREATE TABLE whole (id int)');

    expect(await migrate(database.url, prisma.directory)).toEqual(['29990101000000_next']);
    expect(await exists('whole')).toBe(true);
  });

  test('continues after a process that crashed right after its script was committed', async () => {
    await open({ isMigrated: true });
    // The update that follows the script fails, as if the process had crashed at that point.
    prisma.write(
      '29990101000000_next',
      `CREATE TABLE whole (id int);
       CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'too late'; END $$;
       CREATE TRIGGER refuse BEFORE UPDATE OF applied_steps_count ON _prisma_migrations
         FOR EACH ROW WHEN (NEW.migration_name LIKE '2999%') EXECUTE FUNCTION refuse();`,
    );
    await expect(migrate(database.url, prisma.directory)).rejects.toThrow('too late');
    expect(await exists('whole')).toBe(true);
    await client.query('DROP TRIGGER refuse ON _prisma_migrations');

    expect(await migrate(database.url, prisma.directory)).toEqual([]);
  });
});

describe('migrating a pre-release database', () => {
  test.each([
    ['with its old migrations', `UPDATE _prisma_migrations SET migration_name = '20261121000000_first_landing'`],
    ['with a different first migration', `UPDATE _prisma_migrations SET checksum = 'of another text'`],
  ])('rejects a pre-release database and leaves it unchanged: %s', async (_, change) => {
    await open({ isMigrated: true });
    await client.query(change);
    prisma.write('29990101000000_next', 'CREATE TABLE next (id int)');
    await expect(migrate(database.url, prisma.directory)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'older_database',
      message: expect.stringContaining('Use an empty database.'),
    });
    expect(await exists('next')).toBe(false);
  });

  test('accepts a database that a newer version has migrated further', async () => {
    await open({ isMigrated: true });
    prisma.write('29990101000000_next', 'CREATE TABLE next (id int)');
    await migrate(database.url, prisma.directory);
    expect(await migrate(database.url, prismaDirectory)).toEqual([]);
  });
});

describe('the schema of the Prisma client', () => {
  beforeEach(() => open({ isMigrated: true }));

  test('the schema matches the migrations, even with additional event partitions', async () => {
    await client.query(
      `CREATE TABLE event_2026_01 PARTITION OF event FOR VALUES FROM ('2026-01-01T00:00:00Z') TO ('2026-02-01T00:00:00Z')`,
    );
    expect(await computeSchemaDrift(database.url, prismaDirectory)).toBe('');
  });

  test('the schema drift lists everything that only the migrations define', async () => {
    await client.query(
      `ALTER TABLE person ADD COLUMN of_person TEXT;
       ALTER TABLE event ADD COLUMN of_event TEXT;
       CREATE INDEX an_index ON person (main_distinct_id);
       ALTER TABLE person ALTER COLUMN version TYPE INTEGER;
       ALTER TABLE environment ALTER COLUMN id DROP DEFAULT`,
    );
    const drift = await computeSchemaDrift(database.url, prismaDirectory);
    for (const found of ['"of_person"', '"of_event"', '"an_index"', '"version"', '"environment"'])
      expect(drift).toContain(found);
  });

  test('the schema drift lists a column that only the schema defines', async () => {
    const file = join(prisma.directory, 'schema.prisma');
    writeFileSync(file, readFileSync(file, 'utf8').replace('model event {', 'model event {\n  extra String?'));
    expect(await computeSchemaDrift(database.url, prisma.directory)).toMatch(/ALTER TABLE "event".*"extra"/s);
  });
});
