import { randomUUID } from 'node:crypto';
import { eventually } from '@millrace/testing';
import type { LogBatch } from '../log.ts';
import { type ContractFixture, createContractFixture, numbered, range, readAll } from '../testing/contract-fixture.ts';
import { testLogger } from '../testing/test-logger.ts';
import { createTrimmer } from './log.ts';

let fixture: ContractFixture;
beforeAll(async () => {
  fixture = await createContractFixture('postgres');
});
afterAll(() => fixture.stop());

async function trim(
  retentionHours: number,
  more: { unreadRetentionHours?: number; retiredGroups?: string[] } = {},
): Promise<void> {
  const trimmer = createTrimmer(fixture.database, testLogger(), { retentionHours, ...more, intervalMs: 60_000 });
  await trimmer.trim();
  trimmer.stop();
}

async function storeOffset(topic: string, partition: number, group: string, nextOffset: number): Promise<void> {
  await fixture.database.sql.query(
    `INSERT INTO consumer_offset (topic, partition, "group", log, next_offset)
     SELECT topic, partition, $3, 'postgres/' || log_id, $4 FROM event_log_partition WHERE topic = $1 AND partition = $2`,
    [topic, partition, group, nextOffset],
  );
}

async function offsetsLeft(topic: string): Promise<number[]> {
  const rows = await fixture.database.sql.query<{ offset: string }>(
    'SELECT "offset" FROM event_log_record WHERE topic = $1 ORDER BY partition, "offset"',
    [topic],
  );
  return rows.map(({ offset }) => Number(offset));
}

test('the trimmer deletes only records that all known groups have read', async () => {
  const topic = await fixture.createTopic(1);
  const unread = await fixture.createTopic(1);
  await fixture.log.append([...numbered(topic, 'k', 0, 20), ...numbered(unread, 'k', 0, 5)]);
  await storeOffset(topic, 0, 'fast', 15);
  await storeOffset(topic, 0, 'slow', 6);
  await trim(0);
  expect(await offsetsLeft(topic)).toEqual(range(6, 14));
  expect(await offsetsLeft(unread)).toEqual(range(0, 5));
});

test('the trimmer does not keep records for a retired group', async () => {
  const topic = await fixture.createTopic(1);
  await fixture.log.append(numbered(topic, 'k', 0, 20));
  await storeOffset(topic, 0, 'storing', 12);
  await storeOffset(topic, 0, 'publishing', 5);
  await trim(0);
  expect(await offsetsLeft(topic)).toEqual(range(5, 15));
  await trim(0, { retiredGroups: ['publishing'] });
  expect(await offsetsLeft(topic)).toEqual(range(12, 8));
});

test('the trimmer ignores offsets of other logs', async () => {
  const topic = await fixture.createTopic(1);
  await fixture.log.append(numbered(topic, 'k', 0, 10));
  await storeOffset(topic, 0, 'group', 4);
  await fixture.database.sql.query(
    `INSERT INTO consumer_offset (topic, partition, "group", log, next_offset) VALUES ($1, 0, 'group', 'kafka/x', 10)`,
    [topic],
  );
  await trim(0);
  expect(await offsetsLeft(topic)).toEqual(range(4, 6));
});

test('the trimmer deletes records that no group reads after a longer retention time', async () => {
  const topic = await fixture.createTopic(1);
  await fixture.log.append(numbered(topic, 'k', 0, 10));
  await fixture.database.sql.query(
    `UPDATE event_log_record SET appended_at = now() - interval '3 hours' WHERE topic = $1 AND "offset" < 4`,
    [topic],
  );
  await trim(0);
  expect(await offsetsLeft(topic)).toEqual(range(0, 10));
  await trim(0, { unreadRetentionHours: 2 });
  expect(await offsetsLeft(topic)).toEqual(range(4, 6));
});

test('the trimmer deletes more records than fit into one step', async () => {
  const topic = await fixture.createTopic(1);
  await fixture.log.append(numbered(topic, 'k', 0, 4500));
  await storeOffset(topic, 0, 'group', 4400);
  await trim(0);
  expect(await offsetsLeft(topic)).toEqual(range(4400, 100));
});

test('the trimmer keeps records that are younger than the retention time', async () => {
  const topic = await fixture.createTopic(1);
  await fixture.log.append(numbered(topic, 'k', 0, 10));
  await fixture.database.sql.query(
    `UPDATE event_log_record SET appended_at = now() - interval '3 hours' WHERE topic = $1 AND "offset" < 4`,
    [topic],
  );
  await storeOffset(topic, 0, 'group', 10);
  await trim(2);
  expect(await offsetsLeft(topic)).toEqual(range(4, 6));
});

test("the trimmer keeps a partition's records until every known group has stored an offset", async () => {
  const topic = await fixture.createTopic(2);
  await fixture.log.append(range(0, 20).map((n) => ({ topic, key: null, value: Buffer.from(String(n)) })));
  await storeOffset(topic, 0, 'one', 10);
  await storeOffset(topic, 1, 'one', 10);
  await storeOffset(topic, 0, 'two', 10);
  await trim(0);
  expect(await offsetsLeft(topic)).toEqual(range(0, 10));
  expect((await readAll(fixture.log, topic, 10)).every(({ partition }) => partition === 1)).toBe(true);
});

test('reading continues after deleted records, and offsets keep increasing even if no records are left', async () => {
  const topic = await fixture.createTopic(1);
  await fixture.log.append(numbered(topic, 'k', 0, 10));
  await storeOffset(topic, 0, 'group', 10);
  await trim(0);
  expect(await offsetsLeft(topic)).toEqual([]);
  const batches: LogBatch[] = [];
  await fixture.consume(topic, randomUUID(), {
    startOffset: async () => ({ nextOffset: 3n, lastRecordFingerprint: null }),
    async handler(batch) {
      batches.push(batch);
      return { outcome: 'done', nextOffset: (batch.records.at(-1)?.offset ?? 0n) + 1n };
    },
  });
  await fixture.log.append(numbered(topic, 'k', 10, 1));
  await eventually(() => batches.length === 1, { what: 'a batch' });
  expect(batches[0]).toMatchObject({ continuesFrom: 3n, records: [{ offset: 10n }] });
});
