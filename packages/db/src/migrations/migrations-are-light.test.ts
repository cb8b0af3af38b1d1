import { createTestDatabase, eventually, prismaDirectory, type TestDatabase } from '@millrace/testing';
import pg from 'pg';
import { copyPrismaDirectory, type PrismaCopy } from '../testing/prisma-copy.ts';
import { migrate } from './migrate.ts';

/**
 * Checks that no migration blocks a potentially large table for longer than a moment, because services keep running
 * during migrations. If a migration rewrites or checks a table of ten million rows, or builds an index on it, it reads
 * the table completely and blocks it for seconds to minutes. PostgreSQL counts complete reads and shows whether a table
 * was rewritten. Migrations up to the last release are exempt. Update this constant with every release.
 */
const lastReleased = '20261123000000_init';

const tables = [
  'event',
  'event_identity',
  'person',
  'person_distinct_id',
  'group',
  'activity_log',
  'ingestion_warning',
];

let database: TestDatabase;
let prisma: PrismaCopy;

beforeEach(async () => {
  prisma = copyPrismaDirectory(prismaDirectory);
  database = await createTestDatabase({ isMigrated: false });
});
afterEach(async () => {
  await database.drop();
  prisma.remove();
});

/**
 * Returns the large tables that the new migrations in the copy read or write completely, except for indexes that are
 * built concurrently.
 */
async function wholeTables(): Promise<string[]> {
  prisma.leaveOut(prisma.names().filter((name) => prisma.read(name).startsWith('-- concurrently\n')));
  const before = await tableStates();
  await migrate(database.url, prisma.directory);
  const after = await tableStates();
  return Object.keys(after).filter((table) => after[table] !== before[table]);
}

/**
 * Returns how often each table was read completely, and its file, which changes when the table is rewritten. Uses a new
 * connection after all other connections have ended, because the server publishes a connection's counts shortly after
 * the connection has ended.
 */
async function tableStates(): Promise<Record<string, string>> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await eventually(async () => {
      const others = 'SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
      expect((await client.query(others)).rowCount).toBe(0);
    });
    const { rows } = await client.query<{ name: string; state: string }>(
      `SELECT coalesce(parent.relname, own.relname) AS name,
         concat(sum(pg_stat_get_numscans(own.oid)), ' ', string_agg(pg_relation_filenode(own.oid)::text, ' ' ORDER BY own.oid)) AS state
       FROM pg_class own
       LEFT JOIN pg_inherits ON inhrelid = own.oid LEFT JOIN pg_class parent ON parent.oid = inhparent
       WHERE own.relkind IN ('r', 'p') AND coalesce(parent.relname, own.relname) = ANY($1) GROUP BY 1`,
      [tables],
    );
    return Object.fromEntries(rows.map(({ name, state }) => [name, state]));
  } finally {
    await client.end();
  }
}

async function installLastRelease(): Promise<string[]> {
  const all = prisma.names();
  const later = all.slice(all.indexOf(lastReleased) + 1);
  const contents = copyPrismaDirectory(prismaDirectory);
  contents.leaveOut(later);
  await migrate(database.url, contents.directory);
  contents.remove();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(
    `CREATE TABLE event_2026_11 PARTITION OF event FOR VALUES FROM ('2026-11-01T00:00:00Z') TO ('2026-12-01T00:00:00Z')`,
  );
  await client.end();
  return later;
}

test('no migration since the last release reads or rewrites a large table completely', async () => {
  expect(prisma.names()).toContain(lastReleased);
  await installLastRelease();
  expect(Object.keys(await tableStates()).sort()).toEqual([...tables].sort());
  expect(await wholeTables()).toEqual([]);
});

test.each([
  ['an index that blocks writes', 'CREATE INDEX extra ON event (distinct_id)', 'event'],
  [
    'a column whose default differs for each row',
    'ALTER TABLE person ADD COLUMN extra UUID DEFAULT gen_random_uuid()',
    'person',
  ],
  ['another type', 'ALTER TABLE person ALTER COLUMN version TYPE NUMERIC', 'person'],
  ['a check of existing rows', 'ALTER TABLE "group" ADD CONSTRAINT extra CHECK (created_at IS NOT NULL)', 'group'],
  ['a column that becomes NOT NULL', 'ALTER TABLE event ALTER COLUMN person_created_at SET NOT NULL', 'event'],
  ['a change of all rows', 'UPDATE person_distinct_id SET version = version', 'person_distinct_id'],
])('detects %s in a migration', async (_, sql, table) => {
  await installLastRelease();
  prisma.write('29990101000000_next', sql);
  expect(await wholeTables()).toEqual([table]);
});

test.each([
  ['a column without a default', 'ALTER TABLE event ADD COLUMN extra TEXT'],
  ['a column with one default for all rows', `ALTER TABLE person ADD COLUMN extra TEXT NOT NULL DEFAULT 'none'`],
  ['a check of new rows only', 'ALTER TABLE event_identity ADD CONSTRAINT extra CHECK (uuid IS NOT NULL) NOT VALID'],
  ['a new table', 'CREATE TABLE extra (id INT PRIMARY KEY)'],
])('allows %s in a migration', async (_, sql) => {
  await installLastRelease();
  prisma.write('29990101000000_next', sql);
  expect(await wholeTables()).toEqual([]);
});
