// Prints expressions as SQL. The SQL text consists only of the templates in the function table and of numbered names.
// Values are always bound.

import { buildPersonsSql } from '../../event-store/conditions.ts';
import { type Fragment, sql } from '../../event-store/sql.ts';
import { fill } from '../functions/define.ts';
import type { CallExpression, Comparator, Expression, FrameBound, OrderBy, Query, WindowExpression } from '../tree.ts';
import { columnTypes, mayBeNan } from '../tree.ts';
import { calendarSum, documentForm, localForm, orderForm, printCast, textForm } from './casts.ts';
import { clickhouseType, constantText, type Printing, postgresType } from './context.ts';
import { startOfMinutes, startOfUnit } from './local-time.ts';
import { itemOrder, tuplePartText, tupleText } from './output.ts';

const list = (pieces: readonly Fragment[]) => sql.join(pieces, ', ');

export type PrintQuery = (query: Query, printing: Printing) => Fragment;

export function expressionText(expression: Expression, printing: Printing, printQuery: PrintQuery): Fragment {
  const print = printing.expression;
  const { isPostgres } = printing;
  const queryText = (query: Query) => printing.once(query, () => printQuery(query, printing));
  switch (expression.is) {
    case 'constant':
      return constantText(expression, printing);
    case 'column': {
      const plain = printing.column?.(expression) ?? null;
      if (plain !== null) return plain;
      if (expression.isElement && !isPostgres) return sql.numbered('c', expression.column);
      return sql`${sql.numbered('s', expression.relation)}.${sql.numbered('c', expression.column)}`;
    }
    case 'parameter':
      return isPostgres ? parameterText(expression) : sql.numbered('c', expression.id);
    case 'lambda':
      return print(expression.body);
    case 'call':
      return callText(expression, sql``, printing);
    case 'window':
      return callText(expression.call, overText(expression, printing), printing);
    case 'compare':
      return compareText(expression, printing);
    case 'all':
    case 'any': {
      const parts = expression.parts.map(print);
      if (parts.length === 0) return expression.is === 'all' ? sql`true` : sql`false`;
      return sql`(${sql.join(parts, expression.is === 'all' ? ' AND ' : ' OR ')})`;
    }
    case 'not':
      return sql`(NOT ${print(expression.part)})`;
    case 'null':
      return sql`(${print(expression.part)} IS NULL)`;
    case 'in list':
      return inListText(expression, printing);
    case 'in query': {
      const isRow = columnTypes(expression.query).length > 1;
      const value = isRow ? rowText(expression.value, printing) : print(expression.value);
      const rows = sql`(${value} IN (${queryText(expression.query)}))`;
      return hasNull(expression.value) || columnTypes(expression.query).some(({ type }) => type.isNullable)
        ? sql`coalesce(${rows}, false)`
        : rows;
    }
    case 'cohort': {
      const { dialect, projectId } = printing;
      const where = expression.condition;
      const persons = printing.once(where, () => buildPersonsSql(dialect, { projectId, where }));
      const isIn = sql`(${print(expression.value)} IN (SELECT actor FROM (${persons}) AS members))`;
      return expression.value.type.isNullable ? sql`coalesce(${isIn}, false)` : isIn;
    }
    case 'choice': {
      if (expression.cases.length === 0) return print(expression.otherwise);
      const cases = expression.cases.map(({ when, result }) => sql`WHEN ${print(when)} THEN ${print(result)}`);
      return sql`CASE ${sql.join(cases, ' ')} ELSE ${print(expression.otherwise)} END`;
    }
    case 'array':
      return isPostgres
        ? sql`ARRAY[${list(expression.parts.map(print))}]::${postgresType(expression.type)}`
        : sql`CAST([${list(expression.parts.map(print))}] AS ${clickhouseType(expression.type)})`;
    case 'tuple':
      return tupleText(expression.parts, printing);
    case 'tuple part':
      return tuplePartText(expression, printing);
    case 'cast':
      return printCast(expression.value, expression.type, printing);
    case 'query': {
      const [column] = columnTypes(expression.query);
      const value = sql.numbered('c', column?.column ?? 0);
      // A subquery without rows is null, but some types in ClickHouse cannot be null.
      const isPlain =
        isPostgres || column === undefined || column.type.kind === 'array' || column.type.kind === 'tuple';
      const shown = isPlain ? value : sql`CAST(${value} AS Nullable(${clickhouseType(column.type)}))`;
      return sql`(SELECT ${shown} FROM (${queryText(expression.query)})
        AS ${sql.numbered('s', expression.query.id)} LIMIT 1)`;
    }
    default:
      return expression satisfies never;
  }
}

