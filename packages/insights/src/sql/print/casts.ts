// Prints conversions between types, and values in the special forms that functions and comparisons need.

import { type Fragment, sql } from '../../event-store/sql.ts';
import type { Expression } from '../tree.ts';
import type { SqlType } from '../types.ts';
import type { Printing } from './context.ts';
import { localTime } from './local-time.ts';

/** Prints a conversion that the resolver has checked. */
export function printCast(value: Expression, type: SqlType, printing: Printing): Fragment {
  const x = printing.expression(value);
  const zone = printing.bind('text', type.zone ?? value.type.zone ?? 'UTC');
  if (type.kind === 'text') return textForm(value, printing);
  const pair = `${value.type.kind} ${type.kind}`;
  return printing.isPostgres ? postgresCast(pair, x, zone) : clickhouseCast(pair, x, zone);
}

function postgresCast(pair: string, x: Fragment, zone: Fragment): Fragment {
  switch (pair) {
    case 'flag int':
    case 'bool int':
      return sql`(${x})::int::int8`;
    case 'flag float':
    case 'bool float':
      return sql`(${x})::int::float8`;
    case 'int float':
      return sql`(${x})::float8`;
    case 'float int':
      return sql`CASE WHEN ${x} = trunc(${x}) AND abs(${x}) < 9223372036854775808 THEN (${x})::int8 END`;
    case 'time int':
      return sql`floor(extract(epoch FROM ${x}))::int8`;
    case 'text int':
      return sql`CASE WHEN ${x} ~ '^[-+]?\\d{1,18}$' THEN (${x})::int8 END`;
    case 'text float':
      return sql`CASE WHEN ${x} ~ '^[-+]?\\d{1,30}(\\.\\d{1,30})?([eE][-+]?\\d{1,2})?$' THEN (${x})::float8 END`;
    case 'int bool':
    case 'float bool':
      return sql`(${x} <> 0)`;
    case 'text bool':
      return sql`CASE ${x} WHEN 'true' THEN true WHEN 'false' THEN false END`;
    case 'text uuid':
      return sql`CASE WHEN ${x} ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN (${x})::uuid END`;
    case 'date time':
      return sql`((${x})::timestamp AT TIME ZONE ${zone})`;
    case 'text time':
      return sql`CASE WHEN ${x} ~ '^\\d{4}-\\d\\d-\\d\\d([T ][0-9:.,]{0,30})?$' AND pg_input_is_valid(${x}, 'timestamp')
          THEN ${instantText(sql`(${x})::timestamp`, zone)}
        WHEN ${x} ~ '^\\d{4}-\\d\\d-\\d\\d[T ][0-9:.,]{0,30}\\s*([Zz]|[-+]\\d\\d(:?\\d\\d)?)$' AND pg_input_is_valid(${x}, 'timestamptz')
          THEN (${x})::timestamptz END`;
    default:
      return x;
  }
}

/**
 * Prints the instant of a local time in PostgreSQL. As in ClickHouse, a local time that occurs twice is the earlier of
 * the two instants, and a local time that clocks skip is moved back by the skipped duration.
 */
function instantText(local: Fragment, zone: Fragment): Fragment {
  const instant = sql`(${local} AT TIME ZONE ${zone})`;
  const earlier = sql`(${instant} - interval '1 hour')`;
  return sql`CASE WHEN ${earlier} AT TIME ZONE ${zone} = ${local} THEN ${earlier}
    ELSE ${instant} - ((${instant} AT TIME ZONE ${zone}) - ${local}) END`;
}

const intervals = {
  days: sql`days =>`,
  weeks: sql`weeks =>`,
  months: sql`months =>`,
  quarters: sql`months => 3 *`,
  years: sql`years =>`,
};
export type CalendarUnit = keyof typeof intervals;

/** Prints the sum of a time and a number of local calendar days or longer units, for PostgreSQL. */
export function calendarSum(time: Expression, unit: CalendarUnit, count: Fragment, printing: Printing): Fragment {
  const local = sql`(${localTime(time, printing)} + make_interval(${intervals[unit]} ${count}::int))`;
  return instantText(local, printing.bind('text', time.type.zone ?? 'UTC'));
}

function clickhouseCast(pair: string, x: Fragment, zone: Fragment): Fragment {
  switch (pair) {
    case 'flag int':
    case 'bool int':
      return sql`toInt64(${x})`;
    case 'flag float':
    case 'bool float':
    case 'int float':
      return sql`toFloat64(${x})`;
    case 'float int':
      return sql`accurateCastOrNull(${x}, 'Int64')`;
    case 'time int':
      return sql`toInt64(toUnixTimestamp(${x}))`;
    case 'text int':
      return sql`if(match(${x}, '^[-+]?\\d{1,18}$'), toInt64OrNull(${x}), NULL)`;
    case 'text float':
      return sql`if(match(${x}, '^[-+]?\\d{1,30}(\\.\\d{1,30})?([eE][-+]?\\d{1,2})?$'), toFloat64OrNull(${x}) + 0, NULL)`;
    case 'flag bool':
      return sql`(${x})::${sql`Nullable(Bool)`}`;
    case 'int bool':
    case 'float bool':
      return sql`(${x} <> 0)`;
    case 'text bool':
      return sql`CAST(multiIf(${x} = 'true', 1, ${x} = 'false', 0, NULL) AS Nullable(Bool))`;
    case 'text uuid':
      return sql`if(match(${x}, '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'), toUUIDOrNull(${x}), NULL)`;
    case 'date time':
      return sql`toTimeZone(toDateTime64(${x}, 3, ${zone}), 'UTC')`;
    case 'text time':
      return sql`multiIf(
        match(${x}, '^\\d{4}-\\d\\d-\\d\\d([T ][0-9:.,]{0,30})?$'), toTimeZone(parseDateTime64BestEffortOrNull(${x}, 3, ${zone}), 'UTC'),
        match(${x}, '^\\d{4}-\\d\\d-\\d\\d[T ][0-9:.,]{0,30}\\s*([Zz]|[-+]\\d\\d(:?\\d\\d)?)$'), parseDateTime64BestEffortOrNull(${x}, 3, 'UTC'),
        NULL)`;
    default:
      return x;
  }
}

