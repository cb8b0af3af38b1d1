import fc from 'fast-check';
import { Partitioners } from 'kafkajs';
import { murmur2, partitionForKey } from './partition-queue.ts';

const partitionMetadata = Array.from({ length: 12 }, (_, partitionId) => ({
  partitionId,
  leader: 1,
  partitionErrorCode: 0,
  replicas: [],
  isr: [],
}));

test('assigns a key to the same partition as other Kafka clients', () => {
  const kafkajsPartitioner = Partitioners.DefaultPartitioner();
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ minLength: 1, maxLength: 9 })), (text) => {
      const key = Buffer.from(text, 'utf8');
      const expected = kafkajsPartitioner({ topic: 't', partitionMetadata, message: { key, value: null } });
      expect(partitionForKey(key, partitionMetadata.length)).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});

// The expected values are from the UtilsTest of org.apache.kafka.common.utils.Utils.murmur2.
test.each([
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
  ['abc', 479470107],
])('the hash of %j equals that of the Java client', (text, hash) => {
  expect(murmur2(Buffer.from(text))).toBe(hash);
});
