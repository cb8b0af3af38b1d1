import { createTestDatabase, eventually, prismaDirectory, type TestDatabase } from '@millrace/testing';
import pg from 'pg';
import { copyPrismaDirectory, type PrismaCopy } from '../testing/prisma-copy.ts';
import { migrate } from './migrate.ts';

const impatient = { waitMs: 50, pauseMs: 50, giveUpMs: 200 };
const patient = { waitMs: 50, pauseMs: 50, giveUpMs: 120_000 };

let database: TestDatabase;
let clients: pg.Client[];
let prisma: PrismaCopy;

beforeEach(async () => {
  clients = [];
  prisma = copyPrismaDirectory(prismaDirectory);
  database = await createTestDatabase();
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.end()));
  await database.drop();
  prisma.remove();
});

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url });
  clients.push(client);
  await client.connect();
  return client;
}

const next = '29990101000000_next';
const addColumn = 'ALTER TABLE person ADD COLUMN extra TEXT';

describe('migrating a table that is in use', () => {
  test('a waiting migration lets other queries run, and is applied once when the table is free', async () => {
    const holder = await connect();
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM person');
    prisma.write(next, addColumn);

    const migrated = migrate(database.url, prisma.directory, patient);
    const watcher = await connect();
    await eventually(async () => (await watcher.query('SELECT 1 FROM pg_locks WHERE NOT granted')).rows.length > 0, {
      what: 'The wait for the table',
    });
    // A statement that waits for a lock on the table blocks the queries behind it. This query therefore runs only when
    // the migration backs off.
    await watcher.query('SELECT 1 FROM person');
    await watcher.query(`INSERT INTO activity_log SELECT * FROM activity_log`);

    await holder.query('COMMIT');
    expect(await migrated).toEqual([next]);
  });

  test('a migration that times out names the blocking transaction, and succeeds once the table is free', async () => {
    const holder = await connect();
    await holder.query(`SET application_name = 'long report'`);
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM person');
    prisma.write(next, `CREATE TABLE half (id int); ${addColumn}`);

    await expect(migrate(database.url, prisma.directory, impatient)).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringMatching(/29990101000000_next failed: .*in use.*long report, idle in transaction/s),
    });
    const { rows } = await holder.query(`SELECT to_regclass('half') AS half`);
    expect(rows).toEqual([{ half: null }]);
    await holder.query('ROLLBACK');
    expect(await migrate(database.url, prisma.directory, impatient)).toEqual([next]);
  });
});

