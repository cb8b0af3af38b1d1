// SQL templates of functions on JSON and lists. The first argument of a JSON function is `properties` or a JSON text,
// and `{r}` is the path in it.

import { define, type Row, t } from './define.ts';

const documents: Row[] = [
  // Returns a property as insights read it: numbers in their shortest form, lists and objects as compact JSON, and JSON
  // null as null.
  [
    'propertyText(document, path...) text?',
    t`CASE jsonb_typeof({1:json} #> {r}) WHEN 'number' THEN trim_scale(({1:json} #>> {r})::numeric)::text
        WHEN 'string' THEN {1:json} #>> {r} WHEN 'boolean' THEN {1:json} #>> {r}
        WHEN 'null' THEN NULL
        ELSE regexp_replace(({1:json} #> {r})::text, '("(?:[^"\\\\]|\\\\.)*")|([:,]) ', '\\1\\2', 'g') END`,
    t`JSONExtract({1:json}{r}, 'Nullable(String)')`,
  ],
  [
    'JSONExtractString(document, path...) text!',
    t`coalesce(CASE jsonb_typeof({1:json} #> {r}) WHEN 'string' THEN {1:json} #>> {r} END, '')`,
    t`if(JSONType({1:json}{r}) = 'String', JSONExtractString({1:json}{r}), '')`,
  ],
  [
    'JSONExtractFloat(document, path...) float!',
    t`coalesce(CASE jsonb_typeof({1:json} #> {r}) WHEN 'number' THEN ({1:json} #>> {r})::float8 END, 0)`,
    t`if(JSONType({1:json}{r}) IN ('Int64', 'UInt64', 'Double'), JSONExtractFloat({1:json}{r}), 0)`,
  ],
  [
    'JSONExtractInt(document, path...) int!',
    t`coalesce(CASE jsonb_typeof({1:json} #> {r}) WHEN 'number' THEN trunc(({1:json} #>> {r})::numeric)::int8 END, 0)`,
    t`if(JSONType({1:json}{r}) IN ('Int64', 'UInt64', 'Double'), JSONExtractInt({1:json}{r}), 0)`,
  ],
  [
    'JSONExtractBool(document, path...) bool!',
    t`coalesce({1:json} #> {r} = 'true'::jsonb, false)`,
    t`(JSONType({1:json}{r}) = 'Bool' AND JSONExtractBool({1:json}{r}) = 1)::Bool`,
  ],
  [
    'JSONExtractRaw(document, path...) text!',
    t`coalesce(regexp_replace(({1:json} #> {r})::text, '("(?:[^"\\\\]|\\\\.)*")|([:,]) ', '\\1\\2', 'g'), '')`,
    t`JSONExtractRaw({1:json}{r})`,
  ],
  ['JSONHas(document, path...) flag!', t`({1:json} #> {r} IS NOT NULL)`, t`JSONHas({1:json}{r})`],
  [
    'JSONLength(document, path...) count!',
    t`coalesce(CASE jsonb_typeof({1:json} #> {r}) WHEN 'array' THEN jsonb_array_length({1:json} #> {r})::int8
        WHEN 'object' THEN (SELECT count(*) FROM jsonb_object_keys({1:json} #> {r})) END, 0)`,
    t`toInt64(JSONLength({1:json}{r}))`,
  ],
  [
    'JSONExtractArrayRaw(document, path...) text[]',
    t`CASE jsonb_typeof({1:json} #> {r}) WHEN 'array' THEN ARRAY(
        SELECT regexp_replace(item::text, '("(?:[^"\\\\]|\\\\.)*")|([:,]) ', '\\1\\2', 'g')
          FROM jsonb_array_elements({1:json} #> {r}) WITH ORDINALITY AS items (item, place) ORDER BY place) ELSE '{}' END`,
    t`JSONExtractArrayRaw({1:json}{r})`,
  ],
  [
    'JSONExtractTexts(document, path...) text[]',
    t`CASE jsonb_typeof({1:json} #> {r}) WHEN 'array' THEN ARRAY(
        SELECT coalesce(item, '') FROM jsonb_array_elements_text({1:json} #> {r}) WITH ORDINALITY AS items (item, place)
         ORDER BY place) ELSE '{}' END`,
    t`JSONExtract({1:json}{r}, 'Array(String)')`,
  ],
  // Keys are sorted, because PostgreSQL does not store their order. Values are as the function propertyText returns them.
  [
    'JSONExtractKeysAndTexts(document, path...) pairs',
    t`CASE jsonb_typeof({1:json} #> {r}) WHEN 'object' THEN ARRAY(
        SELECT jsonb_build_array(key, CASE jsonb_typeof(value) WHEN 'number' THEN trim_scale((value #>> '{}')::numeric)::text
          WHEN 'string' THEN value #>> '{}'
          ELSE regexp_replace(value::text, '("(?:[^"\\\\]|\\\\.)*")|([:,]) ', '\\1\\2', 'g') END)
          FROM jsonb_each({1:json} #> {r}) WHERE jsonb_typeof(value) <> 'null' ORDER BY key COLLATE "pg_c_utf8") ELSE '{}' END`,
    t`arraySort(arrayMap(pair -> (pair.1, assumeNotNull(pair.2)), arrayFilter(pair -> isNotNull(pair.2),
        JSONExtractKeysAndValues({1:json}{r}, 'Nullable(String)'))))`,
  ],
  [
    'JSONExtractKeysAndValuesRaw(document, path...) pairs',
    t`CASE jsonb_typeof({1:json} #> {r}) WHEN 'object' THEN ARRAY(
        SELECT jsonb_build_array(key, regexp_replace(value::text, '("(?:[^"\\\\]|\\\\.)*")|([:,]) ', '\\1\\2', 'g'))
          FROM jsonb_each({1:json} #> {r}) ORDER BY key COLLATE "pg_c_utf8") ELSE '{}' END`,
    t`arraySort(JSONExtractKeysAndValuesRaw({1:json}{r}))`,
  ],
  [
    'JSONExtractKeys(document, path...) text[]',
    t`CASE jsonb_typeof({1:json} #> {r}) WHEN 'object' THEN ARRAY(
        SELECT key FROM jsonb_object_keys({1:json} #> {r}) AS keys (key) ORDER BY key COLLATE "pg_c_utf8") ELSE '{}' END`,
    t`arraySort(JSONExtractKeys({1:json}{r}))`,
  ],
];

