// SQL expressions within other queries: filters, breakdowns, measures and columns. A query with expressions is planned
// twice: the first plan finds its expressions, and the second one uses them after they are parsed and the types of
// their properties are known.

import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import type { PlanContext } from '../plan/context.ts';
import type { ExpressionUse, PlannedExpression, ReadExpression } from '../plan/expressions.ts';
import { createQueryError, isRecord } from '../query-parts.ts';
import { readPropertyTypes } from '../records-store.ts';
import { type Node, nodesOf, type Select } from './ast.ts';
import { listPropertyNames, printed } from './names.ts';
import type { SqlParser } from './parse.ts';
import { eventExpression } from './print/event-expression.ts';
import { type Place, placeText, SqlProblem } from './problem.ts';
import type { SqlSettings } from './resolve/scope.ts';
import { counter, resolveQuery } from './resolve/select.ts';
import { convert, toCondition } from './resolve/values.ts';
import { sqlSettingsOf } from './settings.ts';
import { type Expression, type Query, someOf, type TableRelation } from './tree.ts';
import { describe, float, nullable, text as textType, typeName } from './types.ts';
import { valueReader } from './values.ts';

const maxExpressions = 100;
const maxCharacters = 65_536;

interface Deps {
  sql: Sql;
  parser?: SqlParser;
  /** Whether error messages contain the line and column of the problem in the expression. */
  namesPlaces?: boolean;
}

/**
 * Parses the SQL expressions in a query, and adds a function to the context that returns each expression in parsed
 * form. Returns the context unchanged if the query contains no expressions.
 * @param plan a function that plans the query with a context
 * @throws the errors of `plan`, and AppError if the expressions cannot be parsed now
 */
export async function withExpressions(
  { sql, parser, namesPlaces = false }: Deps,
  context: PlanContext,
  plan: (context: PlanContext) => unknown,
): Promise<PlanContext> {
  const texts = new Set<string>();
  let characters = 0;
  plan({
    ...context,
    expression(text, _, path) {
      if (parser === undefined) throw createQueryError(path, 'SQL expressions cannot run here.');
      if (!texts.has(text)) characters += text.length;
      texts.add(text);
      if (texts.size > maxExpressions)
        throw createQueryError(path, `A query can contain at most ${maxExpressions} SQL expressions.`);
      if (characters > maxCharacters)
        throw createQueryError(
          path,
          `The SQL expressions of a query can have at most ${maxCharacters} characters in total.`,
        );
      return uncheckedExpression(text);
    },
  });
  if (texts.size === 0 || parser === undefined) return context;
  const trees = new Map<string, Node | SqlProblem>();
  for (const text of texts) trees.set(text, await parser.parseExpression(text).catch(asProblem));
  const parsed = [...trees.values()].filter((tree) => !(tree instanceof SqlProblem));
  const propertyTypes = await readPropertyTypes(sql, context.settings.projectId, listPropertyNames(parsed));
  const settings = sqlSettingsOf(context, { propertyTypes, filters: { from: null, to: null, condition: null } });
  return { ...context, expression: readerOf(trees, settings, namesPlaces) };
}

/** Parses the expressions in a query or in filters before a transaction checks them (see `parseAhead`). */
export async function parseExpressionsAhead(parser: SqlParser, sent: unknown): Promise<void> {
  const texts = [...new Set(expressionsIn(sent))].slice(0, maxExpressions);
  for (const text of texts) if (text.length <= maxCharacters) await parser.parseExpression(text).catch(() => {});
}

function expressionsIn(sent: unknown): string[] {
  if (Array.isArray(sent)) return sent.flatMap(expressionsIn);
  if (!isRecord(sent)) return [];
  const { type, breakdown_type: breakdownType, breakdown, key, property, math_hogql: math } = sent;
  const own = [math, ...(type === 'hogql' ? [key, property] : []), ...(breakdownType === 'hogql' ? [breakdown] : [])];
  const columns = [sent.select, sent.where, sent.orderBy];
  return [
    ...[...own, ...columns].flat().filter((one) => typeof one === 'string'),
    ...Object.values(sent).flatMap(expressionsIn),
  ];
}

function asProblem(error: unknown): SqlProblem {
  if (error instanceof SqlProblem) return error;
  throw error;
}

/** Returns a substitute for an expression in a query that is planned but not run. */
function uncheckedExpression(text: string): PlannedExpression {
  const unusable = () => {
    throw new Error('The expression was not checked.');
  };
  return {
    key: text,
    isAggregate: false,
    isShownAsText: true,
    reads: [],
    columns: unusable,
    print: unusable,
    isUnchecked: true,
    typeName: 'String',
    alias: null,
    read: unusable,
  };
}

function readerOf(
  trees: ReadonlyMap<string, Node | SqlProblem>,
  settings: SqlSettings,
  namesPlaces: boolean,
): ReadExpression {
  const known = new Map<string, PlannedExpression>();
  const nextNumber = counter();
  return (text, use, path, table = 'events') => {
    const key = `${table} ${use} ${text}`;
    try {
      const tree = trees.get(text);
      if (tree === undefined) throw new Error('The expression was not parsed.');
      if (tree instanceof SqlProblem) throw tree;
      const found = known.get(key) ?? planned(tree, use, { settings, nextNumber, text, table });
      known.set(key, found);
      return found;
    } catch (error) {
      if (!(error instanceof SqlProblem)) throw error;
      const place = namesPlaces ? placeText(text, error.place) : '';
      throw new AppError('invalid', `${path}: ${error.message}${place}`, {
        code: error.code,
        attr: 'query',
        cause: error,
      });
    }
  };
}

