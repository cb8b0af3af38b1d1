// Prints a query with its placeholders replaced, as PostHog returns it in `hogql`. Expressions are printed as function
// calls.

import type { FrameExpr, Join, Node, Select, SelectSet, WindowExpr } from './ast.ts';
import { createPrinter, identifier, windowText } from './names.ts';
import { timeColumns } from './resolve/filters.ts';
import type { SqlSettings } from './resolve/scope.ts';

/** Prints a query. Leaves `{filters}` as it is if it contains property filters, because these are not SQL. */
export function printQuery(tree: Select | SelectSet, filters: SqlSettings['filters']): string {
  return queryText(tree, filters);
}

/** Operators that have no function of the same name and meaning. */
const infix = new Set(['in cohort', 'not in cohort', '~', '~*', '=~*', '!~', '!~*', 'not ilike', 'not like', 'not in']);

/**
 * Returns a function that prints expressions.
 * @param time the time column that `{filters}` limits
 */
function printerOf(filters: SqlSettings['filters'], time: string | null): (node: Node) => string {
  return createPrinter({
    query: (node) => `(${queryText(node, filters)})`,
    injected: ({ what }) => (what === 'filters' ? filtersText(filters, time) : 'NULL'),
    comparison({ op, left, right }, print) {
      // A comparison with a missing bound is always true.
      if ([left, right].some((side) => side.node === 'Injected' && side.what === 'no bound')) return 'true';
      return infix.has(op) ? `(${print(left)} ${op.toUpperCase()} ${print(right)})` : null;
    },
    frame: frameText,
  });
}

function queryText(tree: Select | SelectSet, filters: SqlSettings['filters']): string {
  if (tree.node === 'SelectQuery') return selectText(tree, filters);
  const part = (one: Select | SelectSet) =>
    one.node === 'SelectQuery' ? queryText(one, filters) : `(${queryText(one, filters)})`;
  const others = tree.subsequent_select_queries.map(
    ({ set_operator: operator, select_query: query }) => ` ${operator} ${part(query)}`,
  );
  return `${part(tree.initial_select_query)}${others.join('')}`;
}

function selectText(node: Select, filters: SqlSettings['filters']): string {
  const print = printerOf(filters, filteredTime(node.select_from));
  const list = (nodes: readonly Node[]) => nodes.map(print).join(', ');
  const clause = (word: string, one: Node | undefined) => (one === undefined ? [] : [`${word} ${print(one)}`]);
  const lists = (word: string, nodes: readonly Node[] | undefined) =>
    nodes === undefined || nodes.length === 0 ? [] : [`${word} ${list(nodes)}`];
  const ctes = (node.ctes ?? []).map(({ name, expr, cte_type: type }) =>
    type === 'subquery' ? `${identifier(name)} AS ${print(expr)}` : `${print(expr)} AS ${identifier(name)}`,
  );
  const windows = Object.entries(node.window_exprs ?? {}).map(
    ([name, window]) => `${identifier(name)} AS (${windowText(window, print, frameText)})`,
  );
  const by = node.limit_by;
  const limitBy = by && [`LIMIT ${print(by.n)}${offsetText(by.offset_value, print)} BY ${list(by.exprs)}`];
  return [
    ...(ctes.length === 0 ? [] : [`WITH ${ctes.join(', ')}`]),
    `SELECT ${node.distinct ? 'DISTINCT ' : ''}${list(node.select)}`,
    ...(node.select_from === undefined ? [] : [`FROM ${joinsText(node.select_from, print)}`]),
    ...(node.array_join_op === undefined ? [] : lists(node.array_join_op, node.array_join_list)),
    ...clause('PREWHERE', node.prewhere),
    ...clause('WHERE', node.where),
    ...lists('GROUP BY', node.group_by),
    ...clause('HAVING', node.having),
    ...(windows.length === 0 ? [] : [`WINDOW ${windows.join(', ')}`]),
    ...lists('ORDER BY', node.order_by),
    ...(limitBy ?? []),
    ...clause('LIMIT', node.limit),
    ...clause('OFFSET', node.offset),
  ].join(' ');
}

const offsetText = (offset: Node | undefined, print: (node: Node) => string) =>
  offset === undefined ? '' : ` OFFSET ${print(offset)}`;

function joinsText(first: Join, print: (node: Node) => string): string {
  const parts: string[] = [];
  for (let join: Join | undefined = first; join !== undefined; join = join.next_join) {
    const { join_type: type, table, alias, constraint } = join;
    const name = table === undefined ? '' : print(table);
    const shown = alias === undefined || alias === name ? name : `${name} AS ${identifier(alias)}`;
    const on = constraint === undefined ? '' : ` ${constraint.constraint_type} ${print(constraint.expr)}`;
    parts.push(`${type === undefined ? '' : `${type} `}${shown}${on}`);
  }
  return parts.join(' ');
}

/** Returns the time column that `{filters}` limits, which is the time column of the first table that has one. */
function filteredTime(first: Join | undefined): string | null {
  for (let join = first; join !== undefined; join = join.next_join) {
    const name = join.table?.node === 'Field' ? join.table.chain.join('.') : '';
    const time = timeColumns[name];
    if (time !== undefined) return `${identifier(join.alias ?? name)}.${time}`;
  }
  return null;
}

function filtersText({ from, to, condition }: SqlSettings['filters'], time: string | null): string {
  if (condition !== null || time === null) return '{filters}';
  const bound = (name: string, at: number | null) =>
    at === null ? [] : [`${name}(${time}, '${new Date(at).toISOString()}')`];
  const parts = [...bound('greaterOrEquals', from), ...bound('less', to)];
  return parts.length === 2 ? `and(${parts.join(', ')})` : (parts[0] ?? 'true');
}

function frameText({ frame_method: method, frame_start: start, frame_end: end }: WindowExpr): string {
  if (method === undefined || start === undefined) return '';
  const bound = ({ frame_type: type = 'CURRENT ROW', frame_value: rows }: FrameExpr) =>
    type === 'CURRENT ROW' ? type : `${rows ?? 'UNBOUNDED'} ${type}`;
  return end === undefined ? ` ${method} ${bound(start)}` : ` ${method} BETWEEN ${bound(start)} AND ${bound(end)}`;
}
