// SQL templates of numeric and conditional functions. Integers have 64 bits in both engines. `+ 0` turns -0 into 0,
// because ClickHouse would otherwise group and join the two as different numbers.

import { define, type Row, t } from './define.ts';

const divide = t`(CASE WHEN {2} <> 0 THEN {1} / {2} WHEN {1} IS NULL OR {2} IS NULL THEN NULL
  WHEN {1} > 0 THEN 'Infinity'::float8 WHEN {1} < 0 THEN '-Infinity'::float8 ELSE 'NaN'::float8 END)`;

const rows: Row[] = [
  ['plus(int, int) int', t`({1} + {2})`],
  ['plus(float, float) float', t`({1} + {2})`],
  ['minus(int, int) int', t`({1} - {2})`],
  ['minus(float, float) float', t`({1} - {2})`],
  ['minus(date, date) int', t`({1} - {2})::int8`, t`toInt64(dateDiff('day', {2}, {1}))`],
  ['multiply(int, int) int', t`({1} * {2})`],
  ['multiply(float, float) float', t`({1} * {2})`, t`({1} * {2} + 0)`],
  ['divide(float, float) float', divide, t`({1} / {2} + 0)`],
  ['intDiv(int, int) int', t`({1} / {2})`, t`intDiv({1}, {2})`],
  ['modulo(int, int) int', t`({1} % {2})`],
  [
    'modulo(float, float) float',
    t`CASE WHEN {2} = 0 THEN 'NaN'::float8 ELSE {1} - {2} * trunc({1} / {2}) END`,
    t`({1} % {2} + 0)`,
  ],
  ['negate(int) int', t`(- {1})`],
  ['negate(float) float', t`(0 - {1})`],
  ['abs(int) int', t`abs({1})`, t`toInt64(abs({1}))`],
  ['abs(float) float', t`abs({1})`],
  // The sign of NaN is NaN.
  [
    'sign(float) float',
    t`CASE WHEN {1} = 'NaN'::float8 THEN {1} ELSE sign({1}) END`,
    t`if(isNaN({1}), {1}, toFloat64(sign({1})))`,
  ],
  ['floor(float) float', t`floor({1})`, t`(floor({1}) + 0)`],
  ['ceil(float) float', t`ceil({1})`, t`(ceil({1}) + 0)`],
  ['round(float) float', t`round({1})`, t`(round({1}) + 0)`],
  // 10^22 is the largest power of ten that a float represents exactly. The engines round larger powers differently.
  [
    'round(float, int) float',
    t`(round({1} * power(10::float8, greatest(least({2}, 22), -22)::float8)) / power(10::float8, greatest(least({2}, 22), -22)::float8))`,
    t`(round({1} * exp10(greatest(least({2}, 22), -22))) / exp10(greatest(least({2}, 22), -22)) + 0)`,
  ],
  ['sqrt(float) float', t`CASE WHEN {1} < 0 THEN 'NaN'::float8 ELSE sqrt({1}) END`, t`sqrt({1})`],
  ['exp(float) float', t`exp({1})`],
  [
    'log(float) float',
    t`CASE WHEN {1} > 0 THEN ln({1}) WHEN {1} = 0 THEN '-Infinity'::float8 WHEN {1} < 0 THEN 'NaN'::float8 END`,
    t`log({1})`,
  ],
  [
    'pow(float, float) float',
    t`CASE WHEN {1} < 0 AND {2} <> trunc({2}) THEN 'NaN'::float8 WHEN {1} = 0 AND {2} < 0 THEN 'Infinity'::float8
        ELSE power({1}, {2}) END`,
    t`(pow({1}, {2}) + 0)`,
  ],
  ['bitAnd(int, int) int', t`({1} & {2})`, t`bitAnd({1}, {2})`],
  ['isNaN(float) flag', t`({1} = 'NaN'::float8)`, t`isNaN({1})`],
  ['isFinite(float) flag', t`({1} NOT IN ('NaN'::float8, 'Infinity'::float8, '-Infinity'::float8))`, t`isFinite({1})`],
];

export const numberFunctions = define(rows);
