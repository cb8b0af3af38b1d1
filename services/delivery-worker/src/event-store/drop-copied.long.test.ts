import { connectClickHouse } from '@millrace/insights';
import {
  createTestTenant,
  eventually,
  installClickHouseOrNull,
  startClickHouse,
  type TestClickHouse,
} from '@millrace/testing';
import { deletePersonData } from '../deletion/delete-data.ts';
import { dropMonth } from '../retention/retention.ts';
import { startWorkerFixture, type WorkerFixture } from '../testing/worker-fixture.ts';
import { dropCopiedMonths } from './drop-copied.ts';
import { createCopyMetrics, createEventCopier } from './follow.ts';

const modules = await installClickHouseOrNull();

(modules === null ? describe.skip : describe)('PostgreSQL with a retention period for events', () => {
  let fixture: WorkerFixture;
  let clickhouse: TestClickHouse;
  let client: ReturnType<typeof connectClickHouse>;
  let gauge: ReturnType<typeof createCopyMetrics>;
  let project: number;
  const warnings: unknown[] = [];
  beforeAll(async () => {
    clickhouse = await startClickHouse(String(modules));
    client = connectClickHouse(clickhouse.url);
  });
  afterAll(async () => {
    await client?.close();
    await clickhouse?.stop();
  });
  beforeEach(async () => {
    await client.command({ query: 'DROP TABLE IF EXISTS events' });
    fixture = await startWorkerFixture();
    gauge ??= createCopyMetrics(fixture.metrics);
    ({ environmentId: project } = await createTestTenant(fixture.database));
    warnings.length = 0;
    for (const [month, next] of [
      ['2026_01', '2026_02'],
      ['2026_02', '2026_03'],
      ['2026_03', '2026_04'],
    ]) {
      const [from, to] = [month, next].map((name) => `${name?.replace('_', '-')}-01T00:00Z`);
      await query(`CREATE TABLE event_${month} PARTITION OF event FOR VALUES FROM ('${from}') TO ('${to}')`);
    }
    for (const at of ['2026-01-01T00:00Z', '2026-01-31T23:59:59.999Z', '2026-02-01T00:00Z', '2026-03-20T00:00Z'])
      await store(at);
  });
  afterEach(() => fixture.stop());

  const query = (text: string, values: unknown[] = []) => fixture.database.sql.query(text, values);
  const store = (
    at: string,
    { id = 'ada', person = null as string | null, properties = '{"a": 42.50, "$set": {"plan": "pro"}}' } = {},
  ) =>
    query(
      `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, person_properties, properties, captured_at, created_at)
       VALUES ($1, $2, gen_random_uuid(), 'order', $3, coalesce($4, gen_random_uuid()), '{"plan": "pro"}', $5, $2, now() - interval '1 second')`,
      [project, at, id, person, properties],
    );
  const follow = async () => {
    const round = createEventCopier({
      ...{
        database: fixture.database,
        logger: fixture.logger,
        eventRetentionDays: 0,
        minPortionMs: 0,
        settleSeconds: 0,
        settledUntil: fixture.atOnce,
        gauge,
      },
      target: { client, postgres: { url: fixture.databaseUrl } },
    });
    while (await round());
  };
  /** Drops old months. The simulated date is ten days after the end of February. */
  const drop = async () => {
    const logger = Object.assign(Object.create(fixture.logger), {
      warn: (_: string, fields: unknown) => void warnings.push(fields),
    });
    await dropCopiedMonths({ ...fixture, client, logger }, 10, Date.parse('2026-03-11T00:00Z'));
  };
  const kept = async () =>
    (await query(`SELECT to_char(timestamp AT TIME ZONE 'UTC', 'MM-DD') AS day FROM event ORDER BY timestamp`)).map(
      ({ day }) => day,
    );
  const inClickhouse = async (columns = 'count()') => {
    const result = await client.query({
      query: `SELECT ${columns} FROM events WHERE project_id = {project:Int32} ORDER BY timestamp`,
      query_params: { project },
      format: 'JSONCompactEachRow',
    });
    return result.json<unknown[]>();
  };
  const every = ['01-01', '01-31', '02-01', '03-20'];

  test('drops complete months from PostgreSQL after they are copied, and keeps them in ClickHouse', async () => {
    await drop();
    expect(await kept()).toEqual(every);
    await follow();
    await drop();
    expect(await kept()).toEqual(['03-20']);
    expect(await query(`SELECT 1 FROM pg_class WHERE relname ~ 'event_(expired_)?2026_0[12]'`)).toEqual([]);
    await follow();
    expect(await inClickhouse('toDate(timestamp)')).toHaveLength(4);
  });

  test('keeps a month in PostgreSQL until its newly stored events are copied', async () => {
    await follow();
    await store('2026-01-15T00:00Z');
    await query(`UPDATE event SET created_at = now() + interval '1 hour' WHERE timestamp = '2026-01-15T00:00Z'`);
    await drop();
    expect(await kept()).toEqual(['01-01', '01-15', '01-31', '03-20']);
    await query(`UPDATE event SET created_at = now() - interval '1 second' WHERE timestamp = '2026-01-15T00:00Z'`);
    await query(`UPDATE event_store_copy SET copied_until = now() - interval '1 hour'`);
    await follow();
    await drop();
    expect(await kept()).toEqual(['03-20']);
    expect(await inClickhouse('toDate(timestamp)')).toHaveLength(5);
  });

  test('keeps a month in PostgreSQL if an event is stored while the month is being dropped', async () => {
    await follow();
    expect(await dropMonth(fixture, 'event_2026_01', async (_, table) => table !== 'event_expired_2026_01')).toBe(
      false,
    );
    expect(await kept()).toEqual(every);
    await store('2026-01-02T00:00Z');
    expect(await kept()).toHaveLength(5);
  });

  test('keeps a month in PostgreSQL and logs a warning if ClickHouse has fewer of its events', async () => {
    await follow();
    await client.command({ query: `DELETE FROM events WHERE toDate(timestamp) = '2026-01-31'` });
    await drop();
    expect(await kept()).toEqual(['01-01', '01-31', '03-20']);
    expect(warnings).toEqual([{ partition: 'event_2026_01', here: 2, there: 1 }]);
  });

  test('drops no months while the ClickHouse table is rebuilt', async () => {
    await follow();
    await query(`INSERT INTO event_store_copy (store) VALUES ('clickhouse rebuild')`);
    await drop();
    expect(await kept()).toEqual(every);
  });

  const uuid = '0193f0c5-7a4e-5000-8000-0000000000ad';
  const deletePerson = async (deletesEvents: boolean) => {
    await query(
      `WITH deletion AS (
         INSERT INTO person_deletion (id, project_id, person_uuid, delete_events, requested_at)
         VALUES (gen_random_uuid(), $1, $2, $3, '2026-04-01T00:00Z') RETURNING id)
       INSERT INTO deleted_distinct_id (project_id, id_hash, distinct_id, deletion_id, person_uuid, version, deleted_at)
       SELECT $1, sha256(convert_to('ada', 'UTF8')), 'ada', id, $2, 1, now() FROM deletion`,
      [project, uuid, deletesEvents],
    );
    // Transactions in other databases of the PostgreSQL server can delay the deletion.
    await eventually(
      async () => {
        await deletePersonData(fixture.database, { isCopied: true });
        expect(await query('SELECT 1 FROM event_store_removal')).toHaveLength(1);
      },
      { what: 'The deletion' },
    );
    await follow();
  };

  test.each([
    [
      true,
      [
        ['bob', '2026-01-05'],
        ['ada', '2026-05-01'],
      ],
    ],
    [
      false,
      [
        ['ada', '2026-01-01'],
        ['bob', '2026-01-05'],
        ['ada', '2026-01-31'],
        ['ada', '2026-02-01'],
        ['ada', '2026-03-20'],
        ['ada', '2026-05-01'],
      ],
    ],
  ] as const)(
    "a person's deletion also affects events that PostgreSQL has dropped (deletes events: %s)",
    async (deletesEvents, expected) => {
      await query(`CREATE TABLE event_2026_05 PARTITION OF event FOR VALUES FROM ('2026-05-01Z') TO ('2026-06-01Z')`);
      await store('2026-01-05T00:00Z', { id: 'bob' });
      // Store an event of a new person with the same distinct ID.
      await store('2026-05-01T00:00Z');
      await query(
        `UPDATE event SET created_at = CASE WHEN timestamp < '2026-04-01' THEN timestamp + interval '1 second' ELSE created_at END`,
      );
      await follow();
      await drop();
      expect(await kept()).toEqual(['03-20', '05-01']);
      await deletePerson(deletesEvents);
      expect(await inClickhouse('distinct_id, toString(toDate(timestamp))')).toEqual(expected);
      const held = await inClickhouse(
        `distinct_id, toString(toDate(timestamp)), person_properties, JSONExtractRaw(properties, 'a'), JSONHas(properties, '$set')`,
      );
      for (const [id, day, person, number, hasSet] of held) {
        const isOfPerson = id === 'ada' && day !== '2026-05-01';
        expect([JSON.parse(String(person)), Number(number), hasSet]).toEqual([
          isOfPerson ? {} : { plan: 'pro' },
          42.5,
          isOfPerson ? 0 : 1,
        ]);
      }
    },
  );
});
