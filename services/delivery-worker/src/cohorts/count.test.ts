import { randomUUID } from 'node:crypto';
import { createDatabase, createReadPool, type Database, type ReadPool } from '@millrace/db';
import { createLogger, createMetrics } from '@millrace/runtime';
import { createTestDatabase, createTestTenant, type TestDatabase, type TestTenant } from '@millrace/testing';
import { type CountCohortsDeps, countDueCohorts, createCohortMetrics } from './count.ts';

let testDatabase: TestDatabase;
let database: Database;
let reader: ReadPool;
let tenant: TestTenant;
let deps: CountCohortsDeps;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const logger = createLogger('test', 'error');
  database = createDatabase({ url: testDatabase.url, logger, poolSize: 5 });
  reader = createReadPool({ url: testDatabase.url, logger, poolSize: 3 });
  const counter = createCohortMetrics(createMetrics({ withProcessMetrics: false }));
  deps = { database, reader, logger, counter, recountHours: 24, maxWalkMs: 60_000 };
});
afterAll(async () => {
  await reader.stop();
  await database.stop();
  await testDatabase.drop();
});
beforeEach(async () => {
  tenant = await createTestTenant(database);
});

const running = new AbortController().signal;
async function countAll(with_: Partial<CountCohortsDeps> = {}, signal = running): Promise<void> {
  while (await countDueCohorts({ ...deps, ...with_ }, signal));
}
const tree = (...values: unknown[]) => ({ properties: { type: 'AND', values } });
const plan = (value: string, more: object = {}) => ({ type: 'person', key: 'plan', operator: 'exact', value, ...more });
const within = (id: number, more: object = {}) => ({ type: 'cohort', key: 'id', value: id, ...more });

async function cohort(filters: unknown, more: { isStatic?: boolean; fillFrom?: unknown } = {}): Promise<number> {
  const [row] = await database.sql.query<{ id: number }>(
    `INSERT INTO cohort (project_id, name, filters, is_static, fill_from, calculate_at)
     VALUES ($1, 'c', $2, $3, $4, now() - interval '1 second') RETURNING id`,
    [tenant.environmentId, filters, more.isStatic ?? false, more.fillFrom ?? null],
  );
  return row?.id ?? 0;
}
async function persons(count: number, properties: object): Promise<string[]> {
  const rows = await database.sql.query<{ uuid: string }>(
    `WITH added AS (
       INSERT INTO person (project_id, uuid, main_distinct_id, properties, created_at)
       SELECT $1, gen_random_uuid(), 'd-' || gen_random_uuid(), $3, now() FROM generate_series(1, $2)
       RETURNING uuid, main_distinct_id)
     INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid)
     SELECT $1, main_distinct_id, uuid FROM added RETURNING person_uuid AS uuid`,
    [tenant.environmentId, count, properties],
  );
  return rows.map(({ uuid }) => uuid);
}
const stateOf = async (id: number) =>
  (
    await database.sql.query(
      `SELECT count, errors_calculating, last_calculation IS NOT NULL AS was_counted, fill_from,
              round(extract(epoch FROM calculate_at - now()) / 60)::int AS minutes FROM cohort WHERE id = $1`,
      [id],
    )
  )[0];
const recordsOf = (id: number) =>
  database.sql.query(
    'SELECT count, error, finished_at IS NOT NULL AS is_over FROM cohort_calculation WHERE cohort_id = $1 ORDER BY started_at',
    [id],
  );
const membersOf = async (id: number) =>
  (
    await database.sql.query<{ person_uuid: string }>(
      'SELECT person_uuid FROM cohort_member WHERE cohort_id = $1 ORDER BY person_uuid',
      [id],
    )
  ).map(({ person_uuid }) => person_uuid);

/** Counts all due cohorts. @returns whether it read the persons one by one */
async function readsPersons(): Promise<boolean> {
  let isRead = false;
  const sql: Database['sql'] = {
    ...database.sql,
    query(text, values) {
      isRead ||= text.includes('FROM person');
      return database.sql.query(text, values);
    },
  };
  await countAll({ database: { ...database, sql } });
  return isRead;
}
/** A condition on the distinct ID cannot be counted in one statement. */
const hasId = { type: 'person', key: 'distinct_id', operator: 'starts_with', value: 'd-' };

