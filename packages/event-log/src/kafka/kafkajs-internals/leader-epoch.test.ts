import { createRequire } from 'node:module';
import type { KafkaMessage } from 'kafkajs';
import { findNewestLeaderEpoch } from './metadata.ts';
import { encodeRecordBatch } from './testing/encode-record-batch.ts';

const kafkajs = createRequire(import.meta.url);
const Decoder = kafkajs('kafkajs/src/protocol/decoder.js');
const decodeRecordBatch = kafkajs('kafkajs/src/protocol/recordBatch/v0/decoder.js');
const Batch = kafkajs('kafkajs/src/consumer/batch.js');

const epochAt = 12;

async function fetched(epoch: number): Promise<KafkaMessage[]> {
  const value = Buffer.from('value');
  const buffer = encodeRecordBatch([{ topic: 't', key: null, keyBytes: null, value }], 0);
  buffer.writeInt32BE(epoch, epochAt);
  const { records: messages } = await decodeRecordBatch(new Decoder(buffer));
  return new Batch('t', '0', { partition: 0, highWatermark: '1', abortedTransactions: [], messages }).messages;
}

test('returns the leader epoch of the last message in a Kafka batch', async () => {
  const messages = [...(await fetched(7)), ...(await fetched(9))];
  expect(messages).toHaveLength(2);
  expect(findNewestLeaderEpoch(messages)).toBe(9);
});

test('returns no leader epoch for an empty batch and for messages without an epoch', async () => {
  expect(findNewestLeaderEpoch([])).toBeNull();
  const [message] = await fetched(7);
  expect(findNewestLeaderEpoch([{ ...message, batchContext: undefined } as unknown as KafkaMessage])).toBeNull();
});
