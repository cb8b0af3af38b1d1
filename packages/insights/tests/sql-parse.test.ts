import { createParser, type SqlParser } from '../src/sql/parse.ts';

let parser: SqlParser;
beforeAll(() => {
  parser = createParser();
});
afterAll(() => parser.stop());

test.each([
  ['deeply nested calls', `SELECT ${'abs('.repeat(7)}1${')'.repeat(7)}`, /Function calls can be nested/],
  ['deeply nested parentheses', `SELECT ${'('.repeat(13)}1${')'.repeat(13)}`, /Parentheses can be nested/],
  ['a query that is too long', `SELECT '${'a'.repeat(70_000)}'`, /at most 65536 characters/],
  ['a query with too many words', `SELECT ${'1, '.repeat(2000)}1`, /at most 3000 words/],
])('rejects %s before it is parsed', async (_, text, message) => {
  await expect(parser.parse(text)).rejects.toThrow(message);
});

test('the nesting check ignores brackets in texts, quoted names and comments', async () => {
  const text = `SELECT '${'('.repeat(20)}' AS "${'['.repeat(20)}" /* ${'('.repeat(20)} */ -- ${'{'.repeat(20)}`;
  await expect(parser.parse(text)).resolves.toMatchObject({ node: 'SelectQuery' });
});

test('parses queries again after a query that makes the parser fail', async () => {
  await expect(parser.parse(`SELECT 1${' - 1'.repeat(600)}`)).rejects.toThrow(/too (complex|deeply)|takes too long/);
  await expect(parser.parse('SELECT 1 AS one')).resolves.toMatchObject({ node: 'SelectQuery' });
});

test('counts positions in Unicode characters instead of code units', async () => {
  await expect(parser.parse("SELECT '👋', x FROM")).rejects.toMatchObject({ place: { start: 18, end: 18 } });
});
