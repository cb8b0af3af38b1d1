import { randomUUID } from 'node:crypto';
import type { CapturedEvent } from '@millrace/contracts';
import { createDeferred } from '@millrace/runtime';
import type { ProcessBatchDeps } from './process-batch.ts';
import {
  type ConsumerFixture,
  capturedEvent,
  createConsumerFixture,
  logBatch,
  type TestProject,
} from './testing/consumer-fixture.ts';
import { createHandlerFixture } from './testing/handler-fixture.ts';
import { watchedDatabase } from './testing/watched-database.ts';

/** Tests two batches of one process. The second batch is decided while the first one is still being written. */

let fixture: ConsumerFixture;
let project: TestProject;
let deps: ProcessBatchDeps;
let topic: string;

beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());
beforeEach(async () => {
  project = await fixture.createProject();
  deps = fixture.createDeps();
  topic = randomUUID();
});

type Sent = Partial<CapturedEvent>;

const identify = (anonymous: string, user: string, $set = {}): Sent => ({
  event: '$identify',
  distinct_id: user,
  properties: { $anon_distinct_id: anonymous, $set },
});
const set = (distinct_id: string, $set: object): Sent => ({ distinct_id, properties: { $set } });

function batchOf(partition: number, events: Sent[], from = 0) {
  const contents = events.map((event) => capturedEvent(project.token, event));
  return logBatch(topic, from, contents, partition);
}

/** Makes a batch wait at the first statement that matches. The caller can then let the statement continue or fail. */
function stopAt(statement: RegExp) {
  const arrived = createDeferred<void>();
  const letOn = createDeferred<void>();
  let isFirst = true;
  const database = watchedDatabase(fixture.database, async (text) => {
    if (!(isFirst && statement.test(text))) return;
    isFirst = false;
    arrived.resolve();
    await letOn.promise;
  });
  return { database, arrived: arrived.promise, letOn: () => letOn.resolve(), fail: (e: Error) => letOn.reject(e) };
}

