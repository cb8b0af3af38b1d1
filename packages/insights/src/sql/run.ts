// Runs an SQL query: parses it, replaces placeholders, resolves it, prints it for the engine, runs it and converts the
// result.

import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import type { Budget, EventStore } from '../event-store/port.ts';
import type { EngineName } from '../event-store/selection.ts';
import { type FilterContext, readFilters } from '../plan/conditions.ts';
import {
  combineConditions,
  createPlanContext,
  type Modifiers,
  type PlanContext,
  type ProjectSettings,
} from '../plan/context.ts';
import { parseMoment } from '../plan/dates.ts';
import { createQueryError } from '../query-parts.ts';
import { readPropertyTypes } from '../records-store.ts';
import type { Select, SelectSet } from './ast.ts';
import { withExpressions } from './expressions.ts';
import { printQuery } from './hogql.ts';
import { listPropertyNames } from './names.ts';
import type { SqlParser } from './parse.ts';
import { substitute } from './placeholders.ts';
import { pageStatement } from './print/pages.ts';
import { printStatement } from './print/query.ts';
import { placeText, SqlProblem } from './problem.ts';
import { maxRows, type ResolvedQuery, resolveQuery } from './resolve/select.ts';
import { sqlSettingsOf } from './settings.ts';
import { columnTypes } from './tree.ts';
import { typeName } from './types.ts';
import { valueReader } from './values.ts';

/** Maximum number of rows of a query without LIMIT, unless the request contains another maximum. */
const usualRows = 100;

export interface SqlDeps {
  /** The database with settings, cohorts and property definitions. */
  sql: Sql;
  events: EventStore;
  parser: SqlParser;
}

/** A query of the kind `HogQLQuery`, with the settings and values that it needs. */
export interface SqlRequest {
  projectId: number;
  settings: ProjectSettings;
  text: string;
  /** Values of placeholders such as `{name}`. */
  values?: Readonly<Record<string, unknown>>;
  /** Values of `{variables.name}`, by the code name of the variable. */
  variables?: Readonly<Record<string, unknown>>;
  /** Code names of variables that the query uses but the project does not have. */
  unknownVariables?: readonly string[];
  filters?: {
    dateRange?: { date_from?: string | null; date_to?: string | null };
    properties?: unknown;
    filterTestAccounts?: boolean | null;
  };
  modifiers?: Modifiers;
  /** The current time, in milliseconds since 1970. */
  now: number;
  /** Maximum number of rows of a query without LIMIT. */
  rows?: number;
}

export interface SqlResult {
  results: unknown[][];
  /** The text of the query as the client sent it. */
  query: string;
  columns: string[];
  types: [string, string][];
  /** The text of the query with its placeholders replaced. */
  hogql: string;
  timezone: string;
  hasMore?: boolean;
  limit?: number;
  offset?: number;
}

/**
 * Runs a query.
 * @throws AppError `invalid` with a `hogql_…` code if the query is wrong; OverBudget if it exceeds its budget
 */
export async function runSql(deps: SqlDeps, request: SqlRequest, run: Budget): Promise<SqlResult> {
  try {
    const { resolved, hogql, timezone } = await prepareSql(deps, request);
    const { query, names } = resolved;
    const rowLimit = Math.min(request.rows ?? usualRows, maxRows);
    const isUnlimited = query.limit === null;
    if (isUnlimited) query.limit = query.is === 'select' ? rowLimit + 1 : rowLimit;
    const types = columnTypes(query).map(({ type }) => type);
    const { projectId } = request;
    const page = pageStatement(query, projectId);
    const print = (engine: EngineName) => printStatement(query, { engine, projectId });
    const statement = { projectId, print, ...(page && { page }) };
    const rows = await deps.events.rows(statement, run).catch(rethrowEngineError);
    const readers = types.map(valueReader);
    const shown = isUnlimited ? rows.slice(0, rowLimit) : rows;
    return {
      results: shown.map((row) => readers.map((read, at) => read(row[at]))),
      query: request.text,
      columns: names,
      types: names.map((name, at) => [name, typeName(types[at] ?? { kind: 'nothing', isNullable: true })]),
      hogql,
      timezone,
      ...(isUnlimited &&
        query.is === 'select' && { hasMore: rows.length > rowLimit, limit: rowLimit, offset: query.offset }),
    };
  } catch (error) {
    throw error instanceof SqlProblem ? asAppError(error) : error;
  }
}