const kinds: Row[] = [
  [
    'JSONType(document, path...) text!',
    t`coalesce(CASE jsonb_typeof({1:json} #> {r}) WHEN 'string' THEN 'String' WHEN 'array' THEN 'Array' WHEN 'object' THEN 'Object'
        WHEN 'boolean' THEN 'Bool' WHEN 'number' THEN CASE WHEN {1:json} #>> {r} ~ '^-?\\d+$' THEN 'Int64' ELSE 'Double' END END, 'Null')`,
    t`replaceOne(toString(JSONType({1:json}{r})), 'UInt64', 'Int64')`,
  ],
];

const lists: Row[] = [
  ['length(array) count', t`cardinality({1})::int8`, t`toInt64(length({1}))`],
  ['empty(array) flag', t`(cardinality({1}) = 0)`, t`empty({1})`],
  ['notEmpty(array) flag', t`(cardinality({1}) > 0)`, t`notEmpty({1})`],
  // Positions start at 1, and negative ones count from the end. For a position outside of the list, the result is the
  // empty value of the type.
  [
    'arrayElement(array, int, anything) element',
    t`coalesce(CASE WHEN {2} < 0 THEN ({1})[cardinality({1}) + 1 + {2}] ELSE ({1})[{2}] END, {3})`,
    t`arrayElement({1}, {2})`,
  ],
  // ClickHouse compares null as if it were an empty value.
  ['has(array, element) flag!', t`coalesce({2:equal} = ANY ({1}), false)`, t`(({2}) IS NOT NULL AND has({1}, {2}))`],
  [
    'indexOf(array, element) count!',
    t`CASE WHEN {2:equal} IS NULL THEN 0 ELSE coalesce(array_position({1}, {2}), 0)::int8 END`,
    t`if(({2}) IS NULL, 0, toInt64(indexOf({1}, {2})))`,
  ],
  [
    'arraySort(array) array',
    t`ARRAY(SELECT item FROM unnest({1}) AS items (item) ORDER BY item{1:collate} NULLS LAST)`,
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
  // In templates of lambdas, `{1}` is the body.
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
    t`NOT EXISTS (SELECT FROM unnest({l}) WITH ORDINALITY AS {0:row} WHERE NOT ({1}))`,
    t`arrayAll({0} -> {1}, {l})`,
  ],
  [
    'arrayCount(condition, array...) seconds!',
    t`(SELECT count(*) FROM unnest({l}) WITH ORDINALITY AS {0:row} WHERE {1})`,
    t`toInt64(arraySum(arrayMap({0} -> if({1}, 1, 0), {l})))`,
  ],
];

export const documentFunctions = define([...documents, ...kinds, ...lists]);
