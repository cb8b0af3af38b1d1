import type { PartitionBatch } from '../append/transport.ts';
import { type ContractFixture, createContractFixture, range, readAll } from '../testing/contract-fixture.ts';
import { appendBatches } from './store.ts';

let fixture: ContractFixture;
beforeAll(async () => {
  fixture = await createContractFixture('postgres');
});
afterAll(() => fixture.stop());

function batch(topic: string, partition: number, writer: number): PartitionBatch {
  const records = range(0, 3).map((number) => ({
    ...{ topic, key: 'k', keyBytes: Buffer.from('k') },
    value: Buffer.from(`${writer}:${number}`),
  }));
  return { topic, partition, records };
}

test('concurrent writers to the same partitions all succeed, even if they list the partitions in different orders', async () => {
  const topic = await fixture.createTopic(4);
  await Promise.all(
    range(0, 40).map((writer) => {
      const batches = range(0, 4).map((partition) => batch(topic, partition, writer));
      if (writer % 2 === 1) batches.reverse();
      return fixture.database.transaction((tx) => appendBatches(tx, batches, 10_000));
    }),
  );
  const records = await readAll(fixture.log, topic, 40 * 4 * 3);
  for (const partition of range(0, 4)) {
    const own = records.filter((record) => record.partition === partition);
    expect(own.map(({ offset }) => Number(offset))).toEqual(range(0, 120));
    const writers = own.map(({ value }) => value.toString().split(':')[0]);
    expect(writers.filter((writer, index) => writer !== writers[index - 1])).toHaveLength(40);
  }
});

test('fails the whole transaction if one of the partitions is missing', async () => {
  const topic = await fixture.createTopic(1);
  const batches = [batch(topic, 0, 1), batch(topic, 7, 1)];
  await expect(fixture.database.transaction((tx) => appendBatches(tx, batches, 1000))).rejects.toThrow('partition 7');
  expect(await fixture.log.endOffsets(topic)).toMatchObject([{ partition: 0, endOffset: 0n }]);
});
