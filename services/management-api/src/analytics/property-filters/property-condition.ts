// Property filters as conditions of SQL, and the refusal of a pattern PostgreSQL cannot read.

import { canonicalNumber } from '@millrace/insights';
import { AppError } from '@millrace/runtime';
import type { Conditions } from '../../sql/conditions.ts';
import type { PropertyFilter } from './property-filter.ts';

/**
 * SQL for one filter on the properties in `column`; never null. What a property does not have, or has as JSON null, is not
 * set; the negative operators are true of it, the positive ones are not.
 */
export function propertyCondition(
  { key, operator, values }: PropertyFilter,
  column: string,
  parameter: Conditions['parameter'],
): string {
  const name = parameter(key);
  const json = `(${column} -> ${name}::text)`;
  const text = `(${column} ->> ${name}::text)`;
  const anyOf = (condition: (value: string) => string) =>
    `coalesce(${values.map((value) => condition(parameter(value))).join(' OR ')}, false)`;
  switch (operator) {
    case 'exact':
    case 'in':
      return equalsAny({ json, text }, values, parameter);
    case 'is_not':
    case 'not_in':
      return `NOT ${equalsAny({ json, text }, values, parameter)}`;
    case 'icontains':
      return anyOf((value) => `strpos(lower(${text}), lower(${value}::text)) > 0`);
    case 'not_icontains':
      return `NOT ${anyOf((value) => `strpos(lower(${text}), lower(${value}::text)) > 0`)}`;
    case 'regex':
      return anyOf((value) => `${text} ~ ${value}::text`);
    case 'not_regex':
      return `NOT ${anyOf((value) => `${text} ~ ${value}::text`)}`;
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return anyOf((value) => `${asNumber({ json, text })} ${comparisons[operator]} ${value}::text::numeric`);
    case 'is_date_before':
      return anyOf((value) => `${asTime({ json, text })} < ${value}::text::timestamptz`);
    case 'is_date_after':
      return anyOf((value) => `${asTime({ json, text })} > ${value}::text::timestamptz`);
    case 'is_date_exact':
      return anyOf((value) => `${utcDay(asTime({ json, text }))} = ${utcDay(`${value}::text::timestamptz`)}`);
    case 'is_set':
      return `${text} IS NOT NULL`;
    case 'is_not_set':
      return `${text} IS NULL`;
    default:
      return operator satisfies never;
  }
}

interface Property {
  json: string;
  text: string;
}

const comparisons = { gt: '>', gte: '>=', lt: '<', lte: '<=' };

/** Stored numbers also match however they are written: 5.0 is 5. */
function equalsAny({ json, text }: Property, values: string[], parameter: Conditions['parameter']): string {
  const numbers = values.filter((value) => canonicalNumber.test(value));
  const asText = `${text} = ANY (${parameter(values)}::text[])`;
  if (numbers.length === 0) return `coalesce(${asText}, false)`;
  return `coalesce(${asText} OR (jsonb_typeof(${json}) = 'number'
            AND ${json}::numeric = ANY (${parameter(numbers)}::text[]::numeric[])), false)`;
}

/** A number, or a text that is one. The conditions of a CASE are kept in order: nothing is read as a number that is none. */
function asNumber({ json, text }: Property): string {
  return `CASE WHEN jsonb_typeof(${json}) = 'number' THEN ${json}::numeric
               WHEN ${text} ~ '^\\s*[-+]?\\d{1,30}(\\.\\d{1,30})?\\s*$' THEN ${text}::numeric END`;
}

/** A text in ISO 8601, without an offset UTC, or a number of seconds or milliseconds since 1970. */
function asTime({ json, text }: Property): string {
  const zoned = `CASE WHEN ${text} ~ ':\\d\\d(\\.\\d+)?\\s*([Zz]|[-+]\\d\\d(:?\\d\\d)?)$' THEN ${text} ELSE ${text} || ' UTC' END`;
  const number = `${json}::numeric`;
  return `CASE WHEN jsonb_typeof(${json}) = 'number' THEN
                 CASE WHEN abs(${number}) < 1e11 THEN to_timestamp((${number})::float8)
                      WHEN abs(${number}) < 1e14 THEN to_timestamp((${number} / 1000)::float8) END
               WHEN ${text} ~ '^\\d{4}-\\d\\d-\\d\\d([T ][0-9:.,Zz +-]{0,30})?$' AND pg_input_is_valid(${zoned}, 'timestamptz')
                 THEN (${zoned})::timestamptz END`;
}

const utcDay = (time: string) => `date_trunc('day', (${time}) AT TIME ZONE 'UTC')`;

/** SQLSTATE of a regular expression the server does not take. */
const invalidPattern = '2201B';

/** Runs a filtered query. @throws AppError `invalid` for a regular expression that only the server finds wrong. */
export async function refuseBadPattern<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== invalidPattern) throw error;
    throw new AppError('invalid', `Invalid regular expression: ${(error as Error).message}.`, {
      attr: 'properties',
      cause: error,
    });
  }
}
