import type { Message, Partitioners } from 'kafkajs';
import produce, { type ProduceRequest } from 'kafkajs/src/protocol/requests/produce/index.js';
import type { OutgoingRecord } from '../../append/append-transport.ts';
import { measureRecordBatch, writeRecordBatch } from './record-batch.ts';
import { createRequestFrame, frameInPlace, type RequestFrame } from './request-frame.ts';

/**
 * Reason: kafkajs 2.2.4 encodes a produce request with one growing buffer per field and record, sums it with a CRC in
 * JavaScript, collects messages in time that grows with the square of their number, and answers an error of one
 * partition by failing, and sending again, all of them. Here it is one buffer per request, the CRC in native code, and errors
 * reported per partition. Everything around it (connections, metadata, leaders) stays kafkajs's.
 * Relies on: kafkajs looking its encoder up by version in a plain exported object each time, and passing on the messages of a
 * partition as they were given.
 * Witness: produce-protocol.test.ts, and against brokers the contract suite (event-log.contract.test.ts). If kafkajs changes,
 * `useOwnProduceEncoding` throws at start, and a bundle that reached the original encoder would be refused there as an
 * invalid value: neither can write wrong bytes.
 * May go: when a client takes the records of a partition as a whole, at this cost, and says how each partition fared.
 */

/** Record batches of magic 2 came with version 3 of the request. */
const oldestVersion = 3;
let isInstalled = false;

/** Puts our encoder in place, once per process. @throws Error when kafkajs is not the one this was written for. */
export function useOwnProduceEncoding(): void {
  if (isInstalled) return;
  if (typeof produce?.protocol !== 'function' || !produce.versions?.includes('7')) {
    throw new Error('kafkajs has changed its produce request; our encoding of it needs to be looked at.');
  }
  frameInPlace();
  const original = produce.protocol;
  produce.protocol = ({ version }) => {
    const build = original({ version });
    return (request) => {
      const { request: theirs, response } = build(request);
      if (version < oldestVersion || !hasBundles(request)) return { request: theirs, response };
      let frame: RequestFrame | undefined;
      return {
        request: {
          ...theirs,
          encode() {
            frame = encodeProduceRequest(request);
            return frame;
          },
        },
        response: {
          decode: response.decode,
          // The caller looks at the error code of each partition itself.
          async parse(data) {
            frame?.release();
            return data;
          },
        },
      };
    };
  };
  isInstalled = true;
}

/** All records of one partition as what kafkajs takes for one message: it must only carry them to our encoder. */
export function toBundle(partition: number, records: OutgoingRecord[]): Message {
  return { partition, value: records as unknown as Buffer };
}

/** Partitions were chosen before: kafkajs only reads them. */
export const chosenPartition: (typeof Partitioners)['DefaultPartitioner'] =
  () =>
  ({ message }) =>
    message.partition ?? 0;

function bundleOf(messages: Message[]): OutgoingRecord[] | null {
  const value: unknown = messages[0]?.value;
  return messages.length === 1 && Array.isArray(value) ? value : null;
}

function hasBundles({ topicData }: ProduceRequest): boolean {
  return topicData.every(({ partitions }) => partitions.every(({ messages }) => bundleOf(messages) !== null));
}

/** Produce request, versions 3 to 7: https://kafka.apache.org/protocol#The_Messages_Produce */
function encodeProduceRequest({ acks, timeout, topicData }: ProduceRequest): RequestFrame {
  const now = Date.now();
  const topics = topicData.map(({ topic, partitions }) => ({
    name: Buffer.from(topic, 'utf8'),
    partitions: partitions.map(({ partition, messages }) => ({
      partition,
      batch: measureRecordBatch(bundleOf(messages) ?? []),
    })),
  }));
  let size = 12;
  for (const { name, partitions } of topics) {
    size += 2 + name.length + 4;
    for (const { batch } of partitions) size += 8 + batch.size;
  }
  return createRequestFrame(size, (buffer) => {
    buffer.writeInt16BE(-1, 0); // no transactional id
    buffer.writeInt16BE(acks, 2);
    buffer.writeInt32BE(timeout, 4);
    let at = buffer.writeInt32BE(topics.length, 8);
    for (const { name, partitions } of topics) {
      at = buffer.writeInt16BE(name.length, at);
      at += name.copy(buffer, at);
      at = buffer.writeInt32BE(partitions.length, at);
      for (const { partition, batch } of partitions) {
        at = buffer.writeInt32BE(partition, at);
        at = buffer.writeInt32BE(batch.size, at);
        writeRecordBatch(buffer.subarray(at, at + batch.size), batch, now);
        at += batch.size;
      }
    }
  });
}