/** Prints a lambda's parameter: an element of a list, which is a column of `unnest`. */
const parameterText = ({ id, lambda }: { id: number; lambda: number }) =>
  sql`${sql.numbered('s', lambda)}.${sql.numbered('c', id)}`;

/** Prints a tuple so that it can be compared with other tuples. */
function rowText(value: Expression, printing: Printing): Fragment {
  if (value.is !== 'tuple' || !printing.isPostgres) return printing.expression(value);
  return sql`ROW(${list(value.parts.map((part) => rowText(part, printing)))})`;
}

function hasNull(expression: Expression): boolean {
  return expression.is === 'tuple' ? expression.parts.some(hasNull) : expression.type.isNullable;
}

/**
 * Prints a comparison, which is never null except in ON. Columns that are never null are printed unchanged, so that
 * indexes can be used.
 */
function compareText(
  { comparator, left, right, isStandard }: Extract<Expression, { is: 'compare' }>,
  printing: Printing,
): Fragment {
  const isOrder = comparator !== '=' && comparator !== '<>';
  const [a, b] = [left, right].map((side) => (isOrder ? orderForm(side, printing) : rowText(side, printing)));
  const words = { '=': sql`=`, '<>': sql`<>`, '<': sql`<`, '<=': sql`<=`, '>': sql`>`, '>=': sql`>=` };
  const plain = sql`(${a ?? sql``} ${words[comparator]} ${b ?? sql``})`;
  // ON treats values as equal in the same cases as IN and GROUP BY. In particular, NaN equals itself.
  if (isStandard === true) return plain;
  const bare = ofNumbers(comparator, [left, right], printing) ?? plain;
  const nulls = [left, right].filter(hasNull).length;
  if (nulls === 0) return bare;
  if (isOrder) return sql`coalesce(${bare}, false)`;
  if (nulls === 1) return comparator === '=' ? sql`coalesce(${bare}, false)` : sql`coalesce(${bare}, true)`;
  if (printing.isPostgres && !mayBeNan(left) && !mayBeNan(right))
    return comparator === '='
      ? sql`(${a ?? sql``} IS NOT DISTINCT FROM ${b ?? sql``})`
      : sql`(${a ?? sql``} IS DISTINCT FROM ${b ?? sql``})`;
  const bothNull = sql`(${a ?? sql``} IS NULL AND ${b ?? sql``} IS NULL)`;
  return comparator === '=' ? sql`coalesce(${bare}, ${bothNull})` : sql`coalesce(${bare}, NOT ${bothNull})`;
}

/**
 * Prints a comparison of numbers that may be NaN, with the same result as in ClickHouse: NaN is neither equal to, less
 * than, nor greater than any number. PostgreSQL treats NaN as equal to itself and greater than all numbers. Returns
 * null if the comparison needs no special SQL.
 */
function ofNumbers(
  comparator: Comparator,
  [left, right]: readonly [Expression, Expression],
  printing: Printing,
): Fragment | null {
  if (!printing.isPostgres || !(mayBeNan(left) || mayBeNan(right))) return null;
  const [a, b] = [printing.expression(left), printing.expression(right)];
  const nan = sql`'NaN'::float8`;
  switch (comparator) {
    case '=':
      return sql`(${a} = ${b} AND ${a} <> ${nan})`;
    case '<>':
      return sql`(${a} <> ${b} OR ${a} = ${nan})`;
    case '<':
      return sql`(${a} < ${b} AND ${b} <> ${nan})`;
    case '<=':
      return sql`(${a} <= ${b} AND ${b} <> ${nan})`;
    case '>':
      return sql`(${a} > ${b} AND ${a} <> ${nan})`;
    case '>=':
      return sql`(${a} >= ${b} AND ${a} <> ${nan})`;
    default:
      return comparator satisfies never;
  }
}

