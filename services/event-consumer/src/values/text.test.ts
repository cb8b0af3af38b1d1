import { textHash32, textHash53 } from './text.ts';

test.each([
  ['', 0x811c9dc5],
  ['a', 0xe40c292c],
  ['foobar', 0xbf9cf968],
])('the hash of "%s" equals the published FNV-1a vector', (text, hash) => {
  expect(textHash32(text)).toBe(hash);
});

test('the 53-bit hash distinguishes strings that have the same 32-bit hash', () => {
  const twins = ['event:712:-1:prop_102', 'event:570:-1:prop_69'];
  expect(new Set(twins.map((text) => textHash32(text))).size).toBe(1);
  const hashes = twins.map(textHash53);
  expect(new Set(hashes).size).toBe(2);
  expect(hashes.every(Number.isSafeInteger)).toBe(true);
});