describe('building an index concurrently', () => {
  const index = '-- concurrently\nCREATE INDEX CONCURRENTLY "person_extra" ON "person" ("version");\n';
  const isValid = async (client: pg.Client) => {
    const { rows } = await client.query(
      `SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('person_extra')`,
    );
    return rows.map(({ indisvalid }) => indisvalid);
  };

  test('building an index waits for open transactions without blocking writes, and a second process waits', async () => {
    const holder = await connect();
    await holder.query('BEGIN');
    await holder.query('UPDATE person SET version = version');
    prisma.write(next, index);

    const both = [1, 2].map(() => migrate(database.url, prisma.directory, impatient));
    const writer = await connect();
    await eventually(async () => (await isValid(writer)).length > 0, { what: 'The begun index' });
    await writer.query('UPDATE person SET version = version');
    expect(await isValid(writer)).toEqual([false]);

    await holder.query('COMMIT');
    expect((await Promise.all(both)).flat()).toEqual([next]);
    expect(await isValid(writer)).toEqual([true]);
  });

  test('a migration replaces the incomplete index of an interrupted attempt', async () => {
    const client = await connect();
    await client.query('CREATE INDEX "person_extra" ON "person" ("version")');
    await client.query(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'person_extra'::regclass`);
    prisma.write(next, index);

    expect(await migrate(database.url, prisma.directory)).toEqual([next]);
    expect(await isValid(client)).toEqual([true]);
  });

  test('a migration keeps an index that is already complete', async () => {
    const client = await connect();
    await client.query('CREATE INDEX "person_extra" ON "person" ("version")');
    const { rows: before } = await client.query(`SELECT 'person_extra'::regclass::oid AS oid`);
    prisma.write(next, index);

    expect(await migrate(database.url, prisma.directory)).toEqual([next]);
    const { rows: after } = await client.query(`SELECT 'person_extra'::regclass::oid AS oid`);
    expect(after).toEqual(before);
  });

  test('rejects a concurrent index statement that names no index or table', async () => {
    prisma.write(next, '-- concurrently\nSELECT 1;');
    await expect(migrate(database.url, prisma.directory)).rejects.toThrow('CREATE INDEX CONCURRENTLY');
  });
});

describe('building an index concurrently on a partitioned table', () => {
  const index = '-- concurrently\nCREATE INDEX CONCURRENTLY "event_extra" ON "event" USING BRIN ("captured_at");\n';
  const addMonth = (client: pg.Client, month: number) =>
    client.query(
      `CREATE TABLE event_2026_${month} PARTITION OF event FOR VALUES FROM ('2026-${month}-01Z') TO ('2026-${month + 1}-01Z')`,
    );
  const addEvent = (client: pg.Client) =>
    client.query(`INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
      VALUES (1, '2026-10-05Z', gen_random_uuid(), 'e', 'd', gen_random_uuid(), '{}', now())`);
  const indexes = async (client: pg.Client): Promise<Record<string, boolean>> => {
    const { rows } = await client.query(
      `SELECT relname AS name, indisvalid AS valid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
       WHERE relname ~ '^event.*_extra$' ORDER BY 1`,
    );
    return Object.fromEntries(rows.map(({ name, valid }) => [name, valid]));
  };
  const whole = { event_2026_10_extra: true, event_before_2015_extra: true, event_extra: true };

  test('building the index on a partitioned table does not block writes', async () => {
    const holder = await connect();
    await addMonth(holder, 10);
    await addEvent(holder);
    await holder.query('BEGIN');
    await holder.query('UPDATE event_2026_10 SET event = event');
    prisma.write(next, index);

    const migrated = migrate(database.url, prisma.directory, impatient);
    const writer = await connect();
    await eventually(async () => 'event_2026_10_extra' in (await indexes(writer)), { what: 'The begun index' });
    await addEvent(writer);
    expect(await indexes(writer)).toEqual({ event_2026_10_extra: false, event_extra: false });

    await holder.query('COMMIT');
    expect(await migrated).toEqual([next]);
    expect(await indexes(writer)).toEqual(whole);
  });

  test('the migration fails with a conflict while the partitioned table is locked', async () => {
    const holder = await connect();
    await holder.query('BEGIN; LOCK TABLE event IN ROW EXCLUSIVE MODE');
    prisma.write(next, index);

    await expect(migrate(database.url, prisma.directory, impatient)).rejects.toMatchObject({ kind: 'conflict' });
    await holder.query('ROLLBACK');
    expect(await migrate(database.url, prisma.directory, impatient)).toEqual([next]);
  });

  test('completes the index after an interrupted attempt, including on months that were added since then', async () => {
    const client = await connect();
    await addMonth(client, 10);
    await client.query('CREATE INDEX "event_extra" ON ONLY "event" USING BRIN ("captured_at")');
    await client.query('CREATE INDEX "event_2026_10_extra" ON "event_2026_10" USING BRIN ("captured_at")');
    await client.query(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'event_2026_10_extra'::regclass`);
    await addMonth(client, 11);
    prisma.write(next, index);

    expect(await migrate(database.url, prisma.directory)).toEqual([next]);
    expect(await indexes(client)).toEqual(whole);
    const { rows } = await client.query(
      `SELECT count(*)::int AS attached FROM pg_inherits WHERE inhparent = 'event_extra'::regclass`,
    );
    expect(rows).toEqual([{ attached: 3 }]);
  });
});
