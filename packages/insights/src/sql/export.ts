// Reads and runs the query of a batch export: one SELECT from `events` that names the columns of the exported rows.

import { AppError, isAppError } from '@millrace/runtime';
import type { Budget, EventStore } from '../event-store/port.ts';
import type { EventKey } from '../event-store/queries.ts';
import type { EngineName } from '../event-store/selection.ts';
import { readProjectSettings, readPropertyTypes } from '../records-store.ts';
import { type Node, nodesOf, type Select, type SelectSet } from './ast.ts';
import { columnName, listPropertyNames, printed } from './names.ts';
import { printStatement } from './print/query.ts';
import { SqlProblem } from './problem.ts';
import { resolveQuery } from './resolve/select.ts';
import type { SqlDeps } from './run.ts';
import { type Expression, isAggregate, type JoinedRelation, someOf } from './tree.ts';
import type { Kind } from './types.ts';
import { valueReader } from './values.ts';

const maxColumns = 100;
/** Maximum length of a name. PostgreSQL truncates longer names. */
const maxNameBytes = 63;

/** A checked query as it is stored with its export. */
export interface ExportQuery {
  text: string;
  /** The query with its expressions printed as function calls. */
  hogql_query: string;
  fields: { expression: string; alias: string }[];
  /** The property types when the query was saved, so that columns keep their types when definitions change. */
  propertyTypes: Record<string, string>;
  /** Whether one of the columns identifies the event. */
  hasKey: boolean;
}

export interface ExportColumn {
  name: string;
  kind: Kind;
  isKey: boolean;
}

export interface PreparedExport {
  columns: ExportColumn[];
  /** Returns a row for each given event that matches the query's WHERE, oldest first. */
  rows(events: EventStore, keys: readonly EventKey[], run: Budget): Promise<unknown[][]>;
}

type Deps = Pick<SqlDeps, 'sql' | 'parser'>;

/** Reads and checks a query from a client. @throws AppError `invalid` that names `hogql_query` */
export async function readExportQuery(
  { sql, parser }: Deps,
  { projectId, text, now }: { projectId: number; text: string; now: number },
): Promise<ExportQuery> {
  try {
    const tree = await parser.parse(text);
    const select = checkShape(tree);
    const propertyTypes = Object.fromEntries(await readPropertyTypes(sql, projectId, listPropertyNames(select)));
    const fields = select.select.map((node) => ({
      expression: printed(node.node === 'Alias' ? node.expr : node),
      alias: columnName(node),
    }));
    const where = select.where === undefined ? '' : ` WHERE ${printed(select.where)}`;
    const list = select.select.map(printed).join(', ');
    const query = { text, hogql_query: `SELECT ${list} FROM events${where}`, fields, propertyTypes };
    const { columns } = await prepareExport({ sql, parser }, { projectId, query, now });
    return { ...query, hasKey: columns.some(({ isKey }) => isKey) };
  } catch (error) {
    throw error instanceof SqlProblem || isAppError(error, 'invalid') ? refusal(error) : error;
  }
}

function refusal(error: Error) {
  const isSyntax = error instanceof SqlProblem && error.code === 'hogql_syntax_error';
  return new AppError('invalid', `${isSyntax ? 'Failed to parse query' : 'Invalid HogQL query'}: ${error.message}`, {
    code: 'invalid_input',
    attr: 'hogql_query',
    cause: error,
  });
}

/** Prepares a checked query to run. @throws SqlProblem if `readExportQuery` would reject the query now */
export async function prepareExport(
  { sql, parser }: Deps,
  { projectId, query, now }: { projectId: number; query: Pick<ExportQuery, 'text' | 'propertyTypes'>; now: number },
): Promise<PreparedExport> {
  const settings = await readProjectSettings(sql, projectId);
  const select = checkShape(await parser.parse(query.text));
  const resolve = (node: Select) =>
    resolveQuery(node, {
      projectId,
      now,
      zone: settings.timezone,
      weekStart: settings.weekStart ?? 0,
      propertyTypes: new Map(Object.entries(query.propertyTypes)),
      cohorts: [],
      filters: { from: null, to: null, condition: null },
      personsAsStored: true,
      withoutMerges: true,
    });
  const { query: resolved, names } = resolve(select);
  if (resolved.is !== 'select') throw new Error('A SELECT became a set of queries.');
  const expressions = resolved.columns.map(({ value }) => value);
  if (expressions.some((value) => someOf(value, isAggregate)))
    throw new SqlProblem('Aggregations are not supported in a batch export.', select.place);
  const readers = expressions.map(({ type }) => valueReader(type));
  const columns = expressions.map((value, at) => ({
    name: names[at] ?? '',
    kind: value.type.kind,
    isKey: isEventId(value, resolved.from[0]?.relation),
  }));
  return {
    columns,
    async rows(events, keys, run) {
      if (keys.length === 0) return [];
      const { query: ofKeys } = resolve(withKeys(select, keys));
      ofKeys.limit = keys.length;
      const print = (engine: EngineName) => printStatement(ofKeys, { engine, projectId });
      const rows = await events.rows({ projectId, print }, run);
      return rows.map((row) => readers.map((read, at) => read(row[at])));
    },
  };
}