test.each(['together', 'one by one'])(
  "counts a cohort's persons %s by the same rules as flags, including nested and static cohorts",
  async (way) => {
    await persons(1200, { plan: 'free', $browser: 'Safari' });
    const pro = await persons(700, { plan: 'Pro', $initial_browser: 'Opera', $browser: 'Safari' });
    await persons(5, { plan: null });
    await persons(4, {});
    const paying = await cohort(tree(plan('pro')));
    const listed = await cohort(null, { isStatic: true });
    await database.sql.query(
      'INSERT INTO cohort_member (project_id, cohort_id, person_uuid) SELECT $1, $2, unnest($3::uuid[])',
      [tenant.environmentId, listed, pro.slice(0, 3)],
    );
    const both = await cohort(tree(within(paying), within(listed)));
    const others = await cohort(tree(within(paying, { negation: true })));
    const notListed = await cohort(tree(plan('pro'), within(listed, { operator: 'not_in' })));
    const initial = await cohort(tree({ type: 'person', key: '$initial_browser', operator: 'exact', value: 'safari' }));
    const missing = await cohort(tree({ type: 'person', key: 'plan', operator: 'is_not_set' }));
    const behavioral = await cohort(
      tree({ type: 'behavioral', key: 'a', value: 'performed_event', event_type: 'events' }),
    );
    const nothing = await cohort(null);
    const byId = way === 'together' ? [] : [await cohort(tree(hasId))];
    expect(await readsPersons()).toBe(way === 'one by one');
    const counts = await Promise.all(
      [paying, listed, both, others, notListed, initial, missing, behavioral, nothing, ...byId].map(
        async (id) => (await stateOf(id))?.count,
      ),
    );
    expect(counts).toEqual([700, 3, 3, 1209, 697, 1200, 4, 0, 0, ...byId.map(() => 1909)]);
    expect(await stateOf(paying)).toMatchObject({ errors_calculating: 0, was_counted: true, minutes: 24 * 60 });
    expect(await recordsOf(paying)).toEqual([{ count: 700, error: null, is_over: true }]);
    expect(await countDueCohorts(deps, running)).toBe(false);
  },
);

test('counts persons one by one if a property has too many different values', async () => {
  await persons(9000, { plan: 'pro' });
  await database.sql.query(
    `INSERT INTO person (project_id, uuid, main_distinct_id, properties, created_at)
     SELECT $1, gen_random_uuid(), 'e-' || n, jsonb_build_object('plan', 'pro ' || n), now() FROM generate_series(1, 1100) n`,
    [tenant.environmentId],
  );
  const id = await cohort(tree(plan('pro', { operator: 'icontains' })));
  expect(await readsPersons()).toBe(true);
  expect(await stateOf(id)).toMatchObject({ count: 10_100 });
});

test('records why a cohort cannot be counted, and retries it with growing delays without affecting others', async () => {
  await persons(2, { plan: 'pro' });
  const missing = await cohort(tree(within(2_000_000_000)));
  const good = await cohort(tree(plan('pro')));
  await countAll();
  const error = 'The cohort refers to a cohort that does not exist, or to itself.';
  expect(await stateOf(missing)).toMatchObject({ count: null, errors_calculating: 1, minutes: 1 });
  expect(await stateOf(good)).toMatchObject({ count: 2 });
  await database.sql.query("UPDATE cohort SET calculate_at = now() - interval '1 s' WHERE id = $1", [missing]);
  await countAll();
  expect(await stateOf(missing)).toMatchObject({ errors_calculating: 2, minutes: 2 });
  expect(await recordsOf(missing)).toEqual([
    { count: null, error, is_over: true },
    { count: null, error, is_over: true },
  ]);
});

