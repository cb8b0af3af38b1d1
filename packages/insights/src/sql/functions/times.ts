// SQL templates of date and time functions. `{1:local}` is the local time in the time zone of the argument; in
// PostgreSQL, its type has no zone. Only PostgreSQL has `{1:day}`, `{1:hour}` and `{1:minute}` for the start of the
// local day, hour or minute, and `{1:minutes}` for the start of an interval whose length in minutes is the second
// argument. `{1:days}`, and the same for longer units, adds the number of units in the second argument.

import { define, type Row, t } from './define.ts';

const rows: Row[] = [
  ['toDate(time) date', t`({1:local})::date`, t`toDate32({1:local})`],
  ['toDate(date) date', t`{1}`],
  // Only the first ten characters of a string are used, unless it is a constant.
  [
    'toDate(text) date?',
    t`CASE WHEN {1} ~ '^\\d\\d\\d\\d-\\d\\d-\\d\\d( .*)?$' AND pg_input_is_valid(left({1}, 10), 'date') THEN left({1}, 10)::date END`,
    t`if(match({1}, '^\\d\\d\\d\\d-\\d\\d-\\d\\d( .*)?$'), toDate32OrNull(substring({1}, 1, 10)), NULL)`,
  ],
  ['toDateTime(time) time', t`{1}`],
  ['toDateTime(int) time', t`to_timestamp({1}::float8)`, t`fromUnixTimestamp64Milli(toInt64({1}) * 1000, 'UTC')`],
  [
    'fromUnixTimestamp(int) time',
    t`to_timestamp({1}::float8)`,
    t`fromUnixTimestamp64Milli(toInt64({1}) * 1000, 'UTC')`,
  ],
  ['toUnixTimestamp(time) seconds', t`floor(extract(epoch FROM {1}))::int8`, t`toInt64(toUnixTimestamp({1}))`],
  ['toStartOfDay(time) start', t`{1:day}`, t`toDateTime64(toStartOfDay({1:local}), 3, 'UTC')`],
  ['toStartOfHour(time) start', t`{1:hour}`, t`toDateTime64(toStartOfHour({1:local}), 3, 'UTC')`],
  ['toStartOfMinute(time) start', t`{1:minute}`, t`toDateTime64(toStartOfMinute({1:local}), 3, 'UTC')`],
  ['toStartOfSecond(time) start', t`date_trunc('second', {1})`, t`toDateTime64(toStartOfSecond({1}), 3, 'UTC')`],
  ['toMonday(moment) date', t`date_trunc('week', {1:local})::date`, t`toDate32(toStartOfWeek({1:local}, 1))`],
  [
    'toSunday(moment) date',
    t`(date_trunc('week', {1:local} + interval '1 day') - interval '1 day')::date`,
    t`toDate32(toStartOfWeek({1:local}, 0))`,
  ],
  ['toStartOfMonth(moment) date', t`date_trunc('month', {1:local})::date`, t`toDate32(toStartOfMonth({1:local}))`],
  [
    'toStartOfQuarter(moment) date',
    t`date_trunc('quarter', {1:local})::date`,
    t`toDate32(toStartOfQuarter({1:local}))`,
  ],
  ['toStartOfYear(moment) date', t`date_trunc('year', {1:local})::date`, t`toDate32(toStartOfYear({1:local}))`],
  [
    'toLastDayOfMonth(moment) date',
    t`(date_trunc('month', {1:local}) + interval '1 month - 1 day')::date`,
    t`toDate32(toLastDayOfMonth({1:local}))`,
  ],
  // Intervals of minutes and hours are counted from local midnight. The second argument is in minutes.
  [
    'toStartOfMinutes(time, int) start',
    t`{1:minutes}`,
    t`(toDateTime64(toStartOfDay({1:local}), 3, 'UTC') + toIntervalMinute(intDiv(toHour({1:local}) * 60 + toMinute({1:local}), {2}) * {2}))`,
  ],
  // Intervals of several days begin at the date in the second argument. The third argument is a number of days.
  [
    'toStartOfDays(moment, date, int) date',
    t`({2} + ((({1:local})::date - {2}) / {3}::int) * {3}::int)`,
    t`addDays({2}, intDiv(dateDiff('day', {2}, toDate32({1:local})), {3}) * {3})`,
  ],
  ['toSecond(time) part', t`floor(date_part('second', {1:local}))::int8`, t`toInt64(toSecond({1:local}))`],
  ['toMinute(time) part', t`date_part('minute', {1:local})::int8`, t`toInt64(toMinute({1:local}))`],
  ['toHour(time) part', t`date_part('hour', {1:local})::int8`, t`toInt64(toHour({1:local}))`],
  ['toDayOfWeek(moment) part', t`date_part('isodow', {1:local})::int8`, t`toInt64(toDayOfWeek({1:local}))`],
  ['toDayOfMonth(moment) part', t`date_part('day', {1:local})::int8`, t`toInt64(toDayOfMonth({1:local}))`],
  ['toDayOfYear(moment) part', t`date_part('doy', {1:local})::int8`, t`toInt64(toDayOfYear({1:local}))`],
  ['toISOWeek(moment) part', t`date_part('week', {1:local})::int8`, t`toInt64(toISOWeek({1:local}))`],
  // Weeks begin on Sunday. The days before the first Sunday of the year are week 0.
  [
    'toWeek(moment) part',
    t`div(extract(doy FROM {1:local}) + 6 - extract(dow FROM {1:local}), 7)::int8`,
    t`toInt64(toWeek({1:local}, 0))`,
  ],
  ['toMonth(moment) part', t`date_part('month', {1:local})::int8`, t`toInt64(toMonth({1:local}))`],
  ['toQuarter(moment) part', t`date_part('quarter', {1:local})::int8`, t`toInt64(toQuarter({1:local}))`],
  ['toYear(moment) part', t`date_part('year', {1:local})::int8`, t`toInt64(toYear({1:local}))`],
  ['toYYYYMM(moment) seconds', t`to_char({1:local}, 'YYYYMM')::int8`, t`toInt64(toYYYYMM({1:local}))`],
  ['toYYYYMMDD(moment) seconds', t`to_char({1:local}, 'YYYYMMDD')::int8`, t`toInt64(toYYYYMMDD({1:local}))`],
  ['monthName(moment) text', t`to_char({1:local}, 'FMMonth')`, t`formatDateTime({1:local}, '%M')`],
  // The resolver translates the format for both engines.
  ['formatDateTime(moment, format) text', t`to_char({1:local}, {2})`, t`formatDateTime({1:local}, {3})`],
];

