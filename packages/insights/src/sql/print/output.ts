// Prints values in the format of results. In PostgreSQL, the elements of tuples also have this format.

import { type Fragment, sql } from '../../event-store/sql.ts';
import type { Expression } from '../tree.ts';
import { nullable, type SqlType } from '../types.ts';
import { compactJson } from './casts.ts';
import { type Printing, postgresType } from './context.ts';

/** Prints a column of the result: times as milliseconds, dates and UUIDs as text, and lists as JSON. */
export function outputText(value: Fragment, type: SqlType, printing: Printing): Fragment {
  const { dialect, isPostgres } = printing;
  switch (type.kind) {
    case 'time':
      return dialect.millis(value);
    case 'date':
    case 'uuid':
      return isPostgres ? sql`(${value})::text` : sql`toString(${value})`;
    case 'json':
      return isPostgres ? compactJson(value) : sql`JSONExtractRaw(${value})`;
    case 'flag':
      return isPostgres ? sql`(${value})::int` : sql`toUInt8(${value})`;
    case 'tuple': {
      if (isPostgres) return sql`(${value})::text`;
      const parts = (type.parts ?? []).map((part, at) =>
        outputText(sql`tupleElement(${value}, ${sql.literal(at + 1)})`, part, printing),
      );
      return sql`toJSONString(tuple(${sql.join(parts, ', ')}))`;
    }
    case 'array':
      return arrayOutput(value, type.element ?? nullable(type), printing);
    default:
      return value;
  }
}

function arrayOutput(value: Fragment, element: SqlType, printing: Printing): Fragment {
  const item = outputText(sql`item`, element, printing);
  if (!printing.isPostgres) return sql`toJSONString(arrayMap(item -> ${item}, ${value}))`;
  return sql`to_json(ARRAY(SELECT ${item} FROM unnest(${value}) WITH ORDINALITY AS items (item, place) ORDER BY place))::text`;
}

/**
 * Prints a tuple as a single value. In PostgreSQL, this is a JSON array, because lists there cannot contain rows and
 * the columns of rows have no type.
 */
export function tupleText(parts: readonly Expression[], printing: Printing): Fragment {
  if (!printing.isPostgres) return sql`tuple(${sql.join(parts.map(printing.expression), ', ')})`;
  const printed = parts.map((part) => outputText(printing.expression(part), part.type, printing));
  return sql`jsonb_build_array(${sql.join(printed, ', ')})`;
}

/** Prints SQL that reads a tuple element. In PostgreSQL, a tuple is a JSON list. */
export function tuplePartText(
  { tuple, index, type }: Extract<Expression, { is: 'tuple part' }>,
  printing: Printing,
): Fragment {
  const value = printing.expression(tuple);
  if (!printing.isPostgres) return sql`tupleElement(${value}, ${sql.literal(index)})`;
  return valueFromText(sql`((${value}) ->> ${sql.literal(index - 1)})`, type);
}

/** Prints the conversion of a value from the format of results back to its type, for PostgreSQL. */
function valueFromText(text: Fragment, type: SqlType): Fragment {
  switch (type.kind) {
    case 'text':
      return text;
    case 'flag':
      return sql`(${text}::int <> 0)`;
    case 'time':
      return sql`to_timestamp(${text}::float8 / 1000)`;
    case 'array':
      return sql`ARRAY(SELECT ${valueFromText(sql`item`, type.element ?? type)}
        FROM jsonb_array_elements_text(${text}::jsonb) WITH ORDINALITY AS items (item, place) ORDER BY place)`;
    default:
      return sql`${text}::${postgresType(type)}`;
  }
}

/** Prints the ORDER BY terms that sort a list in PostgreSQL: tuples by their elements, and null last. */
export function itemOrder(item: Fragment, { kind, parts = [] }: SqlType): Fragment {
  if (kind !== 'tuple') return kind === 'text' ? sql`${item} COLLATE "pg_c_utf8" NULLS LAST` : sql`${item} NULLS LAST`;
  const orders = parts.map((type, at) => itemOrder(valueFromText(sql`((${item}) ->> ${sql.literal(at)})`, type), type));
  return sql.join(orders, ', ');
}
