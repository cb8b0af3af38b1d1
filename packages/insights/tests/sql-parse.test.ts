import { createParser, type SqlParser } from '../src/sql/parse.ts';

let parser: SqlParser;
beforeAll(() => {
  parser = createParser();
});
afterAll(() => parser.stop());

test.each([
  ['deeply nested calls', `SELECT ${'abs('.repeat(25)}1${')'.repeat(25)}`, /Function calls can be nested/],
  ['deeply nested parentheses', `SELECT ${'('.repeat(25)}1${')'.repeat(25)}`, /Parentheses can be nested/],
  ['a query that is too long', `SELECT '${'a'.repeat(70_000)}'`, /at most 65536 characters/],
  ['a query with too many words', `SELECT ${'1, '.repeat(2000)}1`, /at most 3000 words/],
])('rejects %s without parsing it', async (_, text, message) => {
  await expect(parser.parse(text)).rejects.toThrow(message);
});

test('the nesting check ignores brackets in strings, quoted names and comments', async () => {
  const text = `SELECT '${'('.repeat(20)}' AS "${'['.repeat(20)}" /* ${'('.repeat(20)} */ -- ${'{'.repeat(20)}`;
  await expect(parser.parse(text)).resolves.toMatchObject({ node: 'SelectQuery' });
});

const nestedIfs = (depth: number, last: string) =>
  `SELECT ${'if(event = 1, '.repeat(depth)}${last}${', 0)'.repeat(depth)} FROM events`;

test('parses calls that are nested 24 levels deep', async () => {
  await expect(parser.parse(nestedIfs(24, '1'))).resolves.toMatchObject({ node: 'SelectQuery' });
  await expect(parser.parse(`SELECT ${'lower('.repeat(24)}'A'${')'.repeat(24)}`)).resolves.toBeDefined();
});

test('reports the position of an error in deeply nested calls', async () => {
  await expect(parser.parse(nestedIfs(24, '1 +'))).rejects.toMatchObject({
    place: { start: 7 + 24 * 'if(event = 1, '.length + 3 },
    code: 'hogql_syntax_error',
  });
  await expect(parser.parse(nestedIfs(7, 'count(1) OVER (ORDER BY ,)'))).rejects.toMatchObject({
    code: 'hogql_syntax_error',
  });
});

test('rejects deeply nested calls that cannot be parsed in pieces', async () => {
  const text = `SELECT ${'CAST('.repeat(7)}1${' AS Int64)'.repeat(7)}`;
  await expect(parser.parse(text)).rejects.toThrow('Function calls can be nested at most 6 levels deep');
});

test('parses the next queries after a query has made the parser fail', async () => {
  await expect(parser.parse(`SELECT 1${' - 1'.repeat(600)}`)).rejects.toThrow(/too (complex|deeply)|takes too long/);
  await expect(parser.parse('SELECT 1 AS one')).resolves.toMatchObject({ node: 'SelectQuery' });
});

test('reports error positions in Unicode characters instead of code units', async () => {
  await expect(parser.parse("SELECT '👋', x FROM")).rejects.toMatchObject({ place: { start: 18, end: 18 } });
});