function inListText({ value, list: items }: Extract<Expression, { is: 'in list' }>, printing: Printing): Fragment {
  if (items.length === 0) return sql`false`;
  const rowOf = (one: Expression) => rowText(one, printing);
  const isIn = sql`(${rowOf(value)} IN (${list(items.map(rowOf))}))`;
  return hasNull(value) ? sql`coalesce(${isIn}, false)` : isIn;
}

export function orderText({ by, isDescending }: OrderBy, printing: Printing): Fragment {
  if (by.type.kind === 'float' && printing.isPostgres) {
    // As in ClickHouse, NaN comes after all numbers in both sort directions.
    const x = printing.expression(by);
    const number = sql`nullif(${x}, 'NaN'::float8)`;
    const isMissing = sql`(${x} IS NULL)`;
    return isDescending ? sql`${number} DESC NULLS LAST, ${isMissing}` : sql`${number} ASC NULLS LAST, ${isMissing}`;
  }
  if (isDescending && isIndexed(by) && printing.isPostgres) return sql`${orderForm(by, printing)} DESC`;
  return isDescending
    ? sql`${orderForm(by, printing)} DESC NULLS LAST`
    : sql`${orderForm(by, printing)} ASC NULLS LAST`;
}

/**
 * Returns whether a value is a stored column that is never null. PostgreSQL would not use an index on the column for
 * `DESC NULLS LAST`.
 */
const isIndexed = (by: Expression) => by.is === 'column' && by.isStored === true && !by.type.isNullable;

function overText({ partition, order, frame }: WindowExpression, printing: Printing): Fragment {
  const bound = ({ at, rows }: FrameBound, isStart: boolean) => {
    if (at === 'CURRENT ROW') return sql`CURRENT ROW`;
    const count = rows === null ? sql`UNBOUNDED` : sql.literal(Math.trunc(rows));
    return isStart || at === 'PRECEDING'
      ? at === 'PRECEDING'
        ? sql`${count} PRECEDING`
        : sql`${count} FOLLOWING`
      : sql`${count} FOLLOWING`;
  };
  const method = frame?.method === 'RANGE' ? sql`RANGE` : sql`ROWS`;
  const clauses = [
    ...(partition.length === 0 ? [] : [sql`PARTITION BY ${list(partition.map(printing.expression))}`]),
    ...(order.length === 0 ? [] : [sql`ORDER BY ${list(order.map((one) => orderText(one, printing)))}`]),
    ...(frame === null ? [] : [sql`${method} BETWEEN ${bound(frame.start, true)} AND ${bound(frame.end, false)}`]),
  ];
  return sql` OVER (${sql.join(clauses, ' ')})`;
}

/** Prints a function call by filling in the function's template. */
function callText(call: CallExpression, over: Fragment, printing: Printing): Fragment {
  const { of, args, filter, isDistinct, parameters = [] } = call;
  const { isPostgres, bind } = printing;
  const formed = (at: number, form: string | undefined): Fragment => {
    const given = args[at];
    const arg = given?.is === 'lambda' ? given.body : given;
    if (arg === undefined) throw new Error(`The function ${of.name} has no argument ${at + 1}.`);
    switch (form) {
      case 'order':
        return orderForm(arg, printing);
      case 'low':
      case 'high':
        return mayBeNan(arg) ? withoutNan(printing.expression(arg), form, isPostgres) : orderForm(arg, printing);
      case 'equal':
        return isPostgres && mayBeNan(arg)
          ? sql`nullif(${printing.expression(arg)}, 'NaN'::float8)`
          : formed(at, undefined);
      case 'local':
        return localForm(arg, printing);
      case 'day':
      case 'hour':
      case 'minute':
        return startOfUnit(arg, form, printing);
      case 'minutes':
        return startOfMinutes(arg, args[at + 1] ?? arg, printing);
      case 'days':
      case 'weeks':
      case 'months':
      case 'quarters':
      case 'years':
        return calendarSum(arg, form, formed(at + 1, undefined), printing);
      case 'json':
        return documentForm(arg, printing);
      case 'sorted':
        return itemOrder(sql`item`, arg.type.element ?? arg.type);
      case 'collate':
        return isPostgres && arg.type.element?.kind === 'text' ? sql` COLLATE "pg_c_utf8"` : sql``;
      case 'text': {
        const text = textForm(arg, printing);
        return arg.type.isNullable ? sql`coalesce(${text}, '')` : text;
      }
      default:
        return listForm(arg, of.result, printing);
    }
  };
  return fill(isPostgres ? of.postgres : of.clickhouse, (slot) => {
    const [name = '', form] = slot.split(':');
    switch (name) {
      case '0':
        return elementText(args[0], form, isPostgres);
      case '*':
        return list(args.map((_, at) => formed(at, form)));
      case 'f':
        return sql`${filter === undefined ? sql`` : sql` FILTER (WHERE ${printing.expression(filter)})`}${over}`;
      case 'd':
        return isDistinct ? sql`DISTINCT ` : sql``;
      case 'o': {
        const rows = printing.rowOrders.get(call);
        return rows === undefined ? sql`` : sql` ORDER BY ${sql.numbered('s', rows.id)}.row_number`;
      }
      case 'z':
        return bind('text', args.find(({ type }) => type.zone !== undefined)?.type.zone ?? 'UTC');
      case 'p':
        return list(parameters.map((one) => (isPostgres ? bind('float', one) : sql.literal(one))));
      case 'r':
        return pathText(args.slice(1), printing);
      case 'l':
        return list(equallyLong(args.slice(1), printing));
      default:
        return formed(Number(name) - 1, form);
    }
  });
}

