import { createDatabase } from '@millrace/db';
import { type ConsumerFixture, createConsumerFixture } from '../testing/consumer-fixture.ts';
import { createEventPartitions } from './partitions.ts';
import { monthOf } from './store.ts';

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

describe('monthOf', () => {
  test.each([
    ['2014-12-31T23:59:59.999Z', null],
    ['0001-01-01T00:00:00.000Z', null],
    ['2015-01-01T00:00:00.000Z', 'event_2015_01'],
    ['2024-02-29T23:59:59.999Z', 'event_2024_02'],
    ['2026-12-31T23:59:59.999Z', 'event_2026_12'],
    ['2027-01-01T00:00:00.000Z', 'event_2027_01'],
  ])('%s lies in %s', (iso, table) => {
    expect(monthOf(at(iso))?.table ?? null).toBe(table);
  });

  test('a month ends where the next begins', () => {
    expect(monthOf(at('2026-12-15T00:00:00Z'))).toMatchObject({
      fromMs: at('2026-12-01T00:00:00Z'),
      toMs: at('2027-01-01T00:00:00Z'),
    });
  });
});

test('many processes that need the same months at once make each of them once', async () => {
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

test('rows go into their month, and a row outside every month is refused', async () => {
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

test('a known month costs no statement', async () => {
  let transactions = 0;
  const known = createEventPartitions({
    transaction: (work) => {
      transactions += 1;
      return fixture.database.transaction(work);
    },
  });
  await known.ensure([at('2019-01-01T00:00:00Z'), at('2019-01-02T00:00:00Z')]);
  await known.ensure([at('2019-01-03T00:00:00Z')]);
  expect(transactions).toBe(1);
});

test('adding a month does not wait for a transaction that is writing events', async () => {
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
