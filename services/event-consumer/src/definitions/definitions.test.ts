import { randomUUID } from 'node:crypto';
import type { Database } from '@millrace/db';
import { processBatch } from '../process-batch.ts';
import {
  type ConsumerFixture,
  capturedEvent,
  createConsumerFixture,
  logBatch,
  type TestProject,
} from '../testing/consumer-fixture.ts';
import { createDefinitionRecorder, type DefinitionRecorder } from './definitions.ts';

let fixture: ConsumerFixture;
let project: TestProject;
let definitions: DefinitionRecorder;
let nowMs = Date.parse('2026-11-21T10:30:00Z');
let topic: string;
let offset: number;

beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());
beforeEach(async () => {
  project = await fixture.createProject();
  definitions = createDefinitionRecorder({
    database: fixture.database,
    logger: fixture.logger,
    now: () => nowMs,
    flushIntervalMs: 0,
  });
  topic = randomUUID();
  offset = 0;
});
afterEach(() => definitions.stop());

type Sent = Parameters<typeof capturedEvent>[1];

async function send(...events: Sent[]): Promise<void> {
  const batch = logBatch(
    topic,
    offset,
    events.map((event) => capturedEvent(project.token, event)),
  );
  offset += events.length;
  const deps = fixture.createDeps({ definitions });
  await processBatch({ batch, group: 'g', deadLetterReason: null, lockFirst: false }, deps);
}

function eventDefinitions() {
  return fixture.database.prisma.event_definition.findMany({
    where: { project_id: project.id },
    orderBy: { name: 'asc' },
  });
}

async function propertyDefinitions(): Promise<[number, number, string, string | null][]> {
  const rows = await fixture.database.prisma.property_definition.findMany({
    where: { project_id: project.id },
    orderBy: [{ type: 'asc' }, { name: 'asc' }],
  });
  return rows.map(({ type, group_type_index, name, property_type }) => [type, group_type_index, name, property_type]);
}

test('records the definition of each event, person and group property once and with its type', async () => {
  await send(
    {
      event: 'bought',
      properties: { price: 3, $set: { plan: 'pro' }, $set_once: { first: true }, $groups: { org: 'a' } },
    },
    { event: 'bought', properties: { price: 4 } },
    {
      event: '$groupidentify',
      properties: { $group_type: 'org', $group_key: 'a', $group_set: { seats: 5 }, other: 1 },
    },
  );
  await definitions.flush();
  expect((await eventDefinitions()).map(({ name }) => name)).toEqual(['$groupidentify', 'bought']);
  expect(await propertyDefinitions()).toEqual([
    [1, -1, 'price', 'Numeric'],
    [2, -1, 'first', 'Boolean'],
    [2, -1, 'plan', 'String'],
    [3, 0, 'seats', 'Numeric'],
  ]);
});

test('keeps the first type that was determined for a property', async () => {
  await send({ event: 'e', properties: { x: null } });
  await definitions.flush();
  expect(await propertyDefinitions()).toEqual([[1, -1, 'x', null]]);
  await send({ event: 'e', properties: { x: 5 } });
  await definitions.flush();
  await send({ event: 'e', properties: { x: 'text' } });
  await definitions.flush();
  expect(await propertyDefinitions()).toEqual([[1, -1, 'x', 'Numeric']]);
});

test('updates the last-seen time of a name at most once an hour, and never sets it to an earlier time', async () => {
  const at = (iso: string) => {
    nowMs = Date.parse(iso);
  };
  const lastSeen = async () => (await eventDefinitions()).map(({ last_seen_at }) => last_seen_at?.toISOString());
  at('2026-11-21T10:05:00.000Z');
  await send({ event: 'e' });
  await definitions.flush();
  at('2026-11-21T10:55:00.000Z');
  await send({ event: 'e' });
  await definitions.flush();
  expect(await lastSeen()).toEqual(['2026-11-21T10:05:00.000Z']);
  at('2026-11-21T11:00:00.000Z');
  await send({ event: 'e' });
  await definitions.flush();
  expect(await lastSeen()).toEqual(['2026-11-21T11:00:00.000Z']);

  // A second process whose clock is behind processes an event with the same name.
  at('2026-11-21T10:59:00.000Z');
  await definitions.stop();
  definitions = createDefinitionRecorder({
    database: fixture.database,
    logger: fixture.logger,
    now: () => nowMs,
    flushIntervalMs: 0,
  });
  await send({ event: 'e' });
  await definitions.flush();
  expect(await lastSeen()).toEqual(['2026-11-21T11:00:00.000Z']);
});

