// Validates the insight fields that clients can set.

import { isObject } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import {
  checkQuery as checkRunnable,
  findSource,
  findVisualizationProblem,
  parseAhead,
  parseExpressionsAhead,
  queryKinds as runnableKinds,
  type SqlParser,
} from '@millrace/insights';
import { AppError } from '@millrace/runtime';
import type { Static } from 'typebox';
import type { insightChanges } from './schema.ts';
import type { InsightFields } from './store.ts';

export type InsightChanges = Static<typeof insightChanges>;

export function fillInsightDefaults(body: InsightChanges): InsightFields {
  const defaults = {
    name: null,
    derived_name: null,
    description: null,
    query: null,
    order: null,
    deleted: false,
    tags: [],
    favorited: false,
    saved: false,
  };
  if (body.query === undefined) throw refusal('query', '`query` is required.', 'required');
  return applyInsightChanges(defaults, { saved: false, ...body });
}

/**
 * Applies the given fields, and keeps all others. Any change marks the insight as saved.
 * @throws AppError `invalid` naming the field
 */
export function applyInsightChanges(
  fields: InsightFields,
  { filters, dashboards: _, ...changes }: InsightChanges,
): InsightFields {
  if (filters !== undefined && filters !== null && !(isObject(filters) && Object.keys(filters).length === 0)) {
    throw refusal(
      'filters',
      'Insights defined by `filters`, the older format, are not supported. Send `query` instead.',
    );
  }
  if (changes.query === null) throw refusal('query', '`query` must not be null.', 'null');
  if (changes.query !== undefined) requireKnownKind(changes.query);
  return { ...fields, saved: true, ...changes };
}

const chartKinds: readonly string[] = [
  'TrendsQuery',
  'FunnelsQuery',
  'RetentionQuery',
  'LifecycleQuery',
  'StickinessQuery',
  'PathsQuery',
];
const tableKinds: readonly string[] = ['EventsQuery', 'ActorsQuery'];

/** The query kinds for each value of the parameter `insight`. */
export const kindsByName: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...chartKinds.map((kind) => [kind.replace('Query', '').toUpperCase(), [kind]] as const),
  ['JSON', tableKinds],
  ['SQL', ['HogQLQuery']],
]);

/** The wrapper queries, and the kinds of queries that each can contain. */
const wrappers: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['InsightVizNode', chartKinds],
  ['DataTableNode', [...chartKinds, ...tableKinds, 'HogQLQuery']],
  ['DataVisualizationNode', ['HogQLQuery']],
]);
const queryKinds = [...chartKinds, ...tableKinds, 'HogQLQuery'];

const maxKiB = 128;

/** Checks the size of a value that is stored unchanged. @throws AppError `invalid` if it is too large */
export function requireMaxSize(value: unknown, attr: string, what: string): void {
  if (Buffer.byteLength(JSON.stringify(value)) <= maxKiB * 1024) return;
  throw refusal(attr, `${what} must not exceed ${maxKiB} KiB.`, 'max_length');
}

/** Rejects a query that is too large or whose kind insights cannot run. @throws AppError `invalid` */
function requireKnownKind(query: Record<string, unknown>): void {
  requireMaxSize(query, 'query', '`query`');
  const inner = wrappers.get(query.kind);
  if (inner === undefined) {
    requireKind(query, { attr: 'query', kinds: queryKinds });
    return;
  }
  if (!isObject(query.source)) {
    throw refusal(
      'query__source',
      `\`query.source\` is required if \`query.kind\` is '${query.kind}'. It contains the query to run.`,
    );
  }
  requireKind(query.source, { attr: 'query__source', kinds: inner });
  if (query.kind !== 'DataVisualizationNode') return;
  const problem = findVisualizationProblem(query);
  if (problem !== null) throw refusal('query', `${problem.path}: ${problem.detail}`);
}

/**
 * Rejects a query that can never run, because a known field has an impossible value or a cohort does not exist. Does
 * not read events. Accepts unknown fields, because a newer client may have written them.
 * @throws AppError `invalid` naming the invalid field
 */
export async function requireRunnable(
  { sql, parser }: { sql: Sql; parser: SqlParser },
  projectId: number,
  query: Record<string, unknown>,
): Promise<void> {
  const source = wrappers.has(query.kind) ? query.source : query;
  if (!isObject(source) || !Object.hasOwn(runnableKinds, String(source.kind))) return;
  await checkRunnable({ sql, parser }, { projectId, query: source, now: Date.now() });
}

/** Parses a query's SQL in advance, so that the transaction that validates it does not wait for the parser. */
export async function parseSqlAhead(parser: SqlParser, query: unknown): Promise<void> {
  const source = findSource(query);
  if (source?.kind === 'HogQLQuery') await parseAhead(parser, source.query);
  else await parseExpressionsAhead(parser, source);
}

function requireKind(
  { kind }: Record<string, unknown>,
  { attr, kinds }: { attr: string; kinds: readonly string[] },
): void {
  if (typeof kind === 'string' && kinds.includes(kind)) return;
  const known = kinds.join(', ');
  throw kind === undefined || kind === null
    ? refusal(`${attr}__kind`, `This field is required. Choose one of: ${known}.`, 'required')
    : refusal(`${attr}__kind`, `This kind of query is not supported. Choose one of: ${known}.`, 'invalid_choice');
}

export function refusal(attr: string, detail: string, code = 'invalid_input'): AppError {
  return new AppError('invalid', detail, { code, attr });
}
