import { createTestDatabase, eventually, prismaDirectory, type TestDatabase } from '@millrace/testing';
import pg from 'pg';
import { copyOfPrisma, type PrismaCopy } from '../testing/prisma-copy.ts';
import { migrate } from './migrate.ts';

const impatient = { waitMs: 50, pauseMs: 50, giveUpMs: 200 };
const patient = { waitMs: 50, pauseMs: 50, giveUpMs: 120_000 };

let database: TestDatabase;
let clients: pg.Client[];
let prisma: PrismaCopy;

beforeEach(async () => {
  clients = [];
  prisma = copyOfPrisma(prismaDirectory);
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

describe('a migration of a table that is in use', () => {
  test('steps back, so that others are served, and is applied once the table is free', async () => {
    const holder = await connect();
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM person');
    prisma.write(next, addColumn);

    const migrated = migrate(database.url, prisma.directory, patient);
    const watcher = await connect();
    await eventually(async () => (await watcher.query('SELECT 1 FROM pg_locks WHERE NOT granted')).rows.length > 0, {
      what: 'The wait for the table',
    });
    // Behind one that waits for the table alone, nobody else gets it.
    await watcher.query('SELECT 1 FROM person');
    await watcher.query(`INSERT INTO activity_log SELECT * FROM activity_log`);

    await holder.query('COMMIT');
    expect(await migrated).toEqual([next]);
  });

  test('fails after a while with who is in the way, keeps nothing, and succeeds later', async () => {
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

describe('an index that is built concurrently', () => {
  const index = '-- concurrently\nCREATE INDEX CONCURRENTLY "person_extra" ON "person" ("version");\n';
  const isValid = async (client: pg.Client) => {
    const { rows } = await client.query(
      `SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('person_extra')`,
    );
    return rows.map(({ indisvalid }) => indisvalid);
  };

  test('waits for open transactions, keeps nobody from writing, and lets a second process wait', async () => {
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

  test('takes the place of what an interrupted attempt left', async () => {
    const client = await connect();
    await client.query('CREATE INDEX "person_extra" ON "person" ("version")');
    await client.query(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'person_extra'::regclass`);
    prisma.write(next, index);

    expect(await migrate(database.url, prisma.directory)).toEqual([next]);
    expect(await isValid(client)).toEqual([true]);
  });

  test('has a name, or the migration is refused', async () => {
    prisma.write(next, '-- concurrently\nSELECT 1;');
    await expect(migrate(database.url, prisma.directory)).rejects.toThrow('CREATE INDEX CONCURRENTLY');
  });
});
