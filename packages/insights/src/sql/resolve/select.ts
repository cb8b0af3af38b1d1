// Resolves SELECT statements: first tables and joins, then columns and the other clauses.

import type { Join, Node, Select, SelectSet } from '../ast.ts';
import { columnName } from '../names.ts';
import { SqlProblem } from '../problem.ts';
import { missingTables, tables } from '../schema.ts';
import {
  columnTypes,
  type Expression,
  isAggregate,
  type JoinedRelation,
  type OrderBy,
  type OutputColumn,
  type Query,
  type SelectQuery,
  type SetQuery,
  someOf,
  type TableName,
} from '../tree.ts';
import { commonType, flag } from '../types.ts';
import { addExpansion, joinElements, resolveExpression } from './expression.ts';
import { checkGrouping } from './grouping.ts';
import { joinKind, rejectLargeCrossJoin, resolveJoinCondition } from './joins.ts';
import {
  allColumns,
  namesOf,
  type Resolution,
  type Scope,
  type Source,
  type SqlSettings,
  scopeWithin,
  type TypedProperty,
} from './scope.ts';
import { separateAggregates } from './separate-aggregates.ts';
import { storeTimeBounds } from './time-bounds.ts';
import { convert, toCondition } from './values.ts';

const maxTables = 20;
const maxDepth = 10;
export const maxRows = 50_000;

export interface ResolvedQuery {
  query: Query;
  names: string[];
  /** The properties with a definition that occur in the query. */
  typed: readonly TypedProperty[];
}

/** Resolves a query. @throws SqlProblem with the position of the first part that cannot run */
export function resolveQuery(
  node: Select | SelectSet,
  settings: SqlSettings,
  nextNumber: Resolution['nextNumber'] = counter(),
): ResolvedQuery {
  const run: Resolution = {
    settings,
    nextNumber,
    places: new WeakMap(),
    typed: [],
    expression: resolveExpression,
    query: (one, scope) => resolveAny(one, run, scope).query,
    tables: 0,
  };
  return resolveAny(node, run, null);
}

export function counter(): () => number {
  let number = 0;
  return () => number++;
}

function resolveAny(node: Select | SelectSet, run: Resolution, outer: Scope | null): ResolvedQuery {
  if ((outer?.depth ?? 0) >= maxDepth)
    throw new SqlProblem(`Subqueries can be nested at most ${maxDepth} levels deep.`, node.place);
  return node.node === 'SelectQuery' ? resolveSelect(node, run, outer) : resolveSet(node, run, outer);
}

function resolveSet(node: SelectSet, run: Resolution, outer: Scope | null): ResolvedQuery {
  const first = resolveAny(node.initial_select_query, run, outer);
  const others = node.subsequent_select_queries.map(({ select_query: query, set_operator: operator }) => {
    if (!isSetOperator(operator)) throw new SqlProblem(`${operator} is not supported.`, node.place);
    return { operator, query: resolveAny(query, run, outer).query, place: query.place };
  });
  const types = [first.query, ...others.map(({ query }) => query)].map(columnTypes);
  const width = types[0]?.length ?? 0;
  for (const [at, { place }] of others.entries())
    if (types[at + 1]?.length !== width)
      throw new SqlProblem(
        `All parts of a UNION must have the same number of columns, found ${width} and ${types[at + 1]?.length}.`,
        place,
      );
  const columns = Array.from({ length: width }, (_, at) => {
    const type = commonType(types.flatMap((one) => one[at]?.type ?? []));
    if (type === null)
      throw new SqlProblem(`Column ${at + 1} has different types in the parts of the UNION.`, node.place);
    return { column: run.nextNumber(), type };
  });
  for (const { query } of [{ query: first.query }, ...others])
    convertColumns(
      query,
      columns.map(({ type }) => type),
    );
  const query: SetQuery = { is: 'set', id: run.nextNumber(), first: first.query, others, columns, limit: null };
  return { query, names: first.names, typed: run.typed };
}

const setOperators = ['UNION ALL', 'UNION DISTINCT', 'INTERSECT', 'EXCEPT'] as const;
const isSetOperator = (one: string): one is (typeof setOperators)[number] =>
  setOperators.some((known) => known === one);

/** Converts the columns of each SELECT in a union to the types of the union. */
function convertColumns(query: Query, types: readonly Expression['type'][]): void {
  if (query.is === 'set') {
    for (const part of [query.first, ...query.others.map((other) => other.query)]) convertColumns(part, types);
    return;
  }
  for (const [at, column] of query.columns.entries()) {
    const type = types[at];
    const converted = type === undefined ? null : convert(column.value, type);
    if (converted !== null) column.value = converted;
  }
}