/** For each unit, a function that counts the unit's boundaries between two times, for example midnights. */
const differences: Row[] = [
  [
    'diff_second(moment, moment) int',
    t`(floor(extract(epoch FROM {2})) - floor(extract(epoch FROM {1})))::int8`,
    t`toInt64(dateDiff('second', {1}, {2}))`,
  ],
  [
    'diff_minute(moment, moment) int',
    t`(floor(extract(epoch FROM {2}) / 60) - floor(extract(epoch FROM {1}) / 60))::int8`,
    t`toInt64(dateDiff('minute', {1}, {2}))`,
  ],
  [
    'diff_hour(moment, moment) int',
    t`(floor(extract(epoch FROM {2}) / 3600) - floor(extract(epoch FROM {1}) / 3600))::int8`,
    t`toInt64(dateDiff('hour', {1}, {2}))`,
  ],
  [
    'diff_day(moment, moment) int',
    t`(({2:local})::date - ({1:local})::date)::int8`,
    t`toInt64(dateDiff('day', {1:local}, {2:local}))`,
  ],
  [
    'diff_week(moment, moment) int',
    t`((date_trunc('week', {2:local})::date - date_trunc('week', {1:local})::date) / 7)::int8`,
    t`toInt64(intDiv(dateDiff('day', toDate32(toStartOfWeek({1:local}, 1)), toDate32(toStartOfWeek({2:local}, 1))), 7))`,
  ],
  [
    'diff_month(moment, moment) int',
    t`(12 * (extract(year FROM {2:local}) - extract(year FROM {1:local})) + extract(month FROM {2:local}) - extract(month FROM {1:local}))::int8`,
    t`toInt64(12 * (toInt64(toYear({2:local})) - toYear({1:local})) + toMonth({2:local}) - toMonth({1:local}))`,
  ],
  [
    'diff_quarter(moment, moment) int',
    t`(4 * (extract(year FROM {2:local}) - extract(year FROM {1:local})) + extract(quarter FROM {2:local}) - extract(quarter FROM {1:local}))::int8`,
    t`toInt64(4 * (toInt64(toYear({2:local})) - toYear({1:local})) + toQuarter({2:local}) - toQuarter({1:local}))`,
  ],
  [
    'diff_year(moment, moment) int',
    t`(extract(year FROM {2:local}) - extract(year FROM {1:local}))::int8`,
    t`(toInt64(toYear({2:local})) - toInt64(toYear({1:local})))`,
  ],
  [
    'age_second(moment, moment) int',
    t`trunc(extract(epoch FROM {2} - {1}))::int8`,
    t`toInt64(age('second', {1}, {2}))`,
  ],
  [
    'age_minute(moment, moment) int',
    t`trunc(extract(epoch FROM {2} - {1}) / 60)::int8`,
    t`toInt64(age('minute', {1}, {2}))`,
  ],
  [
    'age_hour(moment, moment) int',
    t`trunc(extract(epoch FROM {2} - {1}) / 3600)::int8`,
    t`toInt64(age('hour', {1}, {2}))`,
  ],
  [
    'age_day(moment, moment) int',
    t`trunc(extract(epoch FROM {2:local} - {1:local}) / 86400)::int8`,
    t`toInt64(age('day', {1:local}, {2:local}))`,
  ],
  [
    'age_week(moment, moment) int',
    t`trunc(extract(epoch FROM {2:local} - {1:local}) / 604800)::int8`,
    t`toInt64(age('week', {1:local}, {2:local}))`,
  ],
  [
    'age_month(moment, moment) int',
    t`(12 * extract(year FROM age({2:local}, {1:local})) + extract(month FROM age({2:local}, {1:local})))::int8`,
    t`toInt64(age('month', {1:local}, {2:local}))`,
  ],
  [
    'age_quarter(moment, moment) int',
    t`((12 * extract(year FROM age({2:local}, {1:local})) + extract(month FROM age({2:local}, {1:local})))::int8 / 3)`,
    t`toInt64(age('quarter', {1:local}, {2:local}))`,
  ],
  [
    'age_year(moment, moment) int',
    t`extract(year FROM age({2:local}, {1:local}))::int8`,
    t`toInt64(age('year', {1:local}, {2:local}))`,
  ],
];