/** A query that has been checked and can run. */
export interface PreparedSql {
  /** The syntax tree before it is resolved. */
  tree: Select | SelectSet;
  resolved: ResolvedQuery;
  hogql: string;
  timezone: string;
}

/**
 * Parses and resolves a query without running it.
 * @param parsed the syntax tree to use instead of parsing the text
 * @throws SqlProblem if the query cannot run
 */
export async function prepareSql(
  { sql, parser }: Pick<SqlDeps, 'sql' | 'parser'>,
  request: SqlRequest,
  parsed?: Select | SelectSet,
): Promise<PreparedSql> {
  const tree = parsed ?? (await parser.parse(request.text));
  const { projectId, settings, values = {}, variables = {}, unknownVariables = [], filters = {} } = request;
  const planned = createPlanContext(request, {
    settings,
    now: request.now,
    earliest: null,
    booleans: new Set(),
  });
  const conditionsOf = (filtering: PlanContext) => [
    ...(filters.properties === undefined ? [] : [readFilters(filters.properties, 'filters.properties', filtering)]),
    ...(filters.filterTestAccounts
      ? [readFilters(settings.testAccountFilters, 'test_account_filters', filtering)]
      : []),
  ];
  const context = await withExpressions({ sql, parser }, planned, conditionsOf);
  const from = boundOf(filters.dateRange?.date_from, 'date_from', context);
  const to = boundOf(filters.dateRange?.date_to, 'date_to', context);
  const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString());
  const complete = substitute(tree, {
    values,
    variables,
    unknownVariables,
    dateRange: { from: iso(from), to: iso(to) },
  });
  const conditions = conditionsOf(context);
  const inFilters = { from, to, condition: conditions.length === 0 ? null : combineConditions(...conditions) };
  const sqlSettings = sqlSettingsOf(context, {
    propertyTypes: await readPropertyTypes(sql, projectId, listPropertyNames(complete)),
    filters: inFilters,
  });
  const resolved = resolveQuery(complete, sqlSettings);
  return { tree, resolved, hogql: printQuery(complete, inFilters), timezone: settings.timezone };
}

/**
 * Checks a query before it is stored.
 * @throws AppError `invalid` with the position of the first problem
 */
export async function requireSql(deps: Pick<SqlDeps, 'sql' | 'parser'>, request: SqlRequest): Promise<void> {
  try {
    await prepareSql(deps, request);
  } catch (error) {
    throw error instanceof SqlProblem ? asAppError(error, placeText(request.text, error.place)) : error;
  }
}

function boundOf(text: string | null | undefined, name: string, { clock }: FilterContext): number | null {
  if (text === null || text === undefined || text === 'all') return null;
  const moment = parseMoment(text, clock);
  if (moment === null) throw createQueryError(`filters.dateRange.${name}`, `'${text}' is not a date.`);
  return moment.instant;
}

function asAppError(problem: SqlProblem, place = ''): AppError {
  return new AppError('invalid', `${problem.message}${place}`, { code: problem.code, attr: 'query', cause: problem });
}

/**
 * PostgreSQL's and ClickHouse's error codes for invalid values, with the messages that clients receive instead of the
 * engines' messages.
 */
const engineProblems: Record<string, string> = {
  '22012': 'Division by zero.',
  '153': 'Division by zero.',
  '22003': 'A number is out of range.',
  '22008': 'A time is out of range.',
  '54000': 'A text or a list is too long.',
  '131': 'A text or a list is too long.',
  '22025': 'A pattern of LIKE must not end with a backslash.',
  '25': 'A pattern of LIKE must not end with a backslash.',
  '2201B': 'The regular expression is not valid.',
  '427': 'The regular expression is not valid.',
  '2202E': 'The lists of a function or of ARRAY JOIN have different lengths.',
  '190': 'The lists of a function or of ARRAY JOIN have different lengths.',
};

/**
 * Rethrows an error of an engine.
 * @throws AppError `invalid` if a value in the query is not valid for the computation.
 */
export function rethrowEngineError(error: unknown): never {
  const codes = [error, error instanceof Error ? error.cause : null].map((one) =>
    typeof one === 'object' && one !== null && 'code' in one ? String(one.code) : '',
  );
  const problem = codes.map((code) => engineProblems[code]).find((found) => found !== undefined);
  if (problem === undefined) throw error;
  throw asAppError(new SqlProblem(problem, null));
}
