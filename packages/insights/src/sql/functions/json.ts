// SQL templates of JSON functions. The first argument is `properties` or a JSON string, and `{r}` is the path in it.

import { define, type Row, t } from './define.ts';

const rows: Row[] = [
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
    t`coalesce(CASE jsonb_typeof({1:json} #> {r}) WHEN 'number' THEN
        CASE WHEN abs(({1:json} #>> {r})::numeric) < 9223372036854775808 THEN trunc(({1:json} #>> {r})::numeric)::int8 END END, 0)`,
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
  // Keys are sorted, because PostgreSQL does not store their order. Values have the same format as in `propertyText`.
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
  [
    'JSONType(document, path...) text!',
    t`coalesce(CASE jsonb_typeof({1:json} #> {r}) WHEN 'string' THEN 'String' WHEN 'array' THEN 'Array' WHEN 'object' THEN 'Object'
        WHEN 'boolean' THEN 'Bool' WHEN 'number' THEN CASE WHEN {1:json} #>> {r} ~ '^-?\\d+$' THEN 'Int64' ELSE 'Double' END END, 'Null')`,
    t`replaceOne(toString(JSONType({1:json}{r})), 'UInt64', 'Int64')`,
  ],
];

export const jsonFunctions = define(rows);