/** Limits a query to the given events, oldest first, and keeps the query's own condition. */
function withKeys(select: Select, keys: readonly EventKey[]): Select {
  const { place } = select;
  // Columns are qualified by the table, because the query may use the name of a column as an alias for another
  // expression.
  const column = (name: string): Node => ({
    node: 'Field',
    chain: [select.select_from?.alias ?? 'events', name],
    place,
  });
  const compare = (name: string, op: string, value: string | string[]): Node => ({
    node: 'CompareOperation',
    op,
    left: column(name),
    right: { node: 'Constant', value, place },
    place,
  });
  const times = keys.map(({ timestamp }) => timestamp);
  const iso = (time: number) => new Date(time).toISOString();
  const limits = [
    compare(
      'uuid',
      'in',
      keys.map(({ uuid }) => uuid),
    ),
    // The condition on the time allows the engine to skip partitions.
    compare('timestamp', '>=', iso(Math.min(...times))),
    compare('timestamp', '<=', iso(Math.max(...times))),
  ];
  const order = (name: string) => ({ node: 'OrderExpr', expr: column(name), order: 'ASC', place }) as const;
  return {
    ...select,
    where: { node: 'And', exprs: select.where === undefined ? limits : [...limits, select.where], place },
    order_by: [order('timestamp'), order('uuid')],
  };
}

/** @throws SqlProblem unless the query selects only columns of events, with an optional condition */
function checkShape(tree: Select | SelectSet): Select {
  if (tree.node === 'SelectSetQuery') throw new SqlProblem('UNIONs are not supported', tree.place);
  const { select_from: from } = tree;
  if (from === undefined) throw new SqlProblem('Query must SELECT FROM events', tree.place);
  if (from.next_join !== undefined) throw new SqlProblem('JOINs are not supported', from.next_join.place);
  if (from.table?.node !== 'Field' || from.table.chain.join('.') !== 'events')
    throw new SqlProblem('Query must only SELECT FROM events', from.place);
  const known = ['node', 'place', 'select', 'select_from', 'where'];
  const clause = Object.keys(tree).find((key) => !known.includes(key));
  if (clause !== undefined)
    throw new SqlProblem(`Unsupported HogQL query: ${clause.replaceAll('_', ' ').toUpperCase()}`, tree.place);
  for (const one of nodesOf([tree.select, tree.where ?? []])) {
    const node = one as unknown as Node;
    const unsupported = unsupportedName(node);
    if (unsupported !== null) throw new SqlProblem(`Unsupported HogQL query: ${unsupported}`, node.place);
  }
  checkNames(tree);
  return tree;
}

function unsupportedName(node: Node): string | null {
  switch (node.node) {
    case 'SelectQuery':
    case 'SelectSetQuery':
      return 'subqueries';
    case 'WindowFunction':
      return 'window functions';
    case 'Placeholder':
      return 'placeholders';
    case 'CompareOperation':
      return node.op.includes('cohort') ? 'cohorts' : null;
    case 'Call':
      return node.name.toLowerCase() === 'arrayjoin' ? 'arrayJoin' : null;
    default:
      return null;
  }
}

function checkNames({ select, place }: Select): void {
  if (select.length > maxColumns) throw new SqlProblem(`A batch export can have at most ${maxColumns} columns.`, place);
  const names = new Set<string>();
  for (const [at, node] of select.entries()) {
    const isNamed =
      node.node === 'Alias' || (node.node === 'Field' && node.chain.length === 1 && node.chain[0] !== '*');
    if (!isNamed)
      throw new SqlProblem(`Column ${at + 1} needs a name. Write \`${printed(node)} AS name\`.`, node.place);
    const name = columnName(node);
    if (name === '' || Buffer.byteLength(name) > maxNameBytes || name.includes('\0'))
      throw new SqlProblem(`The name of column ${at + 1} must have 1 to ${maxNameBytes} bytes.`, node.place);
    if (names.has(name)) throw new SqlProblem(`Two columns have the name '${name}'.`, node.place);
    names.add(name);
  }
}

/** Returns true if an expression is `uuid` or `toString(uuid)`. */
function isEventId(value: Expression, relation: JoinedRelation['relation'] | undefined): boolean {
  if (value.is === 'call' && value.name.toLowerCase() === 'tostring')
    return isEventId(value.args[0] ?? value, relation);
  if (value.is === 'cast') return isEventId(value.value, relation);
  const column = value.is === 'column' && relation?.is === 'table' ? relation.columns.get(value.column) : undefined;
  return column?.of === 'column' && column.name === 'uuid';
}