/**
 * Adding days and longer units is calendar arithmetic in the time zone; adding shorter units is exact. A local time that
 * clocks skip is moved back by the skipped duration, as in ClickHouse. PostgreSQL would move it forward.
 */
const sums: Row[] = [
  ['add_second(time, int) same', t`({1} + make_interval(secs => {2}))`, t`addSeconds({1}, {2})`],
  ['add_minute(time, int) same', t`({1} + make_interval(mins => {2}::int))`, t`addMinutes({1}, {2})`],
  ['add_hour(time, int) same', t`({1} + make_interval(hours => {2}::int))`, t`addHours({1}, {2})`],
  ['add_day(date, int) date', t`({1} + {2}::int)`, t`addDays({1}, {2})`],
  ['add_day(time, int) same', t`{1:days}`, t`toTimeZone(addDays({1:local}, {2}), 'UTC')`],
  ['add_week(date, int) date', t`({1} + 7 * {2}::int)`, t`addWeeks({1}, {2})`],
  ['add_week(time, int) same', t`{1:weeks}`, t`toTimeZone(addWeeks({1:local}, {2}), 'UTC')`],
  ['add_month(date, int) date', t`({1} + make_interval(months => {2}::int))::date`, t`addMonths({1}, {2})`],
  ['add_month(time, int) same', t`{1:months}`, t`toTimeZone(addMonths({1:local}, {2}), 'UTC')`],
  ['add_quarter(date, int) date', t`({1} + make_interval(months => 3 * {2}::int))::date`, t`addQuarters({1}, {2})`],
  ['add_quarter(time, int) same', t`{1:quarters}`, t`toTimeZone(addQuarters({1:local}, {2}), 'UTC')`],
  ['add_year(date, int) date', t`({1} + make_interval(years => {2}::int))::date`, t`addYears({1}, {2})`],
  ['add_year(time, int) same', t`{1:years}`, t`toTimeZone(addYears({1:local}, {2}), 'UTC')`],
];

export const timeFunctions = define([...rows, ...differences, ...sums]);
