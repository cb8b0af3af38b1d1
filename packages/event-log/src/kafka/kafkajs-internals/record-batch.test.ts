import { createRequire } from 'node:module';
import fc from 'fast-check';
import { type OutgoingRecord, recordSize } from '../../append/transport.ts';
import { encodeRecordBatch } from './testing/encode-record-batch.ts';

/** Decodes batches with kafkajs's own code, which is independent of ours. */
const require = createRequire(import.meta.url);
const Decoder = require('kafkajs/src/protocol/decoder.js');
const decodeRecordBatch = require('kafkajs/src/protocol/recordBatch/v0/decoder.js');
const crc32C: (buffer: Buffer) => number = require('kafkajs/src/protocol/recordBatch/crc32C/index.js');

// Header names have a prefix, because kafkajs reads headers into a plain object and fails for names such as
// `constructor`.
const headerName = fc.string({ minLength: 1 }).map((name) => `h-${name}`);
const bytes = fc.uint8Array({ maxLength: 9000 }).map((array) => Buffer.from(array));
const records = fc.array(
  fc.record({
    keyBytes: fc.option(bytes),
    value: bytes,
    headers: fc.option(fc.dictionary(headerName, fc.string({ unit: 'binary', maxLength: 200 })), {
      nil: undefined,
    }),
  }),
  { minLength: 1, maxLength: 200 },
);

function toOutgoing({
  keyBytes,
  value,
  headers,
}: {
  keyBytes: Buffer | null;
  value: Buffer;
  headers?: Record<string, string> | undefined;
}): OutgoingRecord {
  return {
    topic: 't',
    key: keyBytes === null ? null : '',
    keyBytes,
    value,
    ...(headers === undefined ? {} : { headers }),
  };
}

test('a record batch decodes to the same records, with the right checksum', async () => {
  await fc.assert(
    fc.asyncProperty(records, fc.integer({ min: 0, max: 2 ** 42 }), async (generated, now) => {
      const written = generated.map(toOutgoing);
      const buffer = encodeRecordBatch(written, now);

      expect(buffer.readUInt32BE(17)).toBe(crc32C(buffer.subarray(21)));
      const batch = await decodeRecordBatch(new Decoder(buffer));
      expect(batch.records).toHaveLength(written.length);
      expect(batch.maxTimestamp).toBe(String(now));
      written.forEach((record, index) => {
        const read = batch.records[index];
        expect(Number(read.offset)).toBe(index);
        expect(read.timestamp).toBe(String(now));
        expect(read.key).toEqual(record.keyBytes);
        expect(read.value).toEqual(record.value);
        const headers = Object.entries(record.headers ?? {}).map(([name, value]) => [name, Buffer.from(value)]);
        expect(read.headers).toEqual(Object.fromEntries(headers));
      });
    }),
    { numRuns: 60 },
  );
});

test('an encoded record never exceeds its estimated size', () => {
  fc.assert(
    fc.property(records, (generated) => {
      const written = generated.map(toOutgoing);
      const measured = written.reduce((sum, record) => sum + recordSize(record), 61);
      const actual = encodeRecordBatch(written, 0).length;
      expect(actual).toBeLessThanOrEqual(measured);
      expect(measured - actual).toBeLessThanOrEqual(4 * written.length);
    }),
    { numRuns: 60 },
  );
});