interface Planning {
  settings: SqlSettings;
  nextNumber: () => number;
  text: string;
  table: 'events' | 'persons';
}

function planned(tree: Node, use: ExpressionUse, planning: Planning): PlannedExpression {
  const { settings, text, table } = planning;
  const alias = tree.node === 'Alias' ? tree.alias : null;
  const node = tree.node === 'Alias' ? tree.expr : tree;
  const { place } = node;
  if (alias !== null && use !== 'column') throw new SqlProblem('An alias is not supported here.', place);
  const { value, relation, isAggregate } = resolveOver(node, planning);
  if (isAggregate && table === 'persons') throw new SqlProblem('Aggregations are not supported here.', place);
  const found = valueFor(use, value, { place, isAggregate });
  // If the actor has no person record, the columns of `persons` are null.
  const mayBeNull = use === 'condition' && table === 'persons';
  const used = mayBeNull ? toCondition({ ...found, type: nullable(found.type) }, place) : found;
  return {
    ...eventExpression({
      // The printed form of an expression omits its subqueries, so use the text of the query instead.
      key: hasSubquery(node) ? textAt(text, place) : printed(node),
      value: used,
      relation,
      isAggregate,
      projectId: settings.projectId,
      mustBeFinite: use === 'number',
    }),
    alias,
    typeName: typeName(used.type),
    read: valueReader(used.type),
  };
}

const hasSubquery = (node: Node) => [...nodesOf(node)].some((one) => String(one.node).startsWith('Select'));
const textAt = (text: string, { start, end }: Place) => Array.from(text).slice(start, end).join('');

function resolveOver(
  node: Node,
  { settings, nextNumber, table }: Planning,
): { value: Expression; relation: TableRelation; isAggregate: boolean } {
  const { place } = node;
  const select: Select = {
    node: 'SelectQuery',
    select: [node],
    select_from: { node: 'JoinExpr', table: { node: 'Field', chain: [table], place }, place },
    place,
  };
  const { query } = resolveQuery(select, settings, nextNumber);
  return extractExpression(query, { table, node });
}

/**
 * Returns the expression of a SELECT that has exactly one column and reads a table that insights can read.
 * @throws SqlProblem for anything else
 */
export function extractExpression(
  query: Query,
  { table, node: { place, ...node } }: { table: 'events' | 'persons'; node: Node },
): { value: Expression; relation: TableRelation; isAggregate: boolean } {
  if (node.node === 'Field' && node.chain.at(-1) === '*')
    throw new SqlProblem('Columns must be listed by name here.', place);
  const [column] = query.is === 'select' ? query.columns : [];
  const relation = query.is === 'select' ? query.from[0]?.relation : undefined;
  if (query.is !== 'select' || column === undefined || relation?.is !== 'table')
    throw new Error('An expression did not become a column of its table.');
  const reads = (test: (name: string) => boolean) =>
    [...relation.columns.values()].some((one) => one.of === 'column' && test(one.name));
  if (table === 'persons' && reads((name) => name === 'distinct_id' || name === 'pdi.person_id'))
    throw new SqlProblem('Distinct IDs are not supported here.', place);
  if (reads((name) => name.startsWith('session.')))
    throw new SqlProblem('Columns of the session are not supported here. Use an SQL query.', place);
  if (query.expand.length > 0) throw new SqlProblem('arrayJoin is not supported here.', place);
  if (someOf(column.value, ({ is }) => is === 'window'))
    throw new SqlProblem('Window functions are not supported here.', place);
  return { value: column.value, relation, isAggregate: query.isAggregated };
}

/** Checks whether an expression is valid for its use, and converts it. */
function valueFor(
  use: ExpressionUse,
  value: Expression,
  { place, isAggregate }: { place: Place; isAggregate: boolean },
): Expression {
  if (isAggregate && (use === 'condition' || use === 'value'))
    throw new SqlProblem('Aggregations are not supported here. Use an expression over a single event.', place);
  const { kind, isNullable } = value.type;
  const isSimple = kind !== 'array' && kind !== 'tuple' && kind !== 'json' && kind !== 'nothing';
  switch (use) {
    case 'condition':
      return toCondition(value, place);
    case 'value':
      if (!isSimple)
        throw new SqlProblem(`Expected a text, a number, a time or a condition, found ${describe(value.type)}.`, place);
      return kind === 'text' ? value : { is: 'cast', value, type: nullable(textType, isNullable) };
    case 'number': {
      if (!isAggregate)
        throw new SqlProblem('Expected an expression with an aggregation, such as sum(properties.amount).', place);
      const number = kind === 'text' ? null : convert(value, float);
      if (number === null) throw new SqlProblem(`Expected a number, found ${describe(value.type)}.`, place);
      return number;
    }
    case 'order':
      if (!isSimple) throw new SqlProblem(`Results cannot be ordered by ${describe(value.type)}.`, place);
      return value;
    case 'column':
      return value;
    default:
      return use satisfies never;
  }
}
