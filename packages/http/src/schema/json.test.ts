import { jsonExcess } from './json.ts';

const excess = (text: string) => jsonExcess(Buffer.from(text));
const tooDeep = 'more than 100 levels of nesting';
const tooMany = 'more than 50000 values';

test.each([
  ['nothing', '', null],
  ['as deep as may be', `${'['.repeat(100)}${']'.repeat(100)}`, null],
  ['a level more', `${'['.repeat(101)}${']'.repeat(101)}`, tooDeep],
  ['lists and objects in turn', `${'[{"a":'.repeat(51)}1${'}]'.repeat(51)}`, tooDeep],
  ['deep and never closed', '{"a":'.repeat(101), tooDeep],
  ['side by side', `[${'[[]],'.repeat(1000)}1]`, null],
  ['as many as may be', `[${'1,'.repeat(49_998)}1]`, null],
  ['one more', `[${'1,'.repeat(49_999)}1]`, tooMany],
  ['many fields', `{${'"a":1,'.repeat(60_000)}"a":1}`, tooMany],
  ['many empty objects', `[${'{},'.repeat(30_000)}1]`, tooMany],
  ['signs within a text', `["${'[{,'.repeat(60_000)}"]`, null],
  ['behind a quote within a text', `["\\"${'[{,'.repeat(60_000)}"]`, null],
  ['behind an escaped backslash at the end of a text', `["\\\\",${'['.repeat(101)}`, tooDeep],
])('%s', (_what, text, expected) => {
  expect(excess(text)).toBe(expected);
});
