import { randomUUID } from 'node:crypto';
import { eventually } from '@millrace/testing';
import { LedgerConflict, PartitionMissing } from '../failures.ts';
import type { EventRow } from '../model/event.ts';
import { type ConsumerFixture, createConsumerFixture } from '../testing/consumer-fixture.ts';
import { createEventPartitions } from './partitions.ts';
import { insertEvents, insertIdentities, markEventsIngested, readIdentities } from './store.ts';

let fixture: ConsumerFixture;
beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());

const timestampMs = Date.parse('2022-03-04T05:06:07.089Z');

function row(overrides: Partial<EventRow> = {}): EventRow {
  return {
    projectId: 1,
    uuid: randomUUID(),
    event: 'thing "happened" \\ 🦊',
    distinctId: "o'someone",
    timestampMs,
    capturedAtMs: timestampMs + 1,
    properties: {
      under: { a: [1, { b: null }], half: 0.5, huge: 1.7976931348623157e308 },
      over: { half: 0.1, 'key "x"': 'line\nbreak' },
    },
    elementsChain: 'a.b:nth-child="1"',
    personUuid: randomUUID(),
    personCreatedAtMs: timestampMs - 1,
    personProperties: { email: 'x' },
    personBytes: 0,
    personMode: 2,
    isHistorical: true,
    ...overrides,
  };
}

const unwatched = { forget: () => {} };

test('reads an event back as it was written', async () => {
  await createEventPartitions(fixture.database).ensure([timestampMs]);
  const full = row();
  const personless = row({ personCreatedAtMs: null, personProperties: {}, isHistorical: false, personMode: 1 });
  await fixture.database.transaction((tx) => insertEvents(tx, [full, personless], unwatched));
  const stored = await fixture.database.prisma.event.findMany({
    where: { uuid: { in: [full.uuid, personless.uuid] } },
  });
  expect(stored.find(({ uuid }) => uuid === full.uuid)).toEqual({
    project_id: 1,
    uuid: full.uuid,
    event: full.event,
    distinct_id: full.distinctId,
    timestamp: new Date(timestampMs),
    captured_at: new Date(timestampMs + 1),
    properties: { ...full.properties.under, ...full.properties.over },
    elements_chain: full.elementsChain,
    person_id: full.personUuid,
    person_created_at: new Date(timestampMs - 1),
    person_properties: full.personProperties,
    person_mode: 2,
    historical_migration: true,
    created_at: expect.any(Date),
  });
  expect(stored.find(({ uuid }) => uuid === personless.uuid)).toMatchObject({
    person_created_at: null,
    person_mode: 1,
    historical_migration: false,
  });
});

test.each(['0001-01-01T00:00:00.000Z', '1969-12-31T23:59:59.999Z', '2014-12-31T23:59:59.999Z'])(
  'stores the event time %s to the millisecond',
  async (iso) => {
    const old = row({ timestampMs: Date.parse(iso) });
    await fixture.database.transaction((tx) => insertEvents(tx, [old], unwatched));
    const [stored] = await fixture.database.sql.query(
      `SELECT to_char(timestamp AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS iso FROM event WHERE uuid = $1`,
      [old.uuid],
    );
    expect(stored).toEqual({ iso });
  },
);

test('recreates a partition that retention has dropped', async () => {
  const partitions = createEventPartitions(fixture.database);
  const withoutPartition = row({ timestampMs: Date.parse('2016-02-02T00:00:00Z') });
  await partitions.ensure([withoutPartition.timestampMs]);
  await fixture.database.sql.query('DROP TABLE event_2016_02');
  const store = () => fixture.database.transaction((tx) => insertEvents(tx, [withoutPartition], partitions));
  await expect(store()).rejects.toThrow(PartitionMissing);
  await partitions.ensure([withoutPartition.timestampMs]);
  await store();
  expect(await fixture.database.prisma.event.count({ where: { uuid: withoutPartition.uuid } })).toBe(1);
});

