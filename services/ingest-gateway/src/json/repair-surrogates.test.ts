import { repairSurrogates } from './repair-surrogates.ts';

/** Each UTF-16 unit as a character of its own, as old browsers write it. */
function encodeUnits(text: string): Buffer {
  return Buffer.concat(
    Array.from({ length: text.length }, (_, index) => {
      const unit = text.charCodeAt(index);
      if (unit < 0xd800 || unit > 0xdfff) return Buffer.from(String.fromCharCode(unit));
      return Buffer.from([0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)]);
    }),
  );
}

test.each(['', 'plain', 'ünï ퟿ \u{1f600}', '\u{1f600}\u{1f601}x', '{"a":"\u{10ffff}"}'])('%j survives', (text) => {
  expect(repairSurrogates(encodeUnits(text)).toString()).toBe(text);
});

test.each([
  ['\ud83d', '\ufffd'],
  ['a\ude00b', 'a\ufffdb'],
  ['\ude00\ud83d', '\ufffd\ufffd'],
])('lone surrogates (case %#) become replacement characters', (text, repaired) => {
  expect(repairSurrogates(encodeUnits(text)).toString()).toBe(repaired);
});

test('what is broken otherwise stays so', () => {
  const broken = Buffer.from([0x7b, 0xed, 0xff, 0xed]);
  expect(repairSurrogates(broken)).toEqual(broken);
});