function resolveSelect(node: Select, run: Resolution, outer: Scope | null): ResolvedQuery {
  refuseUnsupported(node);
  const scope = scopeWithin(run, outer);
  scope.ctes = new Map(outer?.ctes);
  for (const cte of node.ctes ?? []) {
    const before = { ...scopeWithin(run, outer), ctes: new Map(scope.ctes) };
    scope.ctes = new Map([...scope.ctes, [cte.name, { node: cte.expr, scope: before }]]);
  }
  scope.windows = node.window_exprs ?? {};
  const from = resolveFrom(node, scope);
  for (const one of node.select)
    if (one.node === 'Alias') scope.aliases.set(one.alias, { node: one.expr, resolved: null, isResolving: false });
  resolveArrayJoin(node, scope);
  const columns: OutputColumn[] = [];
  const names: string[] = [];
  for (const one of node.select) {
    for (const { name, value } of selected(one, scope)) {
      if (value.type.kind === 'interval')
        throw new SqlProblem('An interval cannot be a column of the result.', one.place);
      columns.push({ column: run.nextNumber(), value });
      names.push(name);
    }
  }
  const where = whereOf(node, scope);
  if (where !== null) storeTimeBounds(from, where);
  const group = (node.group_by ?? []).flatMap((one) =>
    partsOfTuple(positional(one, columns, { ...scope, withoutAggregates: 'GROUP BY' })),
  );
  const having =
    node.having === undefined ? null : toCondition(resolveExpression(node.having, scope), node.having.place);
  const order = (node.order_by ?? []).flatMap((one): OrderBy[] =>
    sortedParts(positional(one.expr, columns, scope), node.distinct !== true).map((by) => ({
      by,
      isDescending: one.order === 'DESC',
    })),
  );
  const limitBy = limitByOf(node, columns, scope);
  const all = [
    ...columns.map(({ value }) => value),
    ...order.map(({ by }) => by),
    ...(having === null ? [] : [having]),
  ];
  const query: SelectQuery = {
    ...{ is: 'select', id: run.nextNumber(), from, expand: scope.expand, columns, isDistinct: node.distinct ?? false },
    ...{ where, group, having, order, limitBy },
    isAggregated: group.length > 0 || having !== null || all.some((one) => someOf(one, isAggregate)),
    limit: numberOf(node.limit, 'LIMIT'),
    offset: numberOf(node.offset, 'OFFSET') ?? 0,
  };
  checkGrouping(query, node, run);
  return { query: separateAggregates(query, run), names, typed: run.typed };
}

function refuseUnsupported(node: Select): void {
  if (node.group_by_mode !== undefined && node.group_by_mode !== null)
    throw new SqlProblem(`GROUP BY ${node.group_by_mode.toUpperCase()} is not supported.`, node.place);
  if (node.limit_with_ties) throw new SqlProblem('LIMIT … WITH TIES is not supported.', node.place);
}

function selected(one: Node, scope: Scope): { name: string; value: Expression }[] {
  if (one.node === 'Field' && one.chain.at(-1) === '*') {
    const alias = one.chain.length > 1 ? String(one.chain[0]) : null;
    const sources = scope.sources.filter((source) => alias === null || source.alias === alias);
    if (sources.length === 0) throw new SqlProblem(`Unable to resolve field: ${one.chain.join('.')}`, one.place);
    return sources.flatMap((source) => allColumns(source, scope, one.place));
  }
  const name = columnName(one);
  const inner = one.node === 'Alias' ? one.expr : one;
  const value = one.node === 'Alias' ? resolveName(one.alias, scope) : resolveExpression(inner, scope);
  return [{ name, value }];
}

/** Resolves an aliased column only once, so that other clauses share the expression. */
function resolveName(alias: string, scope: Scope): Expression {
  const entry = scope.aliases.get(alias);
  if (entry === undefined) throw new Error(`The alias ${alias} is missing.`);
  if (entry.resolved === null) {
    entry.isResolving = true;
    entry.resolved = resolveExpression(entry.node, scope);
    entry.isResolving = false;
  }
  return entry.resolved;
}

function whereOf(node: Select, scope: Scope): Expression | null {
  const parts = [node.prewhere, node.where].flatMap((one) => {
    if (one === undefined) return [];
    return [toCondition(resolveExpression(one, { ...scope, withoutAggregates: 'WHERE' }), one.place)];
  });
  const [only] = parts;
  return parts.length > 1 ? { is: 'all', parts, type: flag } : (only ?? null);
}

/** Resolves an expression of GROUP BY or ORDER BY. `GROUP BY 1` and `ORDER BY 2` mean columns of the SELECT list. */
function positional(node: Node, columns: readonly OutputColumn[], scope: Scope): Expression {
  if (node.node !== 'Constant' || typeof node.value !== 'number') return resolveExpression(node, scope);
  const column = columns[node.value - 1];
  if (column === undefined) throw new SqlProblem(`The SELECT list has no column ${node.value}.`, node.place);
  const aggregate = scope.withoutAggregates !== null && someOf(column.value, isAggregate);
  if (aggregate) throw new SqlProblem('GROUP BY must not contain an aggregate.', node.place);
  return column.value;
}

/** Returns the elements of a tuple, because grouping by a tuple means grouping by its elements. */
function partsOfTuple(one: Expression): readonly Expression[] {
  return one.is === 'tuple' ? one.parts.flatMap(partsOfTuple) : [one];
}

