// The types of a resolved query: names are replaced by columns of known tables, and each expression has a type. Strings
// in the tree are sent to an engine only as bound values.

import type { Condition, Property } from '../event-store/selection.ts';
import type { SqlFunction } from './functions/define.ts';
import type { SqlType } from './types.ts';

interface Typed {
  type: SqlType;
}

/**
 * A constant. Its `value` is milliseconds since 1970 for a time, `YYYY-MM-DD` for a date, and decimal digits for an
 * integer.
 */
export interface ConstantExpression extends Typed {
  is: 'constant';
  value: string | number | boolean | null;
}

export type Comparator = '=' | '<>' | '<' | '<=' | '>' | '>=';

export interface OrderBy {
  by: Expression;
  isDescending: boolean;
}

export interface CallExpression extends Typed {
  is: 'call';
  name: string;
  of: SqlFunction;
  args: readonly Expression[];
  /** Parameters of the aggregate, such as the levels of quantiles or the maximum length of a list. */
  parameters?: readonly number[];
  /** Whether an aggregate includes equal values only once. */
  isDistinct?: boolean;
  /** An aggregate includes only rows for which this condition is true. */
  filter?: Expression;
}

export interface WindowExpression extends Typed {
  is: 'window';
  call: CallExpression;
  partition: readonly Expression[];
  order: readonly OrderBy[];
  frame: Frame | null;
}

export interface Frame {
  method: 'ROWS' | 'RANGE';
  start: FrameBound;
  end: FrameBound;
}
export interface FrameBound {
  at: 'CURRENT ROW' | 'PRECEDING' | 'FOLLOWING';
  /** Number of rows. Null if the frame is unbounded on this side. */
  rows: number | null;
}

export type Expression =
  | ConstantExpression
  | CallExpression
  | WindowExpression
  /**
   * A column. `isElement` marks an element of a list that arrayJoin or ARRAY JOIN turned into rows. `isStored` marks a
   * value read from a table, which is never NaN. `isProperty` marks a value computed from a document of a table.
   */
  | (Typed & {
      is: 'column';
      relation: number;
      column: number;
      isElement?: boolean;
      isStored?: true;
      isProperty?: boolean;
    })
  /** A parameter of a lambda: an element of one of its lists. */
  | (Typed & { is: 'parameter'; id: number; lambda: number })
  | (Typed & { is: 'lambda'; id: number; parameters: readonly number[]; body: Expression })
  | (Typed & { is: 'compare'; comparator: Comparator; left: Expression; right: Expression; isStandard?: boolean })
  | (Typed & { is: 'all' | 'any'; parts: readonly Expression[] })
  | (Typed & { is: 'not'; part: Expression })
  | (Typed & { is: 'null'; part: Expression })
  | (Typed & { is: 'in list'; value: Expression; list: readonly Expression[] })
  | (Typed & { is: 'in query'; value: Expression; query: Query })
  | (Typed & { is: 'cohort'; value: Expression; condition: Condition })
  | (Typed & { is: 'choice'; cases: readonly { when: Expression; result: Expression }[]; otherwise: Expression })
  | (Typed & { is: 'array' | 'tuple'; parts: readonly Expression[] })
  /** An element of a tuple that is not written out in the query. Indexes start at 1. */
  | (Typed & { is: 'tuple part'; tuple: Expression; index: number })
  | (Typed & { is: 'cast'; value: Expression })
  | (Typed & { is: 'query'; query: Query });

/** A column, property or condition that is read from a base table. */
export type TableColumn =
  | { of: 'column'; name: string; type: SqlType }
  | { of: 'property'; property: Exclude<Property, { of: 'column' }>; path: readonly string[]; type: SqlType }
  /** Whether an event matches filters in the format of insights. */
  | { of: 'condition'; condition: Condition; type: SqlType };

export type TableName = 'events' | 'persons' | 'person_distinct_ids' | 'groups' | 'cohort_people' | 'sessions';

/** A bound on the time in a WHERE clause. Its value does not depend on columns. */
export interface TimeBound {
  comparator: Comparator;
  value: Expression;
}

export interface TableRelation {
  is: 'table';
  id: number;
  table: TableName;
  /** The columns that the query reads, by number. Resolving the query adds columns. */
  columns: Map<number, TableColumn>;
  /** Bounds of the table's time. Only sessions and events with session columns have them. */
  bounds?: readonly TimeBound[];
}
export interface QueryRelation {
  is: 'query';
  id: number;
  query: Query;
}
/** A relation with one row per element of a list. If there are several lists, they have the same length. */
export interface ExpandRelation {
  is: 'expand';
  id: number;
  lists: { column: number; list: Expression }[];
  /** True to keep rows whose list is empty. */
  isOuter: boolean;
}

export interface JoinedRelation {
  relation: TableRelation | QueryRelation;
  join: 'INNER' | 'LEFT' | 'RIGHT' | 'FULL' | 'CROSS' | null;
  on: Expression | null;
}

