// Types for SQL expressions in query plans. `sql/expressions.ts` parses and checks the expressions.

import type { Condition, EventExpression } from '../event-store/selection.ts';
import { createQueryError } from '../query-parts.ts';

/** Where an expression is used. This determines what the expression may contain. */
export type ExpressionUse = 'condition' | 'value' | 'number' | 'column' | 'order';

export interface PlannedExpression extends EventExpression {
  /** Name of the value's type in responses. */
  typeName: string;
  alias: string | null;
  /** True while a query is planned without being run. */
  isUnchecked?: true;
  /** Converts a value to the format of responses. */
  read(value: unknown): unknown;
}

/** Parses and checks an SQL expression on an event or a person. @throws AppError that names the path */
export type ReadExpression = (
  text: string,
  use: ExpressionUse,
  path: string,
  of?: 'events' | 'persons',
) => PlannedExpression;

interface Context {
  /** Parses SQL expressions. Undefined if queries cannot contain SQL. */
  expression?: ReadExpression;
  isOfPersons?: boolean;
}

/**
 * Returns the function that parses expressions.
 * @throws AppError that names the path if expressions are not supported
 */
export function createExpressionReader({ expression }: Context, path: string): ReadExpression {
  if (expression === undefined) throw createQueryError(path, 'SQL expressions cannot run here.');
  return expression;
}

const longestExpression = 10_000;

/** Translates a filter of the type `hogql`. */
export function readSqlFilter(filter: Record<string, unknown>, path: string, context: Context): Condition {
  const isGiven = (name: string) => filter[name] !== undefined && filter[name] !== null;
  const other = ['value', 'operator', 'group_type_index', 'negation'].find(isGiven);
  if (other !== undefined)
    throw createQueryError(`${path}.${other}`, 'Filters of the type "hogql" consist only of `key`.');
  const { key } = filter;
  if (typeof key !== 'string' || key.length > longestExpression)
    throw createQueryError(`${path}.key`, `Expected an SQL expression of at most ${longestExpression} characters.`);
  const read = createExpressionReader(context, `${path}.key`);
  return { expression: read(key, 'condition', `${path}.key`, context.isOfPersons ? 'persons' : 'events') };
}