/** Replaces NaN with -Infinity or Infinity in the printed number, because NaN has no defined order. */
function withoutNan(x: Fragment, form: 'low' | 'high', isPostgres: boolean): Fragment {
  const infinity = form === 'low' ? sql`-Infinity` : sql`Infinity`;
  return isPostgres
    ? sql`CASE WHEN ${x} = 'NaN' THEN '${infinity}' ELSE ${x} END`
    : sql`if(isNaN(${x}), toFloat64('${infinity}'), ${x})`;
}

/** ClickHouse has no nullable lists, so functions that return lists receive an empty string instead of null. */
function listForm(arg: Expression, result: string, printing: Printing): Fragment {
  const text = printing.expression(arg);
  const isList = result === 'text[]' && arg.type.kind === 'text';
  return isList && !printing.isPostgres ? sql`ifNull(${text}, '')` : text;
}

/** Prints the elements of a lambda's lists: a row of `unnest` in PostgreSQL, or the parameters in ClickHouse. */
function elementText(lambda: Expression | undefined, form: string | undefined, isPostgres: boolean): Fragment {
  if (lambda?.is !== 'lambda') throw new Error('The first argument must be a lambda.');
  const { id, parameters } = lambda;
  const names = list(parameters.map((parameter) => sql.numbered('c', parameter)));
  if (!isPostgres) return form === 'row' ? sql`(${names}, place)` : sql`(${names})`;
  if (form === 'row') return sql`${sql.numbered('s', id)} (${names}, place)`;
  return form === 'place'
    ? sql`${sql.numbered('s', id)}.place`
    : parameterText({ id: parameters[0] ?? id, lambda: id });
}

/**
 * Prints lists that are read in parallel and must therefore have the same length. ClickHouse itself checks the lengths.
 * For PostgreSQL, the printed SQL fails if the lengths differ, because it then trims a negative number of elements.
 */
export function equallyLong(lists: readonly Expression[], { isPostgres, expression }: Printing): Fragment[] {
  const [first, ...others] = lists.map(expression);
  if (first === undefined) return [];
  if (!isPostgres) return [first, ...others];
  return [
    first,
    ...others.map((other) => sql`trim_array(${other}, - abs(cardinality(${first}) - cardinality(${other})))`),
  ];
}

/**
 * Prints the path of a JSON function. Positions start at 1 in ClickHouse and at 0 in PostgreSQL. In both engines,
 * negative positions count from the end.
 */
function pathText(steps: readonly Expression[], { isPostgres, bind, expression }: Printing): Fragment {
  if (!isPostgres) return steps.length === 0 ? sql`` : sql`, ${list(steps.map(expression))}`;
  const texts = steps.map((step) => {
    const value = step.is === 'constant' ? step.value : null;
    const position = step.type.kind === 'int' ? Number(value) : null;
    return bind('text', String(position === null ? value : position > 0 ? position - 1 : position));
  });
  return sql`ARRAY[${list(texts)}]::text[]`;
}
