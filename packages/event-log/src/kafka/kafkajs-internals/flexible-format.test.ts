import { createFlexibleReader, encodeCompactString, encodeUnsignedVarint } from './metadata.ts';

test.each([
  [0, [0]],
  [127, [0x7f]],
  [128, [0x80, 1]],
  [300, [0xac, 2]],
])('encodes %d as a varint', (value, bytes) => {
  expect([...encodeUnsignedVarint(value)]).toEqual(bytes);
});

test.each(['', 'a', 'ä'.repeat(100), 'x'.repeat(20_000)])('reads back Kafka strings of any length', (text) => {
  expect(createFlexibleReader(encodeCompactString(text)).text()).toBe(text);
});

test('reads a missing string as null, and skips tags after array elements', () => {
  expect(createFlexibleReader(Buffer.of(0)).text()).toBeNull();
  const tags = Buffer.of(2, 7, 1, 99, 200, 1, 2, 5, 5);
  const two = Buffer.concat([Buffer.of(3), Buffer.of(0, 1), tags, Buffer.of(0, 2), Buffer.of(0)]);
  const reader = createFlexibleReader(two);
  expect(reader.array(() => reader.int16())).toEqual([1, 2]);
});

test.each([
  ['bytes', (reader: ReturnType<typeof createFlexibleReader>) => reader.bytes(4)],
  ['a number', (reader: ReturnType<typeof createFlexibleReader>) => reader.int32()],
])('throws when a Kafka response ends too early: %s', (_, read) => {
  expect(() => read(createFlexibleReader(Buffer.of(1, 2)))).toThrow();
});