describe('the identities of stored events', () => {
  const identity = (uuid: string, projectId = 1) => ({ projectId, uuid, timestampMs });

  const insert = (...identities: ReturnType<typeof identity>[]) =>
    fixture.database.transaction((tx) => insertIdentities(tx, identities));

  test('looks up event identities separately for each project', async () => {
    const [a, b] = [randomUUID(), randomUUID()];
    await insert(identity(a));
    const sought = [identity(a), identity(b), identity(a, 2)];
    expect(await fixture.database.transaction((tx) => readIdentities(tx, sought))).toEqual(new Set([`1:${a}`]));
  });

  test('rejects an event identity that is already stored', async () => {
    const [a, b] = [randomUUID(), randomUUID()];
    await insert(identity(a));
    await expect(insert(identity(b), identity(a))).rejects.toThrow(LedgerConflict);
    await insert(identity(b), identity(a, 2));
  });

  test('batches that insert the same identities in opposite order do not deadlock', async () => {
    const [first, middle, last] = [randomUUID(), randomUUID(), randomUUID()].sort() as [string, string, string];
    const outcomeOf = (work: Promise<void>) => work.then(() => 'inserted').catch((error: Error) => error.name);
    let forward: Promise<string> | undefined;
    let backward: Promise<string> | undefined;
    // A third batch locks the middle identity until both batches have inserted the identities before it, and then
    // fails.
    await fixture.database
      .transaction(async (tx) => {
        await insertIdentities(tx, [identity(middle)]);
        forward = outcomeOf(insert(identity(first), identity(middle), identity(last)));
        backward = outcomeOf(insert(identity(last), identity(middle), identity(first)));
        await untilWaiting(2);
        throw new Error('rolled back');
      })
      .catch(() => {});
    expect((await Promise.all([forward, backward])).sort()).toEqual(['LedgerConflict', 'inserted']);
  });

  async function untilWaiting(count: number): Promise<void> {
    await eventually(async () => {
      const waiting = await fixture.database.sql.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      expect(waiting.length).toBeGreaterThanOrEqual(count);
    });
  }
});

test('marks only the given environments as having events', async () => {
  const [a, b] = [await fixture.createProject(), await fixture.createProject()];
  await fixture.database.transaction((tx) => markEventsIngested(tx, [a.id]));
  const rows = await fixture.database.sql.query(
    'SELECT id, ingested_event FROM environment WHERE id = ANY ($1) ORDER BY id',
    [[a.id, b.id]],
  );
  expect(rows).toEqual([
    { id: a.id, ingested_event: true },
    { id: b.id, ingested_event: false },
  ]);
});

test('sends large event rows in chunks, as fast as the server accepts them', async () => {
  await createEventPartitions(fixture.database).ensure([timestampMs]);
  const personProperties = { text: 'x'.repeat(500_000) };
  const rows = Array.from({ length: 40 }, () => row({ projectId: 4711, personProperties }));
  await fixture.database.transaction((tx) => insertEvents(tx, rows, unwatched));
  const stored = await fixture.database.sql.query<{ uuid: string }>('SELECT uuid FROM event WHERE project_id = 4711');
  expect(stored.map(({ uuid }) => uuid).sort()).toEqual(rows.map(({ uuid }) => uuid).sort());
});

test('stores strings that contain special characters of the COPY format without changes', async () => {
  await createEventPartitions(fixture.database).ensure([timestampMs]);
  const specialTexts = ['\\', '\\N', '\\.', 'a\tb', 'a\nb', 'a\r\nb', '\u2028', '"\'', 'ü\u{1f600}', ''];
  const rows = specialTexts.map((text) =>
    row({
      projectId: 4712,
      event: `e${text}`,
      distinctId: text,
      elementsChain: text,
      properties: { under: { [`k${text}`]: text }, over: {} },
      personProperties: { text },
    }),
  );
  await fixture.database.transaction((tx) => insertEvents(tx, rows, unwatched));
  const stored = await fixture.database.sql.query(
    `SELECT uuid, event, distinct_id AS "distinctId", elements_chain AS "elementsChain", properties,
            person_properties AS "personProperties"
       FROM event WHERE project_id = 4712`,
  );
  const expected = rows.map(({ uuid, event, distinctId, elementsChain, properties, personProperties }) => {
    return { uuid, event, distinctId, elementsChain, properties: properties.under, personProperties };
  });
  expect(stored).toHaveLength(rows.length);
  expect(stored).toEqual(expect.arrayContaining(expected));
});
