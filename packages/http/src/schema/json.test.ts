import { findExceededJsonLimit } from './json.ts';

const excess = (text: string) => findExceededJsonLimit(Buffer.from(text));
const tooDeep = 'more than 100 levels of nesting';
const tooMany = 'more than 50000 values';

test.each([
  ['nothing', '', null],
  ['the maximum depth', `${'['.repeat(100)}${']'.repeat(100)}`, null],
  ['one level more than the maximum', `${'['.repeat(101)}${']'.repeat(101)}`, tooDeep],
  ['alternating lists and objects', `${'[{"a":'.repeat(51)}1${'}]'.repeat(51)}`, tooDeep],
  ['deep and unclosed', '{"a":'.repeat(101), tooDeep],
  ['many small lists', `[${'[[]],'.repeat(1000)}1]`, null],
  ['the maximum number of values', `[${'1,'.repeat(49_998)}1]`, null],
  ['one value more than the maximum', `[${'1,'.repeat(49_999)}1]`, tooMany],
  ['many fields', `{${'"a":1,'.repeat(60_000)}"a":1}`, tooMany],
  ['many empty objects', `[${'{},'.repeat(30_000)}1]`, tooMany],
  ['brackets within a string', `["${'[{,'.repeat(60_000)}"]`, null],
  ['brackets after an escaped quote within a string', `["\\"${'[{,'.repeat(60_000)}"]`, null],
  ['brackets after a string that ends with an escaped backslash', `["\\\\",${'['.repeat(101)}`, tooDeep],
])('detects JSON with too many levels or values: %s', (_what, text, expected) => {
  expect(excess(text)).toBe(expected);
});
