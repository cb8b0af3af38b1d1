import { loadPublishedParser, parseBothWays } from './sql-pieces.ts';

const parser = loadPublishedParser();

test.each([
  'SELECT f(a), g(b, h(c)) FROM t',
  'SELECT f(), f(*), count(DISTINCT a, f(b)), f(x.y, a AS b) FROM t',
  'SELECT quantile(0.9)(f(a)), topK(3)(DISTINCT a) FROM t',
  'SELECT arrayMap(x -> f(x, g(1)), [f(1)]), arrayMap((x, y) -> f(x), a, (b)) FROM t',
  'SELECT (a = 1), (a + 1) * 2, ((a)), (a, f(b)), (f(a), (b)).1 FROM t',
  'SELECT (a AND b) AND c, (a OR b) AND f(c), NOT (a AND (b OR c)), not (a), NOT(a) = b FROM t',
  "SELECT (a || b) || c, concat(a, f(b)) || c, 'x' || concat(a) FROM t",
  'SELECT f(a).1, f(a)[1], f(a)[f(b)], -f(1), -(1 + 1), f(a)::Int64, f(a) IS NULL FROM t',
  'SELECT sum(f(a)) OVER (PARTITION BY f(b) ORDER BY (c + 1)) AS n, lag(f(a)) OVER w FROM t WINDOW w AS (ORDER BY f(a))',
  'SELECT CASE WHEN f(a) THEN (b + 1) ELSE f(c) END, CAST(f(a) AS Int64), a ? f(b) : (c + 1) FROM t',
  'SELECT a FROM t WHERE a IN (f(1), 2) AND a IN (SELECT f(b) FROM t) AND (a, b) NOT IN ((1, 2)) AND (a) IN (1)',
  'SELECT (SELECT f(a) FROM t), f((SELECT max(a) FROM t)) FROM (SELECT f(a) AS a FROM t) AS s JOIN (SELECT 1) AS u ON s.a = f(u.a)',
  'WITH t AS (SELECT f(a) FROM t), f(1) AS b SELECT f(a), b FROM t',
  '(SELECT f(a) FROM t) UNION ALL (SELECT (a + 1) FROM t)',
  'SELECT f(a) FROM ((SELECT f(a) FROM t) UNION ALL (SELECT (a + 1) FROM t))',
  'SELECT f(a) AS x FROM t ARRAY JOIN f(b) AS y GROUP BY f(a), (b + 1) HAVING f(a) > 1 ORDER BY f(a) DESC, (a + 1) LIMIT 1 BY f(a) LIMIT 5',
  "SELECT f('(', \"a(\", `b)`) /* ( */, '👋' || f('👋', g(a)) -- )\nFROM t WHERE f(a)",
  'SELECT now() - INTERVAL 1 DAY, INTERVAL f(a) DAY, toDateTime(f(a)) + toIntervalDay((1 + 1)) FROM t',
  'SELECT f({filters}), {f(a)} FROM t WHERE {filters} AND f(a) BETWEEN (1 + 1) AND g(2)',
  'SELECT $1_(a), f($0_), properties.$f, `$0_` FROM t',
])("the pieces' trees, when joined, equal the tree of the complete query: %s", async (text) => {
  const { byPieces, complete, count } = parseBothWays(await parser, text);
  expect(count).toBeGreaterThan(1);
  expect(complete).not.toBeNull();
  expect(byPieces).toEqual(complete);
});

test.each([
  'SELECT f(a b) FROM t',
  'SELECT f(a,, b) FROM t',
  'SELECT (a = ) FROM t',
  'SELECT trim(BOTH f(x) FROM a) FROM t',
  'SELECT groupArray(f(a) ORDER BY a) FROM t',
])('parses the complete query if a piece is not an expression: %s', async (text) => {
  expect(parseBothWays(await parser, text)).toMatchObject({ byPieces: null });
});
