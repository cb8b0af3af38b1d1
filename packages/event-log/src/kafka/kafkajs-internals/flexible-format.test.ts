import { compactText, createFlexibleReader, unsignedVarint } from './metadata.ts';

test.each([
  [0, [0]],
  [127, [0x7f]],
  [128, [0x80, 1]],
  [300, [0xac, 2]],
])('a varint of %d', (value, bytes) => {
  expect([...unsignedVarint(value)]).toEqual(bytes);
});

test.each(['', 'a', 'ä'.repeat(100), 'x'.repeat(20_000)])('texts, also long ones', (text) => {
  expect(createFlexibleReader(compactText(text)).text()).toBe(text);
});

test('no text is null, elements end with tags, and tags are skipped', () => {
  expect(createFlexibleReader(Buffer.of(0)).text()).toBeNull();
  const tags = Buffer.of(2, 7, 1, 99, 200, 1, 2, 5, 5);
  const two = Buffer.concat([Buffer.of(3), Buffer.of(0, 1), tags, Buffer.of(0, 2), Buffer.of(0)]);
  const reader = createFlexibleReader(two);
  expect(reader.array(() => reader.int16())).toEqual([1, 2]);
});

test.each([
  ['bytes', (reader: ReturnType<typeof createFlexibleReader>) => reader.bytes(4)],
  ['a number', (reader: ReturnType<typeof createFlexibleReader>) => reader.int32()],
])('an answer that ends too early is an error: %s', (_, read) => {
  expect(() => read(createFlexibleReader(Buffer.of(1, 2)))).toThrow();
});
