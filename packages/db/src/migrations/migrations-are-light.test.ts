import { createTestDatabase, eventually, prismaDirectory, type TestDatabase } from '@millrace/testing';
import pg from 'pg';
import { copyOfPrisma, type PrismaCopy } from '../testing/prisma-copy.ts';
import { migrate } from './migrate.ts';

/**
 * Services run while a database is migrated, so no migration may keep a table that can be large for longer than a moment.
 * One that reads such a table as a whole, to rewrite it, to check it or to build an index, holds it for that long: with ten
 * million rows seconds to minutes. PostgreSQL counts such readings, and shows that a table has been rewritten.
 *
 * Everything that an installation of the last release has is exempt: move this on with every release.
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
  prisma = copyOfPrisma(prismaDirectory);
  database = await createTestDatabase({ isMigrated: false });
});
afterEach(async () => {
  await database.drop();
  prisma.remove();
});

/**
 * Which large tables are read or written as a whole by the migrations of the copy that the database does not have yet, but for
 * indexes that are built beside those who write.
 */
async function wholeTables(): Promise<string[]> {
  prisma.leaveOut(prisma.names().filter((name) => prisma.read(name).startsWith('-- concurrently\n')));
  const before = await tableStates();
  await migrate(database.url, prisma.directory);
  const after = await tableStates();
  return Object.keys(after).filter((table) => after[table] !== before[table]);
}

/**
 * How often each table was read as a whole, and the files it is in: a table that is rewritten gets new ones. Asked by one who
 * was not connected before, since what is counted in a connection is known to all once it has ended: the server ends it after
 * the client has gone.
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
  const contents = copyOfPrisma(prismaDirectory);
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

test('no migration since the last release reads or writes a large table as a whole', async () => {
  expect(prisma.names()).toContain(lastReleased);
  await installLastRelease();
  expect(Object.keys(await tableStates()).sort()).toEqual([...tables].sort());
  expect(await wholeTables()).toEqual([]);
});

test.each([
  ['an index that keeps writers out', 'CREATE INDEX extra ON event (distinct_id)', 'event'],
  [
    'a column whose default is another for each row',
    'ALTER TABLE person ADD COLUMN extra UUID DEFAULT gen_random_uuid()',
    'person',
  ],
  ['another type', 'ALTER TABLE person ALTER COLUMN version TYPE NUMERIC', 'person'],
  ['a check of what is stored', 'ALTER TABLE "group" ADD CONSTRAINT extra CHECK (created_at IS NOT NULL)', 'group'],
  ['a column that may not be null any more', 'ALTER TABLE event ALTER COLUMN person_created_at SET NOT NULL', 'event'],
  ['a change of all rows', 'UPDATE person_distinct_id SET version = version', 'person_distinct_id'],
])('%s is found', async (_, sql, table) => {
  await installLastRelease();
  prisma.write('29990101000000_next', sql);
  expect(await wholeTables()).toEqual([table]);
});

test.each([
  ['a column without a default', 'ALTER TABLE event ADD COLUMN extra TEXT'],
  ['a column with one default for all', `ALTER TABLE person ADD COLUMN extra TEXT NOT NULL DEFAULT 'none'`],
  ['a check of what comes', 'ALTER TABLE event_identity ADD CONSTRAINT extra CHECK (uuid IS NOT NULL) NOT VALID'],
  ['a new table', 'CREATE TABLE extra (id INT PRIMARY KEY)'],
])('%s is light', async (_, sql) => {
  await installLastRelease();
  prisma.write('29990101000000_next', sql);
  expect(await wholeTables()).toEqual([]);
});
