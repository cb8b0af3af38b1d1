import { createDatabase, type Database } from '@millrace/db';
import type { Sql, Transaction } from '@millrace/db/sql';
import { eventually } from '@millrace/testing';
import { type ConsumerFixture, createConsumerFixture } from '../testing/consumer-fixture.ts';
import { watchedDatabase } from '../testing/watched-database.ts';
import { createEventPartitions } from './partitions.ts';
import { createMonthPartition, findMonth, type Month } from './store.ts';

let fixture: ConsumerFixture;
beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());

const at = (iso: string) => Date.parse(iso);

async function partitions(): Promise<string[]> {
  const rows = await fixture.database.sql.query<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'event'::regclass ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

describe('findMonth', () => {
  test.each([
    ['2014-12-31T23:59:59.999Z', null],
    ['0001-01-01T00:00:00.000Z', null],
    ['2015-01-01T00:00:00.000Z', 'event_2015_01'],
    ['2024-02-29T23:59:59.999Z', 'event_2024_02'],
    ['2026-12-31T23:59:59.999Z', 'event_2026_12'],
    ['2027-01-01T00:00:00.000Z', 'event_2027_01'],
  ])('the time %s is in the month of %s', (iso, table) => {
    expect(findMonth(at(iso))?.table ?? null).toBe(table);
  });

  test('a month ends when the next one starts', () => {
    expect(findMonth(at('2026-12-15T00:00:00Z'))).toMatchObject({
      fromMs: at('2026-12-01T00:00:00Z'),
      toMs: at('2027-01-01T00:00:00Z'),
    });
  });
});

test('concurrent processes create each monthly partition once', async () => {
  const pools = Array.from({ length: 4 }, () =>
    createDatabase({ url: fixture.url, logger: fixture.logger, poolSize: 1 }),
  );
  const times = ['2020-01-31T23:59:59.999Z', '2020-02-01T00:00:00Z', '2020-03-10T00:00:00Z', '2012-05-05T00:00:00Z'];
  await Promise.all(pools.map((pool) => createEventPartitions(pool).ensure(times.map(at))));
  await Promise.all(pools.map((pool) => pool.stop()));
  expect((await partitions()).filter((name) => name.startsWith('event_2020'))).toEqual([
    'event_2020_01',
    'event_2020_02',
    'event_2020_03',
  ]);
});

test('stores rows in the partition of their month, and rejects a row whose month has no partition', async () => {
  await createEventPartitions(fixture.database).ensure([at('2021-06-01T00:00:00Z')]);
  const insert = (iso: string) =>
    fixture.database.sql.query(
      `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
       VALUES (1, $1, gen_random_uuid(), 'e', 'd', gen_random_uuid(), '{}', now())`,
      [iso],
    );
  await insert('2021-06-01T00:00:00.000Z');
  await insert('2021-06-30T23:59:59.999Z');
  await insert('2003-01-01T00:00:00.000Z');
  await expect(insert('2021-07-01T00:00:00.000Z')).rejects.toMatchObject({ code: '23514' });
  const rows = await fixture.database.sql.query(
    'SELECT tableoid::regclass::text AS t, count(*)::int AS n FROM event GROUP BY 1 ORDER BY 1',
  );
  expect(rows).toEqual([
    { t: 'event_2021_06', n: 2 },
    { t: 'event_before_2015', n: 1 },
  ]);
});

test('sends no SQL for a month whose partition is cached', async () => {
  let looks = 0;
  const database = watchedDatabase(fixture.database, (text) => {
    if (text.includes('pg_advisory_xact_lock')) looks += 1;
  });
  const known = createEventPartitions(database);
  await known.ensure([at('2019-01-01T00:00:00Z'), at('2019-01-02T00:00:00Z')]);
  await known.ensure([at('2019-01-03T00:00:00Z')]);
  expect(looks).toBe(1);
});

describe("a database session that reads the list of partitions while a month's partition is attached", () => {
  let pool: Database;
  let session: Sql;
  beforeEach(async () => {
    pool = createDatabase({ url: fixture.url, logger: fixture.logger, poolSize: 1 });
    session = pool.sql;
    // The session has cached the catalogs and the definition of the table, but not the list of partitions.
    await session.query('CREATE TEMPORARY TABLE other (n int) PARTITION BY RANGE (n)');
    await session.query('CREATE TEMPORARY TABLE other_1 PARTITION OF other FOR VALUES FROM (1) TO (2)');
    await session.query('SELECT FROM other');
    await session.query('SELECT FROM ONLY event');
  });
  afterEach(() => pool.stop());

  const visibleCount = async () => (await session.query(`SELECT FROM event WHERE event = 'seen'`)).length;
  const insert = (month: string, sql: Sql) =>
    sql.query(
      `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
       VALUES (1, '${month}', gen_random_uuid(), 'seen', 'd', gen_random_uuid(), '{}', now())`,
    );

  /**
   * Makes the session wait until the transaction ends, between reading the list of partitions and reading their
   * definitions.
   */
  async function holdUpSession(tx: Transaction): Promise<void> {
    await tx.query('LOCK TABLE pg_class IN ACCESS EXCLUSIVE MODE');
    void visibleCount();
    await eventually(async () => {
      // Ignore other databases of the server, because the tests that use them also wait for locks.
      const waiting = `SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                        WHERE NOT l.granted AND d.datname = current_database()`;
      expect(await tx.query(waiting)).toHaveLength(1);
    });
  }

  test('the session can read and write events of the new month', async () => {
    const month = '2017-04-01T00:00:00Z';
    const database = watchedDatabase(fixture.database, async (text, tx) => {
      if (text.includes('pg_advisory_xact_lock')) await holdUpSession(tx);
    });
    await createEventPartitions(database).ensure([at(month)]);
    await insert(month, fixture.database.sql);
    await eventually(async () => expect(await visibleCount()).toBe(1));
    await insert(month, session);
    expect(await visibleCount()).toBe(2);
  });

  test('the session finds the new month after one failure, even if a process crashed while attaching the partition', async () => {
    const month = '2017-05-01T00:00:00Z';
    await fixture.database.transaction(async (tx) => {
      await holdUpSession(tx);
      await createMonthPartition(tx, findMonth(at(month)) as Month);
    });
    const partitions = createEventPartitions(fixture.database);
    await partitions.ensure([at(month)]);
    await expect(insert(month, session)).rejects.toMatchObject({ code: '23514' });
    partitions.forget();
    await partitions.ensure([at(month)]);
    await eventually(() => insert(month, session));
  });
});

test("creating a month's partition does not wait for a transaction that writes events", async () => {
  await createEventPartitions(fixture.database).ensure([at('2018-01-01T00:00:00Z')]);
  await fixture.database.transaction(async (tx) => {
    await tx.query(
      `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
       VALUES (1, '2018-01-05T00:00:00Z', gen_random_uuid(), 'e', 'd', gen_random_uuid(), '{}', now())`,
    );
    await createEventPartitions(fixture.database).ensure([at('2018-02-01T00:00:00Z')]);
  });
  expect(await partitions()).toContain('event_2018_02');
});
