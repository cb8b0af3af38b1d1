import { randomUUID } from 'node:crypto';
import type { CapturedEvent } from '@millrace/contracts';
import {
  type ConsumerFixture,
  capturedEvent,
  createConsumerFixture,
  logBatch,
  type TestProject,
} from './testing/consumer-fixture.ts';
import { createHandlerFixture, type HandlerFixture } from './testing/handler-fixture.ts';

/**
 * Tests attacks that anyone who has the public key can make: creating large persons and groups, and then referring to
 * them in small events.
 */
let fixture: ConsumerFixture;
let project: TestProject;
let topic: string;
let handler: HandlerFixture;
/** The total size in bytes of the statements in transactions, including COPY rows, and of their results. */
let sentBytes = 0;
let readBytes = 0;

beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());
beforeEach(async () => {
  project = await fixture.createProject();
  topic = randomUUID();
  handler = createHandlerFixture(fixture, fixture.createDeps({ database: countingDatabase(fixture.database) }));
  offset = 0;
});

function countingDatabase(database: ConsumerFixture['database']): Pick<ConsumerFixture['database'], 'transaction'> {
  return {
    transaction: (work) =>
      database.transaction((tx) =>
        work({
          ...tx,
          query: (text, values) => {
            for (const value of values ?? []) if (typeof value === 'string') sentBytes += value.length;
            return tx.query(text, values).then((rows) => {
              readBytes += JSON.stringify(rows).length;
              return rows as never[];
            });
          },
          copy: (statement, chunks) => tx.copy(statement, counted(chunks)),
        }),
      ),
  };
}

function* counted(chunks: Iterable<Buffer>): Generator<Buffer> {
  for (const chunk of chunks) {
    sentBytes += chunk.length;
    yield chunk;
  }
}

let offset = 0;
async function send(events: Partial<CapturedEvent>[]): Promise<void> {
  const contents = events.map((event) => capturedEvent(project.token, event));
  const result = await handler.handle(logBatch(topic, offset, contents));
  offset += events.length;
  expect(result).toEqual(expect.objectContaining({ outcome: 'done', nextOffset: BigInt(offset) }));
}

const query = (text: string) => fixture.database.sql.query(text, [project.id]);
const storedEvents = async () => Number((await query('SELECT count(*) AS n FROM event WHERE project_id = $1'))[0]?.n);
const warnings = (type: string) =>
  query(`SELECT sum(count)::int AS n FROM ingestion_warning WHERE project_id = $1 AND type = '${type}'`);

/** Creates many small properties, which are the worst case for code that copies objects. */
const manyProperties = (bytes: number, prefix: string) =>
  Object.fromEntries(
    Array.from({ length: Math.floor(bytes / 16) }, (_, n) => [`${prefix}${String(n).padStart(6, '0')}`, 1000]),
  );

test("rejects a group update that would exceed 655,360 bytes with a warning, and keeps the group's properties", async () => {
  const update = (n: number, bytes: number) => ({
    event: '$groupidentify',
    properties: { $group_type: 'org', $group_key: 'g', $group_set: { [`k${n}`]: 'x'.repeat(bytes) } },
  });
  await send([update(0, 300_000), update(1, 300_000), update(2, 300_000), update(3, 10)]);
  await send(Array.from({ length: 12 }, (_, n) => update(n + 4, 833_000)));
  await send([{ ...update(0, 833_000), properties: { ...update(0, 833_000).properties, $group_key: 'new' } }]);
  const groups = await query(
    `SELECT group_key, version, ARRAY(SELECT jsonb_object_keys(group_properties)) AS keys FROM "group"
      WHERE project_id = $1 ORDER BY group_key`,
  );
  expect(groups).toEqual([
    { group_key: 'g', version: '3', keys: ['k0', 'k1', 'k3'] },
    { group_key: 'new', version: '1', keys: [] },
  ]);
  expect(await warnings('group_properties_size_violation')).toEqual([{ n: 14 }]);
  expect(await storedEvents()).toBe(17);
  const [warning] = await query(
    `SELECT severity, details FROM ingestion_warning WHERE project_id = $1 AND type LIKE 'group%' LIMIT 1`,
  );
  expect(warning).toMatchObject({
    severity: 'error',
    details: { groupKey: 'g', groupTypeIndex: 0, maxBytes: 655_360 },
  });
});

