// The context for printing a query: the dialect, the project, and one bound value per constant.

import type { Dialect } from '../../event-store/dialect.ts';
import type { EventKey } from '../../event-store/queries.ts';
import { type Fragment, sql, type Value } from '../../event-store/sql.ts';
import type { CallExpression, ConstantExpression, Expression, QueryRelation } from '../tree.ts';
import type { SqlType } from '../types.ts';

export interface Printing {
  dialect: Dialect;
  isPostgres: boolean;
  /** The project that every base table is limited to. */
  projectId: number;
  /** Returns a number for the name of a column or relation. Each number is unique within the query. */
  nextNumber(): number;
  bind(type: Value['type'], value: string | number | readonly (number | null)[]): Fragment;
  expression(expression: Expression): Fragment;
  /**
   * Prints a subquery the first time it is used, and returns the same fragment with the same bound values each later
   * time. With different bound values, PostgreSQL would not recognize that expressions in SELECT and GROUP BY are the
   * same.
   */
  once(subject: object, print: () => Fragment): Fragment;
  /**
   * Maps each aggregate that depends on row order to the sorted subquery that determines the order, and each such
   * subquery to itself. Used only for PostgreSQL.
   */
  rowOrders: Map<CallExpression | QueryRelation, QueryRelation>;
  /** Prints a column that is read without a subquery. Returns null for other columns. */
  column?(column: Extract<Expression, { is: 'column' }>): Fragment | null;
  /** If set, the only events that the query reads. */
  keys?: readonly EventKey[];
}

/**
 * Creates a function that binds constants. Equal constants share a bound value, so that equal expressions are printed
 * as equal SQL.
 */
export function createBinder(): Printing['bind'] {
  const values = new Map<string, Value>();
  return (type, value) => {
    const key = `${type} ${value}`;
    const known = values.get(key) ?? { type, value };
    values.set(key, known);
    return sql`${known}`;
  };
}

export function constantText({ type, value }: ConstantExpression, { bind, isPostgres }: Printing): Fragment {
  if (value === null || value === 'no bound') return nullText(type, isPostgres);
  switch (type.kind) {
    case 'int':
      return bind('long', String(value));
    case 'float':
      return bind('float', Number(value));
    // The cast is needed, because GROUP BY would interpret a plain constant as the position of a column.
    case 'flag':
      return isPostgres ? sql`${truth(value)}::boolean` : sql`toUInt8(${truth(value)})`;
    case 'bool':
      return isPostgres ? sql`${truth(value)}::boolean` : sql`toBool(${truth(value)})`;
    case 'date':
      return bind('date', String(value));
    case 'time':
      return bind('time', Number(value));
    case 'uuid':
      return bind('uuid', String(value));
    default:
      return bind('text', String(value));
  }
}

const truth = (value: unknown) => (value === true ? sql`true` : sql`false`);

function nullText(type: SqlType, isPostgres: boolean): Fragment {
  if (isPostgres) return sql`NULL::${postgresType(type)}`;
  if (type.kind === 'nothing') return sql`NULL`;
  return sql`CAST(NULL AS Nullable(${clickhouseType(type)}))`;
}

const postgresTypes = {
  int: sql`int8`,
  float: sql`float8`,
  text: sql`text`,
  flag: sql`boolean`,
  bool: sql`boolean`,
  date: sql`date`,
  time: sql`timestamptz`,
  uuid: sql`uuid`,
  json: sql`jsonb`,
  tuple: sql`jsonb`,
  interval: sql`int8`,
  nothing: sql`text`,
};

export function postgresType(type: SqlType): Fragment {
  if (type.kind !== 'array') return postgresTypes[type.kind];
  return sql`${postgresType(type.element ?? type)}[]`;
}

const clickhouseTypes = {
  int: sql`Int64`,
  float: sql`Float64`,
  text: sql`String`,
  flag: sql`UInt8`,
  bool: sql`Bool`,
  date: sql`Date32`,
  time: sql`DateTime64(3, 'UTC')`,
  uuid: sql`UUID`,
  json: sql`String`,
  tuple: sql`String`,
  interval: sql`Int64`,
  nothing: sql`String`,
};

export function clickhouseType(type: SqlType): Fragment {
  if (type.kind === 'tuple') return sql`Tuple(${sql.join((type.parts ?? []).map(typeOfElement), ', ')})`;
  if (type.kind === 'array') return sql`Array(${typeOfElement(type.element ?? type)})`;
  return clickhouseTypes[type.kind];
}

const typeOfElement = (type: SqlType) =>
  type.isNullable && type.kind !== 'array' && type.kind !== 'tuple'
    ? sql`Nullable(${clickhouseType(type)})`
    : clickhouseType(type);