test("keeps users' edits, and sets the times of a definition that was created before the first event", async () => {
  await send({ event: 'known', properties: { amount: 'text' } });
  await definitions.flush();
  const { sql } = fixture.database;
  const edits = `description = 'by a user', tags = '{a}', hidden = true`;
  await sql.query(`UPDATE event_definition SET ${edits} WHERE project_id = $1`, [project.id]);
  await sql.query(`UPDATE property_definition SET ${edits}, property_type = 'Numeric' WHERE project_id = $1`, [
    project.id,
  ]);
  await sql.query(
    `INSERT INTO event_definition (project_id, name, created_at, last_seen_at, description) VALUES ($1, 'ahead', NULL, NULL, 'planned')`,
    [project.id],
  );
  nowMs += 3_600_000;
  await send({ event: 'known', properties: { amount: 'text' } }, { event: 'ahead' });
  await definitions.flush();
  const kept = { description: 'by a user', tags: ['a'], hidden: true };
  const seen = { created_at: expect.any(Date), last_seen_at: new Date(nowMs) };
  expect(await eventDefinitions()).toMatchObject([
    { name: 'ahead', description: 'planned', ...seen },
    { name: 'known', ...kept, ...seen },
  ]);
  const properties = await fixture.database.prisma.property_definition.findMany({ where: { project_id: project.id } });
  expect(properties).toMatchObject([
    { name: 'amount', ...kept, property_type: 'Numeric', last_seen_at: new Date(nowMs) },
  ]);
});

test("an event in the next hour recreates a deleted definition, without the users' edits", async () => {
  await send({ event: 'e', properties: { x: 1 } });
  await definitions.flush();
  const { sql } = fixture.database;
  await sql.query(`UPDATE event_definition SET description = 'by a user' WHERE project_id = $1`, [project.id]);
  await sql.query('DELETE FROM event_definition WHERE project_id = $1', [project.id]);
  await sql.query('DELETE FROM property_definition WHERE project_id = $1', [project.id]);
  nowMs += 3_600_000;
  await send({ event: 'e', properties: { x: 1 } });
  await definitions.flush();
  expect(await eventDefinitions()).toMatchObject([{ name: 'e', description: '' }]);
  expect(await propertyDefinitions()).toEqual([[1, -1, 'x', 'Numeric']]);
});

test('samples the first event of a name in two batches per minute, and every 64th event of a batch', async () => {
  const names = async () => (await propertyDefinitions()).map(([, , name]) => name);
  nowMs = Date.parse('2026-11-21T12:00:10Z');
  for (let batch = 1; batch <= 3; batch += 1) {
    await send({ event: 'first' }, { event: 'e', properties: { [`of_batch_${batch}`]: 1 } });
  }
  await send({ event: 'first' }, { event: 'other', properties: { of_other: 1 } });
  await definitions.flush();
  const ofTwo = ['of_batch_1', 'of_batch_2'];
  expect(await names()).toEqual([...ofTwo, 'of_other']);

  await send(...Array.from({ length: 70 }, (_, index) => ({ event: 'e', properties: { [`p${index}`]: 1 } })));
  await definitions.flush();
  expect(await names()).toEqual([...ofTwo, 'of_other', 'p0', 'p64'].toSorted());

  nowMs = Date.parse('2026-11-21T12:01:00Z');
  await send({ event: 'first' }, { event: 'e', properties: { of_next_minute: 1 } });
  await definitions.flush();
  expect(await names()).toContain('of_next_minute');
});

test('does not record names that are too long, or names from events with too many properties', async () => {
  const wide = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`k${index}`, index]));
  await send(
    { event: 'ü'.repeat(101), properties: { ['ü'.repeat(101)]: 1, ok: 1 } },
    { event: 'wide', properties: wide },
  );
  await definitions.flush();
  expect((await eventDefinitions()).map(({ name }) => name)).toEqual(['wide']);
  expect(await propertyDefinitions()).toEqual([[1, -1, 'ok', 'Numeric']]);
});

test('if a definition could not be written, writes it at the next event with the same name', async () => {
  let isDown = true;
  await definitions.stop();
  definitions = createDefinitionRecorder({
    database: {
      transaction: (work) => (isDown ? Promise.reject(new Error('away')) : fixture.database.transaction(work)),
    },
    logger: fixture.logger,
    now: () => nowMs,
    flushIntervalMs: 0,
  });
  await send({ event: 'e' });
  await definitions.flush();
  isDown = false;
  await definitions.flush();
  expect(await eventDefinitions()).toEqual([]);
  await send({ event: 'e' });
  await definitions.flush();
  expect(await eventDefinitions()).toHaveLength(1);
});

test('records no definitions from a batch that is rolled back', async () => {
  const deps = fixture.createDeps({ definitions });
  const batch = logBatch(topic, 0, [capturedEvent(project.token, { event: 'undone' })]);
  const database: Pick<Database, 'transaction'> = {
    transaction: (work) =>
      fixture.database.transaction(async (tx) => {
        await work(tx);
        throw new Error('undone');
      }),
  };
  await processBatch({ batch, group: 'g', deadLetterReason: null, lockFirst: false }, { ...deps, database }).catch(
    () => {},
  );
  await definitions.flush();
  expect(await eventDefinitions()).toEqual([]);
});

test('records names again after a database restore that may have lost them', async () => {
  await send({ event: 'bought' });
  await definitions.flush();
  await fixture.database.prisma.event_definition.deleteMany({ where: { project_id: project.id } });
  await send({ event: 'bought' });
  await definitions.flush();
  expect(await eventDefinitions()).toEqual([]);
  definitions.forgetAll();
  await send({ event: 'bought' });
  await definitions.flush();
  expect(await eventDefinitions()).toMatchObject([{ name: 'bought' }]);
});