export interface OutputColumn {
  /** The column's number, which is unique within the complete query. */
  column: number;
  value: Expression;
}

export interface SelectQuery {
  is: 'select';
  id: number;
  from: readonly JoinedRelation[];
  expand: readonly ExpandRelation[];
  columns: readonly OutputColumn[];
  isDistinct: boolean;
  where: Expression | null;
  group: readonly Expression[];
  /** True if rows are aggregated, with or without GROUP BY. */
  isAggregated: boolean;
  having: Expression | null;
  order: readonly OrderBy[];
  limitBy: { count: number; offset: number; by: readonly Expression[] } | null;
  limit: number | null;
  offset: number;
}

export interface SetQuery {
  is: 'set';
  id: number;
  first: Query;
  others: readonly { operator: 'UNION ALL' | 'UNION DISTINCT' | 'INTERSECT' | 'EXCEPT'; query: Query }[];
  columns: readonly { column: number; type: SqlType }[];
  limit: number | null;
}

export type Query = SelectQuery | SetQuery;

export function columnTypes(query: Query): { column: number; type: SqlType }[] {
  if (query.is === 'set') return [...query.columns];
  return query.columns.map(({ column, value }) => ({ column, type: value.type }));
}

/** Returns a key for an expression. If two expressions have equal keys, they always have the same value. */
export const keyOf = (expression: Expression): string =>
  JSON.stringify(expression, (_, value: unknown) => {
    if (value instanceof Map) return [...value];
    return typeof value === 'object' && value !== null && 'postgres' in value ? undefined : value;
  });

/** Returns the direct subexpressions of an expression, except those in subqueries. */
export function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.is) {
    case 'constant':
    case 'column':
    case 'parameter':
    case 'query':
      return [];
    case 'call':
      return expression.filter === undefined ? expression.args : [...expression.args, expression.filter];
    case 'window':
      return [...expression.call.args, ...expression.partition, ...expression.order.map(({ by }) => by)];
    case 'lambda':
      return [expression.body];
    case 'compare':
      return [expression.left, expression.right];
    case 'all':
    case 'any':
    case 'array':
    case 'tuple':
      return expression.parts;
    case 'not':
    case 'null':
      return [expression.part];
    case 'in list':
      return [expression.value, ...expression.list];
    case 'in query':
    case 'cohort':
    case 'cast':
      return [expression.value];
    case 'tuple part':
      return [expression.tuple];
    case 'choice':
      return [...expression.cases.flatMap(({ when, result }) => [when, result]), expression.otherwise];
    default:
      return expression satisfies never;
  }
}

/** Copies an expression and replaces some of its subexpressions, except those in subqueries. */
export function mapExpression(one: Expression, replace: (part: Expression) => Expression | null): Expression {
  const map = (part: Expression) => mapExpression(part, replace);
  const mapCall = (call: CallExpression): CallExpression => ({
    ...call,
    args: call.args.map(map),
    ...(call.filter && { filter: map(call.filter) }),
  });
  const replaced = replace(one);
  if (replaced !== null) return replaced;
  switch (one.is) {
    case 'constant':
    case 'column':
    case 'parameter':
    case 'query':
      return one;
    case 'call':
      return mapCall(one);
    case 'window': {
      const order = one.order.map(({ by, isDescending }) => ({ by: map(by), isDescending }));
      return { ...one, call: mapCall(one.call), partition: one.partition.map(map), order };
    }
    case 'lambda':
      return { ...one, body: map(one.body) };
    case 'compare':
      return { ...one, left: map(one.left), right: map(one.right) };
    case 'all':
    case 'any':
    case 'array':
    case 'tuple':
      return { ...one, parts: one.parts.map(map) };
    case 'not':
    case 'null':
      return { ...one, part: map(one.part) };
    case 'in list':
      return { ...one, value: map(one.value), list: one.list.map(map) };
    case 'in query':
    case 'cohort':
    case 'cast':
      return { ...one, value: map(one.value) };
    case 'tuple part':
      return { ...one, tuple: map(one.tuple) };
    case 'choice': {
      const cases = one.cases.map(({ when, result }) => ({ when: map(when), result: map(result) }));
      return { ...one, cases, otherwise: map(one.otherwise) };
    }
    default:
      return one satisfies never;
  }
}

export function someOf(expression: Expression, test: (one: Expression) => boolean): boolean {
  return test(expression) || partsOf(expression).some((part) => someOf(part, test));
}

/** Returns whether the value of an expression can be NaN, like 0 / 0. */
export function mayBeNan(one: Expression): boolean {
  if (one.type.kind !== 'float' || one.is === 'constant') return false;
  return one.is === 'cast' ? mayBeNan(one.value) : !(one.is === 'column' && one.isStored);
}

export const isAggregate = (one: Expression) => one.is === 'call' && one.of.isAggregate;