test("fills a copied cohort with the original's members", async () => {
  await persons(600, { plan: 'free' });
  const pro = await persons(1100, { plan: 'pro' });
  const source = await cohort(tree(plan('pro')));
  const copy = await cohort(null, { isStatic: true, fillFrom: { cohort: source } });
  await countAll();
  expect(await membersOf(copy)).toEqual(pro.sort());
  expect(await stateOf(copy)).toMatchObject({ count: 1100, fill_from: null });
});

test('fills a cohort with the persons for whom a flag is on', async () => {
  const pro = await persons(40, { plan: 'pro' });
  await persons(40, { plan: 'free' });
  const [flag] = await database.sql.query<{ id: number }>(
    `INSERT INTO feature_flag (project_id, key, filters) VALUES ($1, 'beta', $2) RETURNING id`,
    [tenant.environmentId, { groups: [{ properties: [plan('pro')], rollout_percentage: 50 }] }],
  );
  const copy = await cohort(null, { isStatic: true, fillFrom: { flag: flag?.id } });
  await countAll();
  const members = await membersOf(copy);
  expect(members.length).toBeGreaterThan(5);
  expect(members.length).toBeLessThan(35);
  expect(members.every((uuid) => pro.includes(uuid))).toBe(true);
});

test('counts a cohort again if it changes during the count', async () => {
  await persons(600, { plan: 'pro' });
  const id = await cohort(tree(plan('pro')));
  const read: ReadPool['read'] = async (...statement) => {
    await database.sql.query(
      `UPDATE cohort SET version = version + 1, filters = $2, calculate_at = now() - interval '1 s'
        WHERE id = $1 AND version = 1`,
      [id, tree(plan('free'))],
    );
    return reader.read(...statement);
  };
  await countDueCohorts({ ...deps, reader: { read } }, running);
  expect(await stateOf(id)).toMatchObject({ count: null });
  await countAll();
  expect(await stateOf(id)).toMatchObject({ count: 0 });
  expect(await recordsOf(id)).toMatchObject([{ count: 600 }, { count: 0 }]);
});

test("a stopping worker releases its cohorts, and a crashed worker's claims expire", async () => {
  await persons(600, { plan: 'pro' });
  const id = await cohort(tree(plan('pro')));
  await countDueCohorts(deps, AbortSignal.abort());
  expect(await stateOf(id)).toMatchObject({ count: null, minutes: 0 });
  expect(await recordsOf(id)).toEqual([]);
  await database.sql.query(
    `INSERT INTO cohort_calculation (id, cohort_id, started_at) VALUES ($1, $2, now() - interval '1 hour')`,
    [randomUUID(), id],
  );
  await countAll();
  expect(await recordsOf(id)).toEqual([
    { count: null, error: 'The attempt did not come to an end.', is_over: true },
    { count: 600, error: null, is_over: true },
  ]);
});

test('stops counting a cohort after the time limit', async () => {
  await persons(600, { plan: 'pro' });
  const id = await cohort(tree(hasId));
  await countAll({ maxWalkMs: -1 });
  expect(await recordsOf(id)).toEqual([{ count: null, error: 'The count took too long.', is_over: true }]);
});

test('several workers share the cohorts and count each one once', async () => {
  await persons(20, { plan: 'pro' });
  const ids: number[] = [];
  for (let count = 0; count < 120; count += 1) ids.push(await cohort(tree(plan('pro'))));
  await Promise.all([countAll(), countAll(), countAll()]);
  for (const id of ids) expect(await recordsOf(id)).toEqual([{ count: 20, error: null, is_over: true }]);
});

test("does not count deleted cohorts, and keeps a cohort's last hundred counts", async () => {
  const gone = await cohort(tree(plan('pro')));
  await database.sql.query('UPDATE cohort SET deleted = true WHERE id = $1', [gone]);
  const old = await cohort(tree(plan('pro')));
  await database.sql.query(
    `INSERT INTO cohort_calculation (id, cohort_id, started_at, finished_at)
     SELECT gen_random_uuid(), $1, now() - n * interval '1 hour', now() FROM generate_series(1, 200) n`,
    [old],
  );
  await countAll();
  expect(await recordsOf(gone)).toEqual([]);
  expect(await recordsOf(old)).toHaveLength(100);
});