const storing = /^\s*COPY event \(/;
const advancing = /UPDATE consumer_offset/;
const writingPersons = /FOR NO KEY UPDATE OF p|INSERT INTO person /;

/** Runs two batches. The second is ready to write its persons before the first is committed or rolled back. */
async function overlapping(first: Sent[], second: Sent[], ends: 'are committed' | 'one is undone') {
  const stop = stopAt(advancing);
  const one = createHandlerFixture(fixture, { ...deps, database: stop.database });
  const stored = createDeferred<void>();
  const statements: string[] = [];
  const two = createHandlerFixture(fixture, {
    ...deps,
    database: watchedDatabase(fixture.database, (text) => {
      statements.push(text);
      if (storing.test(text)) stored.resolve();
    }),
  });
  const handlingOne = one.handle(batchOf(0, first));
  await stop.arrived;
  const handlingTwo = two.handle(batchOf(1, second));
  await stored.promise;
  // The second batch has made its decisions and stored its events, but has not yet locked or written a person.
  const early = statements.filter((text) => writingPersons.test(text));
  if (ends === 'are committed') stop.letOn();
  else stop.fail(Object.assign(new Error('cut off'), { code: '40001' }));
  await Promise.all([handlingOne, handlingTwo]);
  expect(early).toEqual([]);
  return { moved: await two.counted('retries_total', 'moved') };
}

async function people() {
  const rows = await fixture.database.sql.query<{
    ids: string[];
    properties: Record<string, unknown>;
    version: string;
  }>(
    `SELECT array_agg(d.distinct_id || ':' || d.version ORDER BY d.distinct_id) AS ids, p.properties, p.version
       FROM person p JOIN person_distinct_id d ON d.project_id = p.project_id AND d.person_uuid = p.uuid
      WHERE p.project_id = $1 GROUP BY p.uuid, p.properties, p.version, p.id ORDER BY min(d.distinct_id)`,
    [project.id],
  );
  return rows.map(({ ids, properties: { $creator_event_uuid: _, ...properties }, version }) => ({
    ids,
    properties,
    version: Number(version),
  }));
}

/** Returns the persons that result from the same batches if they are processed one after the other. */
async function oneByOne(batches: Sent[][]) {
  const other = await fixture.createProject();
  const own = project;
  project = other;
  const member = createHandlerFixture(fixture, fixture.createDeps());
  topic = randomUUID();
  for (const [partition, events] of batches.entries()) await member.handle(batchOf(partition, events));
  const result = await people();
  project = own;
  return result;
}

const cases: [string, Sent[][], Sent[], Sent[]][] = [
  ['the creation of a visitor', [], [{ distinct_id: 'v' }], [identify('v', 'u', { plan: 'pro' })]],
  ['the creation of a visitor whose next event changes nothing', [], [{ distinct_id: 'v' }], [{ distinct_id: 'v' }]],
  ['the change of a person', [[set('u', { a: 1 })]], [set('u', { a: 2, b: 2 })], [set('u', { b: 3 })]],
  [
    'the merge of two persons',
    [[set('v', { v: 1 }), set('u', { u: 1 })]],
    [identify('v', 'u')],
    [set('v', { later: true }), set('u', { last: true })],
  ],
  [
    'the merge of a person, for an ID that the merge event does not name',
    [[set('v', { v: 1 }), identify('v', 'x')], [set('u', { u: 1 })]],
    [{ event: '$merge_dangerously', distinct_id: 'u', properties: { alias: 'v' } }],
    [set('x', { x: 1 }), set('u', { last: true })],
  ],
  [
    'the merge of one of two persons into a third',
    [[set('a', { a: 1 }), set('b', { b: 1 }), set('c', { c: 1 })]],
    [identify('a', 'b')],
    [{ event: '$merge_dangerously', distinct_id: 'c', properties: { alias: 'b' } }, set('a', { last: true })],
  ],
  [
    'the addition of an ID to an otherwise unchanged person',
    [[identify('v', 'u')]],
    [{ event: '$create_alias', distinct_id: 'u', properties: { alias: 'w' } }],
    [set('w', { w: 1 })],
  ],
];

test.each(cases)(
  'decides a batch based on the decisions of a previous uncommitted batch: %s',
  async (_, before, first, second) => {
    const member = createHandlerFixture(fixture, deps);
    for (const [index, events] of before.entries()) await member.handle(batchOf(10 + index, events));
    expect(await overlapping(first, second, 'are committed')).toEqual({ moved: 0 });
    expect(await people()).toEqual(await oneByOne([...before, first, second]));
  },
);

test.each(cases)(
  'repeats a batch that was based on a batch that was rolled back: %s',
  async (_, before, first, second) => {
    const member = createHandlerFixture(fixture, deps);
    for (const [index, events] of before.entries()) await member.handle(batchOf(10 + index, events));
    expect(await overlapping(first, second, 'one is undone')).toEqual({ moved: 1 });
    const expected = [await oneByOne([...before, first, second]), await oneByOne([...before, second, first])];
    expect(expected).toContainEqual(await people());
    expect(fixture.deadLetters).toEqual([]);
  },
);

test("a batch's rows contain the person in the state after the previous batch", async () => {
  await overlapping([set('u', { a: 1 })], [set('u', { b: 2 })], 'are committed');
  const rows = await fixture.database.sql.query(
    `SELECT person_properties - '$creator_event_uuid' AS shown FROM event WHERE project_id = $1 ORDER BY person_properties`,
    [project.id],
  );
  expect(rows).toEqual([{ shown: { a: 1 } }, { shown: { a: 1, b: 2 } }]);
});

test('repeats a batch if another process changed its persons, and loses no update', async () => {
  const member = createHandlerFixture(fixture, deps);
  await member.handle(batchOf(10, [set('u', { a: 1 }), set('w', { w: 1 })]));
  const stop = stopAt(advancing);
  const one = createHandlerFixture(fixture, { ...deps, database: stop.database });
  const handlingOne = one.handle(batchOf(0, [set('u', { first: true })]));
  await stop.arrived;
  const stored = createDeferred<void>();
  const two = createHandlerFixture(fixture, {
    ...deps,
    database: watchedDatabase(fixture.database, (text) => {
      if (storing.test(text)) stored.resolve();
    }),
  });
  const handlingTwo = two.handle(batchOf(1, [set('u', { second: true }), set('w', { second: true })]));
  await stored.promise;
  await createHandlerFixture(fixture, fixture.createDeps()).handle(batchOf(2, [set('w', { other: true })]));
  stop.letOn();
  await Promise.all([handlingOne, handlingTwo]);
  expect(await two.counted('retries_total', 'moved')).toBe(1);
  expect((await people()).map(({ properties }) => properties)).toEqual([
    { a: 1, first: true, second: true },
    { w: 1, second: true, other: true },
  ]);
});
