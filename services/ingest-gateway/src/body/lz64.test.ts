import fc from 'fast-check';
import lzString from 'lz-string';
import { decodeLz64 } from './lz64.ts';

const noLimit = 10_000_000;

test.each([
  ['body-014 emoji', '{"event":"party 🎉🎊","distinct_id":"ü"}'],
  ['an empty string', ''],
  ['one character', 'a'],
  ['one repeated character', 'a'.repeat(5000)],
  ['a string that refers to the phrase being defined', 'abababababababa'],
])('decodes the output of the lz-string library: %s', (_name, text) => {
  expect(decodeLz64(lzString.compressToBase64(text), noLimit)).toEqual({ outcome: 'text', text });
});

test('decodes any output of the lz-string library, including lone surrogates', () => {
  const units = fc.array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 97, max: 99 })), {
    maxLength: 400,
  });
  fc.assert(
    fc.property(units, (codes) => {
      const text = String.fromCharCode(...codes);
      expect(decodeLz64(lzString.compressToBase64(text), noLimit)).toEqual({ outcome: 'text', text });
    }),
  );
});

test('returns `broken` for any invalid lz64 input, and never throws', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ABCZaz059+/= é') }), (garbage) => {
      expect(['text', 'broken', 'too_long']).toContain(decodeLz64(garbage, 10_000).outcome);
    }),
  );
});

test.each(['', '!!!!', 'AAAA', '{"event":1}'])('body-015 returns `broken` for invalid lz64 data: %j', (garbage) => {
  expect(decodeLz64(garbage, noLimit)).toEqual({ outcome: 'broken' });
});

test('stops decoding lz64 at the limit, because a few kilobytes can decode to megabytes', () => {
  const bomb = lzString.compressToBase64('a'.repeat(200_000));
  expect(bomb.length).toBeLessThan(10_000);
  expect(decodeLz64(bomb, 100_000)).toEqual({ outcome: 'too_long' });
  expect(decodeLz64(bomb, 200_000)).toMatchObject({ outcome: 'text' });
});
