// Checks SQL for editors, without running it.

import { isAppError } from '@millrace/runtime';
import { estimateEvents } from '../records-store.ts';
import { type Field, type Join, type Node, nodesOf, type Select, type SelectSet } from './ast.ts';
import { extractExpression } from './expressions.ts';
import { readsAllEvents } from './hints.ts';
import { type Place, SqlProblem } from './problem.ts';
import type { TypedProperty } from './resolve/scope.ts';
import { type PreparedSql, prepareSql, type SqlDeps, type SqlRequest } from './run.ts';

export interface SqlMetadata {
  isValid: boolean;
  query: string;
  /** Positions are offsets in characters. A problem that concerns the entire query has no position. */
  errors: { message: string; start?: number; end?: number }[];
  /** Constructs in a query that have no effect. */
  warnings: { message: string; start?: number; end?: number }[];
  /** Hints about a query that can run. */
  notices: { message: string; start?: number; end?: number; property?: string }[];
  table_names: string[];
}

type Deps = Pick<SqlDeps, 'sql' | 'parser'>;

/** Checks whether a query can run, and returns its first problem. */
export const checkSql = (deps: Deps, request: SqlRequest): Promise<SqlMetadata> =>
  checked(deps, request.text, () => prepareSql(deps, request));

/** The source of an expression: the rows of a query, or a table that insights read. */
export type ExpressionSource = { query: SqlRequest } | { table: 'events' | 'persons' };

/** Checks whether an expression can be a column of its source, and returns its first problem. */
export async function checkSqlExpression(
  deps: Deps,
  request: SqlRequest,
  source: ExpressionSource,
): Promise<SqlMetadata> {
  return checked(deps, request.text, async () => {
    const node = await deps.parser.parseExpression(request.text);
    if ('query' in source) {
      const prepared = await prepareSql(deps, source.query, withColumn(await sourceTree(deps, source.query), node));
      // Omit the property types, because most properties are in the source and not in the expression.
      return { ...prepared, resolved: { ...prepared.resolved, typed: [] } };
    }
    const { table } = source;
    const { place } = node;
    const from: Join = { node: 'JoinExpr', table: { node: 'Field', chain: [table], place }, place };
    const prepared = await prepareSql(deps, request, { node: 'SelectQuery', select: [node], select_from: from, place });
    extractExpression(prepared.resolved.query, { table, node });
    return prepared;
  });
}

/**
 * Parses the source of an expression, and checks that it can run. Errors contain no positions, because these would
 * refer to the source and not to the expression.
 */
async function sourceTree(deps: Deps, request: SqlRequest): Promise<Select> {
  const refusal = (problem: Error) => new SqlProblem(`sourceQuery: ${problem.message}`, null);
  const { tree } = await prepareSql(deps, request).catch((error: unknown) => {
    throw error instanceof SqlProblem || isAppError(error, 'invalid') ? refusal(error) : error;
  });
  if (tree.node === 'SelectSetQuery') throw refusal(new Error('Expected a SELECT without UNION.'));
  return tree;
}

const withColumn = (select: Select, node: Node): Select => ({ ...select, select: [...select.select, node] });

async function checked(deps: Deps, query: string, prepare: () => Promise<PreparedSql>): Promise<SqlMetadata> {
  const found = { query, notices: [] };
  try {
    const { tree, resolved } = await prepare();
    const isSlow = readsAllEvents(resolved.query) && (await estimateEvents(deps.sql)) > manyEvents;
    const notices = [...(isSlow ? [unboundedNotice(tree)] : []), ...typeNotices(resolved.typed)];
    const warnings = sampleWarnings(tree);
    return { ...found, isValid: true, errors: [], warnings, notices, table_names: tablesIn(tree) };
  } catch (error) {
    if (!(error instanceof SqlProblem)) throw error;
    return {
      ...found,
      isValid: false,
      errors: [{ message: error.message, ...error.place }],
      warnings: [],
      table_names: [],
    };
  }
}

/** Returns a notice for each property's type. A query in WITH is resolved at each use, so properties can repeat. */
function typeNotices(typed: readonly TypedProperty[]): SqlMetadata['notices'] {
  const nameOf = (definition: string) => (definition === 'Numeric' ? 'Float' : definition);
  const byPlace = new Map(typed.map((one) => [one.place.start, one]));
  return [...byPlace.values()]
    .sort((a, b) => a.place.start - b.place.start)
    .map(({ of, key, definition, place }) => ({
      message: `${of.charAt(0).toUpperCase()}${of.slice(1)} property '${key}' is of type '${nameOf(definition)}'.`,
      ...place,
      property: key,
    }));
}

function sampleWarnings(tree: Select | SelectSet): SqlMetadata['warnings'] {
  const message = 'SAMPLE has no effect, because every query reads all events.';
  return [...nodesOf(tree)].flatMap(({ node, place }) =>
    node === 'SampleExpr' ? [{ message, ...(place as Place) }] : [],
  );
}

/** Reading all events is fast if at most this many events are stored. */
const manyEvents = 5_000_000;

function unboundedNotice(tree: Select | SelectSet): SqlMetadata['notices'][number] {
  const timeOf = new Map<unknown, string>([
    ['events', 'timestamp'],
    ['sessions', '$start_timestamp'],
  ]);
  const tables = [...nodesOf(tree)].flatMap(({ table }) => (isField(table) ? [table] : []));
  const table = tables.find(({ chain: [name] }) => timeOf.has(name));
  const time = timeOf.get(table?.chain[0]) ?? 'timestamp';
  const message = `This query reads all events, because it has no lower bound for ${time}. It is faster with a condition such as ${time} >= now() - INTERVAL 30 DAY.`;
  return { message, ...table?.place };
}

/** Returns the names after FROM and JOIN, including the names that WITH defines. */
function tablesIn(tree: Select | SelectSet): string[] {
  const tables = [...nodesOf(tree)].flatMap(({ node, table }) =>
    node === 'JoinExpr' && isField(table) ? [table.chain.join('.')] : [],
  );
  return [...new Set(tables)];
}

const isField = (node: unknown): node is Field =>
  typeof node === 'object' && node !== null && 'node' in node && node.node === 'Field';
