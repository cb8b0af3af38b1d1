import type { Message, Partitioners } from 'kafkajs';
import produce, { type ProduceRequest } from 'kafkajs/src/protocol/requests/produce/index.js';
import type { OutgoingRecord } from '../append/append-transport.ts';
import { encodeRecordBatch } from './record-batch.ts';

/**
 * kafkajs 2.2.4 encodes a produce request with one growing buffer per field and record, sums it with a CRC in
 * JavaScript, collects messages in time that grows with the square of their number, and answers an error of one
 * partition by failing, and sending again, all of them. It looks its request encoder up by version in a plain exported
 * object each time, so this file, and only this file, puts another encoder there: one buffer per partition, the CRC
 * in native code, errors reported per partition. Everything around it (connections, metadata, leaders) stays kafkajs's.
 *
 * If kafkajs ever changes, `useOwnProduceEncoding` throws at start, and a bundle that reached the original encoder
 * would be refused there as an invalid value: neither can write wrong bytes.
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
  const original = produce.protocol;
  produce.protocol = ({ version }) => {
    const build = original({ version });
    return (request) => {
      const { request: theirs, response } = build(request);
      if (version < oldestVersion || !hasBundles(request)) return { request: theirs, response };
      return {
        request: { ...theirs, encode: () => asEncoder(encodeProduceRequest(request)) },
        // The caller looks at the error code of each partition itself.
        response: { decode: response.decode, parse: async (data) => data },
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
function encodeProduceRequest({ acks, timeout, topicData }: ProduceRequest): Buffer {
  const now = Date.now();
  const head = Buffer.alloc(12);
  head.writeInt16BE(-1, 0); // no transactional id
  head.writeInt16BE(acks, 2);
  head.writeInt32BE(timeout, 4);
  head.writeInt32BE(topicData.length, 8);
  const parts: Buffer[] = [head];
  for (const { topic, partitions } of topicData) {
    const name = Buffer.from(topic, 'utf8');
    const topicHead = Buffer.alloc(2 + name.length + 4);
    topicHead.writeInt16BE(name.length, 0);
    name.copy(topicHead, 2);
    topicHead.writeInt32BE(partitions.length, 2 + name.length);
    parts.push(topicHead);
    for (const { partition, messages } of partitions) {
      const batch = encodeRecordBatch(bundleOf(messages) ?? [], now);
      const partitionHead = Buffer.alloc(8);
      partitionHead.writeInt32BE(partition, 0);
      partitionHead.writeInt32BE(batch.length, 4);
      parts.push(partitionHead, batch);
    }
  }
  return Buffer.concat(parts);
}

/** What kafkajs reads of its own `Encoder` when it frames a request. */
function asEncoder(buffer: Buffer): { buf: Buffer; buffer: Buffer; size(): number } {
  return { buf: buffer, buffer, size: () => buffer.length };
}