/** Prints JSON as compact text: removes the space after each separator, except within strings. */
export const compactJson = (json: Fragment) =>
  sql`regexp_replace((${json})::text, '("(?:[^"\\\\]|\\\\.)*")|([:,]) ', '\\1\\2', 'g')`;

/** Prints a JSON object with sorted keys, because PostgreSQL does not keep the client's order. */
export const compactObject = (json: Fragment) =>
  sql`(SELECT '{' || coalesce(string_agg(to_json(key)::text || ':' || ${compactJson(sql`value`)}, ',' ORDER BY key COLLATE "pg_c_utf8"), '') || '}'
    FROM jsonb_each(${json}))`;

/** Generates SQL that formats a value the way `toString` does. */
export function textForm(value: Expression, printing: Printing): Fragment {
  const x = printing.expression(value);
  const zone = printing.bind('text', value.type.zone ?? 'UTC');
  const { hasFraction, kind } = value.type;
  if (kind === 'text') return x;
  if (!printing.isPostgres) {
    if (kind === 'time')
      return hasFraction
        ? sql`concat(toString(toTimeZone(${x}, ${zone})), '000')`
        : sql`formatDateTime(toTimeZone(${x}, ${zone}), '%Y-%m-%d %H:%i:%S')`;
    if (kind === 'bool') return sql`CASE WHEN ${x} THEN 'true' WHEN NOT (${x}) THEN 'false' END`;
    if (kind === 'json') return sql`JSONExtractRaw(${x})`;
    return kind === 'flag' ? sql`toString(toUInt8(${x}))` : sql`toString(${x})`;
  }
  switch (kind) {
    case 'float':
      return sql`CASE WHEN ${x} = 0 OR abs(${x}) >= 1e-6 AND abs(${x}) < 1e21 THEN trim_scale((${x})::text::numeric)::text
        ELSE replace(lower(replace(replace((${x})::text, 'e+', 'e'), 'e-0', 'e-')), 'infinity', 'inf') END`;
    case 'flag':
      return sql`(${x})::int::text`;
    case 'json':
      return compactJson(x);
    case 'time':
      return hasFraction
        ? sql`to_char(${localTime(value, printing)}, 'YYYY-MM-DD HH24:MI:SS.US')`
        : sql`to_char(${localTime(value, printing)}, 'YYYY-MM-DD HH24:MI:SS')`;
    default:
      return sql`(${x})::text`;
  }
}

/**
 * Prints a value so that both engines sort it in the same order: texts and documents by their bytes, UUIDs by their
 * text. PostgreSQL sorts UUIDs by their bytes, which is the same order.
 */
export function orderForm(value: Expression, printing: Printing): Fragment {
  const x = printing.expression(value);
  switch (value.type.kind) {
    case 'text':
      return printing.isPostgres ? sql`${x} COLLATE "pg_c_utf8"` : x;
    case 'uuid':
      return printing.isPostgres ? x : sql`toString(${x})`;
    case 'tuple':
      return tupleOrder(value, printing);
    case 'json': {
      const text = textForm(value, printing);
      return printing.isPostgres ? sql`${text} COLLATE "pg_c_utf8"` : text;
    }
    default:
      return x;
  }
}

/** Prints a tuple as a row, because PostgreSQL sorts JSON arrays in a different order than rows. */
function tupleOrder(value: Expression, printing: Printing): Fragment {
  const { parts = [] } = value.type;
  const values = parts.map((type, at): Expression => {
    const part = value.is === 'tuple' ? value.parts[at] : undefined;
    return part ?? { is: 'tuple part', tuple: value, index: at + 1, type };
  });
  const forms = sql.join(
    values.map((part) => orderForm(part, printing)),
    ', ',
  );
  return printing.isPostgres ? sql`ROW(${forms})` : sql`tuple(${forms})`;
}

/** Prints a value's local time in its time zone. The result's type has a time zone only in ClickHouse. */
export function localForm(value: Expression, printing: Printing): Fragment {
  const x = printing.expression(value);
  if (value.type.kind === 'date') return printing.isPostgres ? sql`(${x})::timestamp` : x;
  if (printing.isPostgres) return localTime(value, printing);
  return sql`toTimeZone(${x}, ${printing.bind('text', value.type.zone ?? 'UTC')})`;
}

/** Prints a JSON document that is a column or a string. A string that is not JSON becomes null. */
export function documentForm(value: Expression, printing: Printing): Fragment {
  const x = printing.expression(value);
  // ClickHouse has no nullable lists, so functions that return lists must not receive a nullable document.
  if (!printing.isPostgres) return sql`ifNull(${x}, '')`;
  // PostgreSQL evaluates constants before it checks the condition, so check the JSON here.
  if (value.is === 'constant') return isJson(String(value.value)) ? sql`(${x})::jsonb` : sql`NULL::jsonb`;
  return value.type.kind === 'json' ? x : sql`(CASE WHEN pg_input_is_valid(${x}, 'jsonb') THEN (${x})::jsonb END)`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
