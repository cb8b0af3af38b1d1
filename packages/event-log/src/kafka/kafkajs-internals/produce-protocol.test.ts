import { createRequire } from 'node:module';
import type { Message } from 'kafkajs';
import type { OutgoingRecord } from '../../append/transport.ts';
import { installProduceEncoder, wrapRecords } from './produce.ts';

/** Creates a request in the same steps as kafkajs: select the version, encode, and frame. */
const kafkajs = createRequire(import.meta.url);
const { lookup, requests } = kafkajs('kafkajs/src/protocol/requests/index.js');
const frameRequest = kafkajs('kafkajs/src/protocol/request.js');
const Decoder = kafkajs('kafkajs/src/protocol/decoder.js');
const decodeRecordBatch = kafkajs('kafkajs/src/protocol/recordBatch/v0/decoder.js');

const produceKey = 0;
const newestOfKafkajs = 7;
const messageTooLarge = 10;

function produce(messages: Message[]) {
  const topicData = [{ topic: 'topic', partitions: [{ partition: 3, messages }] }];
  const broker = { [produceKey]: { minVersion: 0, maxVersion: 12 } };
  return lookup(broker)(produceKey, requests.Produce)({ acks: -1, timeout: 500, topicData });
}

async function frame(request: unknown): Promise<Buffer> {
  return (await frameRequest({ correlationId: 77, clientId: 'test', request })).buffer;
}

/** Decodes a produce request: https://kafka.apache.org/protocol#The_Messages_Produce */
async function read(framed: Buffer) {
  const decoder = new Decoder(framed);
  const size = decoder.readInt32();
  const head = [decoder.readInt16(), decoder.readInt16(), decoder.readInt32(), decoder.readString()];
  const settings = [decoder.readInt16(), decoder.readInt16(), decoder.readInt32()];
  const place = [decoder.readInt32(), decoder.readString(), decoder.readInt32(), decoder.readInt32()];
  const batchSize = decoder.readInt32();
  const { records } = await decodeRecordBatch(decoder);
  const values = records.map(({ value }: { value: Buffer }) => value.toString());
  return { size, head, settings, place, batchSize, left: decoder.buffer.length - decoder.offset, values };
}

const record = (value: string): OutgoingRecord => ({
  topic: 'topic',
  key: 'k',
  keyBytes: Buffer.from('k'),
  value: Buffer.from(value),
});

beforeAll(() => installProduceEncoder());

test('kafkajs frames our encoded request correctly', async () => {
  const { request } = produce([wrapRecords(3, [record('one'), record('two')])]);
  const framed = await frame(request);
  expect(await read(framed)).toEqual({
    size: framed.length - 4,
    head: [produceKey, newestOfKafkajs, 77, 'test'],
    settings: [-1, -1, 500],
    place: [1, 'topic', 1, 3],
    batchSize: expect.any(Number),
    left: 0,
    values: ['one', 'two'],
  });
});

test('a request is written once, into memory that is reused after the response', async () => {
  const first = produce([wrapRecords(3, [record('first')])]);
  const memory = (await frame(first.request)).buffer;
  const meanwhile = await frame(produce([wrapRecords(3, [record('meanwhile')])]).request);
  expect(meanwhile.buffer).not.toBe(memory);
  await first.response.parse({});
  // The preceding tests may have left up to three unused buffers in the pool.
  const later = await Promise.all(
    ['1', '2', '3', '4'].map((value) => frame(produce([wrapRecords(3, [record(value)])]).request)),
  );
  expect(later.filter(({ buffer }) => buffer === memory)).toHaveLength(1);
  expect(await Promise.all(later.map(async (framed) => (await read(framed)).values))).toEqual([
    ['1'],
    ['2'],
    ['3'],
    ['4'],
  ]);
});

test('returns the error of a single partition to the caller', async () => {
  const { response } = produce([wrapRecords(3, [record('one')])]);
  const decoded = { topics: [{ topicName: 'topic', partitions: [{ partition: 3, errorCode: messageTooLarge }] }] };
  expect(await response.parse(decoded)).toBe(decoded);
});

test('kafkajs encodes messages that we have not encoded', async () => {
  const { request, response } = produce([{ key: null, value: Buffer.from('plain') }]);
  expect((await read(await frame(request))).values).toEqual(['plain']);
  const decoded = { topics: [{ topicName: 'topic', partitions: [{ partition: 3, errorCode: messageTooLarge }] }] };
  await expect(response.parse(decoded)).rejects.toThrow();
});