test('writes a person of 450 KB only once for five hundred small updates in one batch', async () => {
  await send([{ event: '$set', properties: { $set: manyProperties(450_000, 'a') } }]);
  sentBytes = 0;
  await send(Array.from({ length: 500 }, (_, n) => ({ event: '$set', properties: { $set: { [`n${n % 7}`]: n } } })));
  expect(sentBytes).toBeLessThan(1_500_000);
  expect(await storedEvents()).toBe(501);
  expect(await query("SELECT version, (properties->>'n2')::int AS n FROM person WHERE project_id = $1")).toEqual([
    { version: '500', n: 499 },
  ]);
  const [last] = await query(
    `SELECT person_properties FROM event WHERE project_id = $1 AND properties->'$set' @> '{"n2": 499}'`,
  );
  expect(last).toEqual({ person_properties: { n2: 499 } });
  expect(await warnings('person_properties_not_shown')).toEqual([{ n: 501 }]);
});

test('loads a large person only once for five hundred events in one batch', async () => {
  await send([{ distinct_id: 'p', event: '$set', properties: { $set: manyProperties(450_000, 'a') } }]);
  await send(
    Array.from({ length: 500 }, (_, n) => ({
      distinct_id: 'p',
      event: '$identify',
      properties: { $anon_distinct_id: `id${n}` },
    })),
  );
  readBytes = 0;
  await send(Array.from({ length: 500 }, (_, n) => ({ distinct_id: `id${n}` })));
  expect(readBytes).toBeLessThan(1_000_000);
  expect(await handler.counted('retries_total', 'too_large')).toBe(0);
  expect(await storedEvents()).toBe(1001);
});

test('splits a batch if its large persons or groups together exceed the size limit', async () => {
  const large = { text: 'x'.repeat(600_000) };
  for (let n = 0; n < 20; n += 1) await send([{ distinct_id: `p${n}`, event: '$set', properties: { $set: large } }]);
  await send(Array.from({ length: 20 }, (_, n) => ({ distinct_id: `p${n}`, properties: { $set: { n } } })));
  expect(await handler.counted('retries_total', 'too_large')).toBeGreaterThan(0);
  const update = (n: number, groupSet: object) => ({
    event: '$groupidentify',
    properties: { $group_type: 'org', $group_key: `g${n}`, $group_set: groupSet },
  });
  for (let n = 0; n < 20; n += 1) await send([update(n, large)]);
  const before = await handler.counted('retries_total', 'too_large');
  await send(Array.from({ length: 20 }, (_, n) => update(n, { n })));
  expect(await handler.counted('retries_total', 'too_large')).toBeGreaterThan(before);
  const [persons] = await query(`SELECT count(*)::int AS n FROM person WHERE project_id = $1 AND properties ? 'n'`);
  const [groups] = await query(
    `SELECT count(*)::int AS n FROM "group" WHERE project_id = $1 AND group_properties ? 'n'`,
  );
  expect([persons, groups]).toEqual([{ n: 20 }, { n: 20 }]);
  expect(await storedEvents()).toBe(80);
});

test('splits a batch whose rows would contain too many medium-sized persons', async () => {
  const set = manyProperties(60_000, 'a');
  await send([{ event: '$set', properties: { $set: set } }]);
  await send(Array.from({ length: 300 }, (_, n) => ({ event: '$set', properties: { $set: { n } } })));
  expect(await handler.counted('retries_total', 'too_large')).toBeGreaterThan(0);
  const [shown] = await query(
    `SELECT count(*)::int AS n FROM event WHERE project_id = $1 AND person_properties ? 'a000001'
        AND person_properties->'n' IS NOT DISTINCT FROM properties->'$set'->'n'`,
  );
  expect(shown).toEqual({ n: 301 });
});
