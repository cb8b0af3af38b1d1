// SQL templates of aggregates and window functions. `{f}` becomes the FILTER clause, which both engines support.

import { define, type Row, t } from './define.ts';

const top = t`ARRAY(SELECT item FROM unnest(array_agg({1:order}){f}) AS items (item)
  GROUP BY item ORDER BY count(*) DESC, item LIMIT {p}::int8)`;
const topOfClickHouse = t`arrayMap(pair -> pair.1, arraySlice(arraySort(pair -> (- pair.2, pair.1), arrayZip(
  arrayReduce('sumMap', arrayMap(item -> [item], groupArray({1}){f}), arrayMap(item -> [toInt64(1)], groupArray({1}){f})).1,
  arrayReduce('sumMap', arrayMap(item -> [item], groupArray({1}){f}), arrayMap(item -> [toInt64(1)], groupArray({1}){f})).2)), 1, {p}))`;

const rows: Row[] = [
  ['count() count!', t`count(*){f}`, t`toInt64(count(){f})`],
  ['count(anything) count!', t`count({1}){f}`, t`toInt64(count({1}){f})`],
  // The resolver excludes rows with a null argument.
  ['uniqExact(anything...) count!', t`count(DISTINCT ({*:order})){f}`, t`toInt64(ifNull(uniqExact({*}){f}, 0))`],
  ['sum(int) total', t`sum({d}{1}){f}::int8`, t`toInt64(sum({d}{1}){f})`],
  ['sum(float) float', t`sum({d}{1}){f}`],
  // The resolver chooses functions such as `sumOrZero` for values that are never null.
  ['sumOrZero(int) total!', t`coalesce(sum({d}{1}){f}, 0)::int8`, t`toInt64(ifNull(sum({d}{1}){f}, 0))`],
  ['sumOrZero(float) float!', t`coalesce(sum({d}{1}){f}, 0)`, t`ifNull(sum({d}{1}){f}, 0)`],
  ['avg(float) float?', t`avg({d}{1}){f}`],
  ['min(uuid) same', t`min(({1})::text COLLATE "pg_c_utf8"){f}::uuid`, t`toUUID(min({1:order}){f})`],
  ['min(int) same', t`min({1}){f}`],
  ['min(comparable) same', t`min({1:order}){f}`],
  ['max(uuid) same', t`max(({1})::text COLLATE "pg_c_utf8"){f}::uuid`, t`toUUID(max({1:order}){f})`],
  ['max(int) same', t`max({1}){f}`],
  // PostgreSQL sorts NaN above all numbers. The template returns NaN only if all numbers are NaN.
  ['maxBesidesNan(float) same', t`coalesce(max(nullif({1}, 'NaN'::float8)){f}, max({1}){f})`, t`max({1}){f}`],
  ['max(comparable) same', t`max({1:order}){f}`],
  [
    'argMax(anything, comparable) same?',
    t`(array_agg({1} ORDER BY {2:order} DESC, {1:low} DESC){f})[1]`,
    t`argMax({1}, ({2:order}, {1:low})){f}`,
  ],
  [
    'argMin(anything, comparable) same?',
    t`(array_agg({1} ORDER BY {2:order}, {1:high}){f})[1]`,
    t`argMin({1}, ({2:order}, {1:high})){f}`,
  ],
  [
    'quantile(float) float?',
    t`percentile_cont({p}) WITHIN GROUP (ORDER BY {1}){f}`,
    t`quantileExactInclusive({p})({1}){f}`,
  ],
  [
    'quantiles(float) float[]',
    t`coalesce(percentile_cont(ARRAY[{p}]) WITHIN GROUP (ORDER BY {1}){f}, array_fill('NaN'::float8, ARRAY[cardinality(ARRAY[{p}])]))`,
    t`quantilesExactInclusive({p})({1}){f}`,
  ],
  ['groupArray(anything) array', t`coalesce((array_agg({1}{o}){f})[1:{p}::int], '{}')`, t`groupArray({p})({1}){f}`],
  [
    'groupUniqArray(uuid) array',
    t`coalesce((array_agg(DISTINCT {1}){f})[1:{p}::int], '{}')`,
    t`arraySlice(arraySort(item -> toString(item), groupUniqArray({1}){f}), 1, {p})`,
  ],
  [
    'groupUniqArray(comparable) array',
    t`coalesce((array_agg(DISTINCT {1:order}){f})[1:{p}::int], '{}')`,
    t`arraySlice(arraySort(groupUniqArray({1}){f}), 1, {p})`,
  ],
  ['stddevPop(float) float?', t`stddev_pop({1}){f}`, t`stddevPopStable({1}){f}`],
  // The result is null for fewer than two values. ClickHouse's own function would return NaN.
  ['stddevSamp(float) float?', t`stddev_samp({1}){f}`, t`if(count({1}){f} < 2, NULL, stddevSampStable({1}){f})`],
  ['varPop(float) float?', t`var_pop({1}){f}`, t`varPopStable({1}){f}`],
  ['varSamp(float) float?', t`var_samp({1}){f}`, t`if(count({1}){f} < 2, NULL, varSampStable({1}){f})`],
  ['corr(float, float) float?', t`corr({1}, {2}){f}`, t`corrStable({1}, {2}){f}`],
  ['covarPop(float, float) float?', t`covar_pop({1}, {2}){f}`, t`covarPopStable({1}, {2}){f}`],
  ['covarSamp(float, float) float?', t`covar_samp({1}, {2}){f}`, t`covarSampStable({1}, {2}){f}`],
  // The most frequent values come first. If two values are equally frequent, the smaller one comes first.
  ['topK(text) array', top, topOfClickHouse],
  ['topK(comparable) array', top, topOfClickHouse],
];

export const aggregateFunctions = define(rows, true);

/** Functions that require OVER. `lag` and `lead` return null for rows outside of the partition. */
export const windowFunctions = define([
  ['row_number() count!', t`row_number(){f}`, t`row_number(){f}`],
  ['rank() count!', t`rank(){f}`],
  ['dense_rank() count!', t`dense_rank(){f}`],
  ['lag(anything) same?', t`lag({1}){f}`, t`lag(toNullable({1})){f}`],
  ['lag(anything, int) same?', t`lag({1}, {2}::int){f}`, t`lag(toNullable({1}), {2}){f}`],
  ['lead(anything) same?', t`lead({1}){f}`, t`lead(toNullable({1})){f}`],
  ['lead(anything, int) same?', t`lead({1}, {2}::int){f}`, t`lead(toNullable({1}), {2}){f}`],
  // The resolver adds the value to return for rows outside of the partition.
  [
    'lag(anything, int, anything) filled',
    t`lag({1}, {2}::int, {3}){f}`,
    t`lag(toNullable({1}), {2}, toNullable({3})){f}`,
  ],
  [
    'lead(anything, int, anything) filled',
    t`lead({1}, {2}::int, {3}){f}`,
    t`lead(toNullable({1}), {2}, toNullable({3})){f}`,
  ],
  ['nth_value(anything, int) same?', t`nth_value({1}, {2}::int){f}`, t`nth_value(toNullable({1}), {2}){f}`],
  // In ClickHouse, functions such as `first_value` skip nulls unless their names say otherwise.
  ['first_value(anything) same?', t`first_value({1}){f}`, t`first_value_respect_nulls({1}){f}`],
  ['last_value(anything) same?', t`last_value({1}){f}`, t`last_value_respect_nulls({1}){f}`],
]);