/**
 * Returns the elements of a tuple, because sorting by a tuple means sorting by its elements. Null elements sort last.
 * @param canSplit whether ORDER BY can use the elements of a tuple that is written in the query; with DISTINCT, it
 * cannot, because the elements are not selected
 */
function sortedParts(one: Expression, canSplit: boolean): readonly Expression[] {
  if (one.type.kind !== 'tuple') return [one];
  const parts = (one.type.parts ?? []).map(
    (type, at): Expression =>
      (canSplit && one.is === 'tuple' ? one.parts[at] : undefined) ?? {
        is: 'tuple part',
        tuple: one,
        index: at + 1,
        type,
      },
  );
  return parts.flatMap((part) => sortedParts(part, canSplit));
}

function numberOf(node: Node | undefined, clause: string): number | null {
  if (node === undefined) return null;
  const value = node.node === 'Constant' ? node.value : null;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new SqlProblem(`${clause} must be a whole number that is not negative.`, node.place);
  return clause === 'LIMIT' ? Math.min(value, maxRows) : value;
}

function limitByOf(node: Select, columns: readonly OutputColumn[], scope: Scope): SelectQuery['limitBy'] {
  if (node.limit_by === undefined) return null;
  const { n, offset_value: offset, exprs } = node.limit_by;
  return {
    count: numberOf(n, 'LIMIT') ?? 0,
    offset: numberOf(offset, 'OFFSET') ?? 0,
    by: exprs.map((one) => positional(one, columns, scope)),
  };
}

function resolveFrom(node: Select, scope: Scope): JoinedRelation[] {
  const from: JoinedRelation[] = [];
  let before: Join | undefined;
  for (let join = node.select_from; join !== undefined; join = join.next_join) {
    const kind = joinKind(join);
    const source = sourceOf(join, scope);
    if (kind === 'LEFT' || kind === 'FULL') source.isOuter = true;
    if (kind === 'RIGHT' || kind === 'FULL') for (const one of scope.sources) one.isOuter = true;
    const earlier = [...scope.sources];
    scope.sources.push(source);
    if (kind === 'CROSS') rejectLargeCrossJoin(join, before, node.select_from);
    before = join;
    const on = kind === null || kind === 'CROSS' ? null : resolveJoinCondition(join, { source, earlier }, scope);
    from.push({ relation: source.relation, join: kind, on });
  }
  return from;
}

function sourceOf(join: Join, scope: Scope): Source {
  const { table, alias, place } = join;
  const { run } = scope;
  if (join.table_final)
    throw new SqlProblem('The FINAL keyword is not supported in HogQL as it causes slow queries', place);
  if (join.column_aliases !== undefined)
    throw new SqlProblem('Names of columns behind a table are not supported.', place);
  if (table?.node === 'SelectQuery' || table?.node === 'SelectSetQuery')
    return subquery(table, alias ?? null, { run, outer: scope });
  if (table?.node !== 'Field') throw new SqlProblem('Expected a table or a subquery.', place);
  const name = table.chain.join('.');
  const cte = scope.ctes.get(name);
  if (cte !== undefined && (cte.node.node === 'SelectQuery' || cte.node.node === 'SelectSetQuery'))
    return subquery(cte.node, alias ?? name, { run, outer: { ...cte.scope, depth: scope.depth } });
  // A table function's name has no position of its own, so use the position of the join.
  const named = join.table_args === undefined ? table.place : place;
  const missing = missingTables.get(name);
  if (missing !== undefined) throw new SqlProblem(missing, named);
  if (!isTable(name) || join.table_args !== undefined) throw new SqlProblem(`Unknown table \`${name}\`.`, named);
  run.tables += 1;
  if (run.tables > maxTables) throw new SqlProblem(`A query can read at most ${maxTables} tables.`, place);
  const relation = { is: 'table', id: run.nextNumber(), table: name, columns: new Map() } as const;
  return { alias: alias ?? name, relation, names: new Map(), isOuter: false };
}

const isTable = (name: string): name is TableName => Object.hasOwn(tables, name);

function subquery(
  node: Select | SelectSet,
  alias: string | null,
  { run, outer }: { run: Resolution; outer: Scope },
): Source {
  const { query, names } = resolveAny(node, run, outer);
  return {
    alias,
    relation: { is: 'query', id: run.nextNumber(), query },
    names: namesOf(query, names),
    isOuter: false,
  };
}

function resolveArrayJoin(node: Select, scope: Scope): void {
  if (node.array_join_op === undefined) return;
  const relation = addExpansion(scope, node.array_join_op.startsWith('LEFT'));
  for (const one of node.array_join_list ?? []) {
    const list = resolveExpression(one.node === 'Alias' ? one.expr : one, {
      ...scope,
      withoutAggregates: 'ARRAY JOIN',
    });
    if (list.type.kind !== 'array') throw new SqlProblem('ARRAY JOIN expects an array.', one.place);
    const name = one.node === 'Alias' ? one.alias : columnName(one);
    scope.elements.set(name, joinElements(list, relation, scope));
  }
}
