import { randomUUID } from 'node:crypto';
import { createDatabase, type Database } from '@millrace/db';
import { advanceOffset, createPostgresLog, type EventLog, lockOffset } from '@millrace/event-log';
import { createLogger } from '@millrace/runtime';
import { createTestDatabase, patienceMs, type TestDatabase } from '@millrace/testing';
import { runCli } from '../program.ts';

const logger = createLogger('test', 'error');
let testDatabase: TestDatabase;
let database: Database;
let log: EventLog;
let topic: string;
let logId: string;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({ url: testDatabase.url, logger, poolSize: 4 });
  log = createPostgresLog({ database, logger, appendTimeoutMs: patienceMs });
});
afterAll(async () => {
  await log.close();
  await database.stop();
  await testDatabase.drop();
});
beforeEach(async () => {
  await database.prisma.consumer_offset.deleteMany();
  topic = randomUUID();
  await log.ensureTopics([{ topic, partitions: 1 }]);
  logId = (await log.endOffsets(topic))[0]?.log ?? '';
  await log.append([1, 2, 3].map((n) => ({ topic, key: 'k', value: Buffer.from(String(n)) })));
});

async function run(...args: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const exitCode = await runCli([...args, '--json'], {
    env: { DATABASE_URL: testDatabase.url, EVENT_LOG: 'postgres' },
    out: { write: (text) => out.push(text) },
    err: { write: (text) => err.push(text) },
  });
  return { exitCode, rows: out.length > 0 ? JSON.parse(out.join('')) : null, err: err.join('') };
}

async function store(offset: bigint, of = logId, group = 'g'): Promise<void> {
  const key = { topic, partition: 0, group, log: of };
  const last = { offset: offset - 1n, key: 'k', value: Buffer.from('x'), headers: {}, appendedAtMs: 0 };
  await database.transaction(async (tx) => {
    await lockOffset(tx, key);
    await advanceOffset(tx, key, last);
  });
}

const stored = () => database.prisma.consumer_offset.findMany({ where: { topic }, orderBy: { group: 'asc' } });

test('lists stored offsets with the number of unread records, including offsets of a log that is no longer used', async () => {
  await store(1n);
  await store(3n, logId, 'all');
  await store(9n, 'kafka/gone/1');
  const { rows } = await run('offsets', 'list');
  const of = (group: string, state: string, next: number, end: number | null) =>
    expect.objectContaining({ partition: `${topic}/0`, group, state, next, end });
  expect(rows).toEqual([of('all', 'read', 3, 3), of('g', 'former', 9, null), of('g', 'unread', 1, 3)]);
  expect((await run('offsets', 'list', '--unread')).rows).toHaveLength(2);
});

test.each([
  ['start', 0n],
  ['end', 3n],
  ['2', 2n],
])('`accept --from %s` makes consumers continue with a truncated partition', async (from, expected) => {
  await store(7n);
  await store(7n, logId, 'other');
  expect((await run('offsets', 'list')).rows[0]).toMatchObject({ state: 'truncated', next: 7, end: 3 });
  expect((await run('offsets', 'accept', `${topic}/0`, '--from', from, '--group', 'g')).exitCode).toBe(0);
  expect(await stored()).toMatchObject([
    { group: 'g', next_offset: expected, last_record_fingerprint: null },
    { group: 'other', next_offset: 7n, last_record_fingerprint: expect.any(String) },
  ]);
});

test('`forget` deletes the offsets of a log that no longer exists', async () => {
  await store(9n, 'kafka/gone/1');
  expect((await run('offsets', 'forget', 'kafka/gone/1')).rows).toEqual({ forgotten: 1 });
  expect(await stored()).toEqual([]);
});

test.each([
  [['accept', 'nowhere/0', '--from', 'start'], 1, 'No consumer group has read nowhere/0'],
  [['accept', 'nowhere/0', '--from', 'middle'], 2, 'Must be start, end or an offset'],
  [['accept', 'nowhere/0'], 2, '--from'],
  [['forget', 'kafka/x'], 1, 'No offsets are stored for kafka/x'],
] as const)('offset commands reject %j', async (args, code, message) => {
  const { exitCode, err } = await run('offsets', ...args);
  expect([exitCode, err]).toEqual([code, expect.stringContaining(message)]);
});

test('rejects an offset beyond the end of the partition', async () => {
  await store(7n);
  const { exitCode, err } = await run('offsets', 'accept', `${topic}/0`, '--from', '4');
  expect([exitCode, err]).toEqual([2, expect.stringContaining('The log ends at 3')]);
});
