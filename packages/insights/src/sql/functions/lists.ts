import { define, type Row, t } from './define.ts';

const rows: Row[] = [
  ['length(array) count', t`cardinality({1})::int8`, t`toInt64(length({1}))`],
  ['empty(array) flag', t`(cardinality({1}) = 0)`, t`empty({1})`],
  ['notEmpty(array) flag', t`(cardinality({1}) > 0)`, t`notEmpty({1})`],
  // Positions start at 1, and negative positions count from the end. For a position outside of the list, the result is
  // the empty value of the element type.
  [
    'arrayElement(array, int, anything) element',
    t`coalesce(CASE WHEN {2} < 0 THEN ({1})[cardinality({1}) + 1 + {2}] ELSE ({1})[{2}] END, {3})`,
    t`arrayElement({1}, {2})`,
  ],
  // ClickHouse's functions treat null like an empty value, so null needs its own condition.
  ['has(array, element) flag!', t`coalesce({2:equal} = ANY ({1}), false)`, t`(({2}) IS NOT NULL AND has({1}, {2}))`],
  [
    'indexOf(array, element) count!',
    t`CASE WHEN {2:equal} IS NULL THEN 0 ELSE coalesce(array_position({1}, {2}), 0)::int8 END`,
    t`if(({2}) IS NULL, 0, toInt64(indexOf({1}, {2})))`,
  ],
  [
    'arraySort(array) array',
    t`ARRAY(SELECT item FROM unnest({1}) AS items (item) ORDER BY {1:sorted})`,
    t`arraySort({1})`,
  ],
  [
    'arrayReverse(array) array',
    t`ARRAY(SELECT item FROM unnest({1}) WITH ORDINALITY AS items (item, place) ORDER BY place DESC)`,
    t`arrayReverse({1})`,
  ],
  [
    'arrayDistinct(array) array',
    t`ARRAY(SELECT item FROM unnest({1}) WITH ORDINALITY AS items (item, place) WHERE item IS NOT NULL
            GROUP BY item ORDER BY min(place))`,
    t`arrayDistinct({1})`,
  ],
  [
    'arrayCompact(array) array',
    t`ARRAY(SELECT item FROM (SELECT item, place, lag(item) OVER (ORDER BY place) AS previous
            FROM unnest({1}) WITH ORDINALITY AS items (item, place)) AS pairs
            WHERE place = 1 OR item IS DISTINCT FROM previous ORDER BY place)`,
    t`arrayCompact({1})`,
  ],
  [
    'arraySum(int[]) total!',
    t`(SELECT coalesce(sum(item), 0)::int8 FROM unnest({1}) AS items (item))`,
    t`toInt64(ifNull(arrayReduce('sum', {1}), 0))`,
  ],
  [
    'arraySum(float[]) float!',
    t`(SELECT coalesce(sum(item), 0) FROM unnest({1}) AS items (item))`,
    t`ifNull(arrayReduce('sum', {1}), 0)`,
  ],
  // The result is null if all elements are null or the list is empty.
  [
    'arrayAvg(float[]) float?',
    t`(SELECT avg(item) FROM unnest({1}) AS items (item))`,
    t`arrayReduce('avgOrNull', {1})`,
  ],
  [
    'arrayMin(int[]) int?',
    t`(SELECT item FROM unnest({1}) AS items (item) WHERE item IS NOT NULL ORDER BY item LIMIT 1)`,
    t`arrayReduce('minOrNull', {1})`,
  ],
  [
    'arrayMin(float[]) float?',
    t`(SELECT item FROM unnest({1}) AS items (item) WHERE item IS NOT NULL ORDER BY item = 'NaN', item LIMIT 1)`,
    t`arrayReduce('minOrNull', {1})`,
  ],
  [
    'arrayMin(array) item?',
    t`(SELECT item FROM unnest({1}) AS items (item) WHERE item IS NOT NULL ORDER BY item{1:collate} LIMIT 1)`,
    t`arrayReduce('minOrNull', {1})`,
  ],
  [
    'arrayMax(int[]) int?',
    t`(SELECT item FROM unnest({1}) AS items (item) WHERE item IS NOT NULL ORDER BY item DESC LIMIT 1)`,
    t`arrayReduce('maxOrNull', {1})`,
  ],
  [
    'arrayMax(float[]) float?',
    t`(SELECT item FROM unnest({1}) AS items (item) WHERE item IS NOT NULL ORDER BY item = 'NaN', item DESC LIMIT 1)`,
    t`arrayReduce('maxOrNull', {1})`,
  ],
  [
    'arrayMax(array) item?',
    t`(SELECT item FROM unnest({1}) AS items (item) WHERE item IS NOT NULL ORDER BY item{1:collate} DESC LIMIT 1)`,
    t`arrayReduce('maxOrNull', {1})`,
  ],
  [
    'cosineDistance(float[], float[]) float!',
    t`(SELECT 1 - coalesce(sum(a * b) / nullif(sqrt(sum(a * a)) * sqrt(sum(b * b)), 0), 'NaN'::float8)
        FROM unnest({1}, trim_array({2}, - abs(cardinality({1}) - cardinality({2})))) AS items (a, b))`,
    t`cosineDistance({1}, {2})`,
  ],
  ['arrayConcat(array, list) array', t`({1} || {2})`, t`arrayConcat({1}, {2})`],
  [
    'arraySlice(array, int, int) array',
    t`CASE WHEN {2} > 0 THEN ({1})[{2}:{2} + {3} - 1]
        WHEN {2} < 0 THEN ({1})[cardinality({1}) + 1 + {2}:cardinality({1}) + {2} + {3}] ELSE ({1})[1:0] END`,
    t`arraySlice({1}, {2}, {3})`,
  ],
  ['arrayStringConcat(text[]) text', t`array_to_string({1}, '')`, t`arrayStringConcat({1}, '')`],
  ['arrayStringConcat(text[], separator) text', t`array_to_string({1}, {2})`, t`arrayStringConcat({1}, {2})`],
  [
    'countEqual(array, element) count!',
    t`(SELECT count(*) FROM unnest({1}) AS items (item) WHERE item = {2:equal})`,
    t`if(({2}) IS NULL, 0, toInt64(countEqual({1}, {2})))`,
  ],
  [
    'arrayEnumerate(array) numbers',
    t`ARRAY(SELECT generate_series(1, cardinality({1}))::int8)`,
    t`arrayMap(place -> toInt64(place), arrayEnumerate({1}))`,
  ],
  // The resolver checks that the bounds are constants.
  ['range(int, int) numbers', t`ARRAY(SELECT generate_series({1}, {2} - 1))`, t`range({1}, {2})`],
  // In the template of a function with a lambda, `{1}` is the lambda's body.
  [
    'arrayMap(lambda, array...) body[]',
    t`ARRAY(SELECT {1} FROM unnest({l}) WITH ORDINALITY AS {0:row} ORDER BY {0:place})`,
    t`arrayMap({0} -> {1}, {l})`,
  ],
  [
    'arrayFilter(condition, array...) list',
    t`ARRAY(SELECT {0} FROM unnest({l}) WITH ORDINALITY AS {0:row} WHERE {1} ORDER BY {0:place})`,
    t`arrayFilter({0} -> {1}, {l})`,
  ],
  // Elements with equal keys keep their order. Null comes last in both directions.
  [
    'arraySort(lambda, array...) list',
    t`ARRAY(SELECT {0} FROM unnest({l}) WITH ORDINALITY AS {0:row} ORDER BY {1:order} NULLS LAST, {0:place})`,
    t`arraySort({0:row} -> (isNull({1}), {1:order}, place), {l}, arrayEnumerate({2}))`,
  ],
  [
    'arrayReverseSort(lambda, array...) list',
    t`ARRAY(SELECT {0} FROM unnest({l}) WITH ORDINALITY AS {0:row} ORDER BY {1:low} DESC NULLS LAST, {0:place})`,
    t`arrayReverseSort({0:row} -> (isNotNull({1}), {1:low}, - toInt64(place)), {l}, arrayEnumerate({2}))`,
  ],
  // The result is null if there is no match.
  [
    'arrayFirst(condition, array...) item?',
    t`(SELECT {0} FROM unnest({l}) WITH ORDINALITY AS {0:row} WHERE {1} ORDER BY {0:place} LIMIT 1)`,
    t`arrayFirstOrNull({0} -> {1}, {l})`,
  ],
  [
    'arrayExists(condition, array...) flag!',
    t`EXISTS (SELECT FROM unnest({l}) WITH ORDINALITY AS {0:row} WHERE {1})`,
    t`arrayExists({0} -> {1}, {l})`,
  ],
  [
    'arrayAll(condition, array...) flag!',
    t`(NOT EXISTS (SELECT FROM unnest({l}) WITH ORDINALITY AS {0:row} WHERE NOT ({1})))`,
    t`arrayAll({0} -> {1}, {l})`,
  ],
  [
    'arrayCount(condition, array...) seconds!',
    t`(SELECT count(*) FROM unnest({l}) WITH ORDINALITY AS {0:row} WHERE {1})`,
    t`toInt64(arraySum(arrayMap({0} -> if({1}, 1, 0), {l})))`,
  ],
];

export const listFunctions = define(rows);
