import { randomUUID } from 'node:crypto';
import { createLogger, type Logger } from '@millrace/runtime';
import { reportFormerLogs } from './former-log.ts';
import { type ConsumerFixture, createConsumerFixture } from './testing/consumer-fixture.ts';

let fixture: ConsumerFixture;
beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());

const topic = randomUUID();

async function store(log: string, group: string, age = '0 days'): Promise<void> {
  await fixture.database.sql.query(
    `INSERT INTO consumer_offset (topic, partition, "group", log, next_offset, updated_at)
     SELECT $1, number, $2, $3, 7, now() - $4::interval FROM generate_series(0, 1) AS number`,
    [topic, group, log, age],
  );
}

async function namedLogs(current: string | null): Promise<string[]> {
  const named: string[] = [];
  const logger = createLogger('test', 'error');
  logger.warn = ((message: string, { log }: { log: string }) => {
    expect(message).toContain('millrace offsets forget');
    named.push(log);
    return logger;
  }) as Logger['warn'];
  const log = current === null ? null : { endOffsets: async () => [{ partition: 0, log: current, endOffset: 9n }] };
  await reportFormerLogs({ database: fixture.database, log, readers: [{ topic, group: 'g' }], logger });
  return named.sort();
}

test('reports the Kafka logs that were read before, except for the current log', async () => {
  await store('kafka/cluster/one', 'g');
  await store('kafka/cluster/two', 'g', '3 days');
  await store('kafka/cluster/long-ago', 'g', '40 days');
  await store('kafka/cluster/of-others', 'another group');
  await store('postgres/x', 'g');
  expect(await namedLogs('kafka/cluster/one')).toEqual(['kafka/cluster/two']);
  expect(await namedLogs(null)).toEqual(['kafka/cluster/one', 'kafka/cluster/two']);
});
