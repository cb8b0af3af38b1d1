import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { nestingProblem } from '../src/sql/scan.ts';
import { randomSql } from './random-sql.ts';
import { loadPublishedParser, parseBothWays } from './sql-pieces.ts';
import { sqlCases } from './sql-world.ts';

const publicQueries = JSON.parse(readFileSync(new URL('./sql-public-queries.json', import.meta.url), 'utf8')) as {
  queries: { query: string }[];
};
const texts = [
  ...sqlCases.cases.flatMap(({ query }) => (typeof query === 'string' ? query : [])),
  ...publicQueries.queries.map(({ query }) => query),
  ...Array.from({ length: 300 }, (_, seed) => randomSql(seed).text),
].filter((text) => nestingProblem(text) === null);

test('parsing in pieces returns the trees of the complete queries, for all cases and 300 random queries', async () => {
  const parser = await loadPublishedParser();
  const parsed = texts.map((text) => ({ text, ...parseBothWays(parser, text) }));
  const found = parsed.filter(({ byPieces }) => byPieces !== null);
  expect(found.filter(({ complete, byPieces }) => !isDeepStrictEqual(complete, byPieces))).toEqual([]);
  expect(found.length / texts.length).toBeGreaterThan(0.9);
}, 600_000);
