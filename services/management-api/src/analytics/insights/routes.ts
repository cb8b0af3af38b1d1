import type { Database, Sql } from '@millrace/db';
import { type ApiRequest, offsetPage, offsetPageSchema } from '@millrace/http';
import { mergeVariables, type SqlParser } from '@millrace/insights';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { requireReferencedRecords } from '../../access/named-records.ts';
import { requireRecord } from '../../access/record-rights.ts';
import { requireScope } from '../../access/require-scope.ts';
import { activityExample, activityPage, activityQuery, readActivity } from '../../activity/activity-page.ts';
import { parseIds } from '../../sql/listed-values.ts';
import { csvDeclaration, toCsvContent } from '../query/csv.ts';
import type { QueryCaller, QueryRunner } from '../query/query-runner.ts';
import { insightConditions, listInsightsQuery, toInsightOrder } from './list-query.ts';
import {
  applyOverrides,
  type InsightResult,
  noResult,
  overrideQuery,
  readOverrides,
  readRefresh,
  refreshQuery,
  runInsight,
  runInsightWithStatus,
} from './result.ts';
import { parseSqlAhead } from './rules.ts';
import {
  insight,
  insightChanges,
  insightExample,
  insightParams,
  insightsPath,
  newInsightExample,
  insightTags as tags,
} from './schema.ts';
import { toBasicInsight, toInsight } from './show.ts';
import { type InsightRow, listInsights, readTileOverrides } from './store.ts';
import { viewedRoutes } from './viewed.ts';
import { changeInsight, createInsight, requireInsight } from './write.ts';

/** Declares the routes for insights, which are saved queries (docs/api/insights.md). */
export function insightRoutes(
  deps: Pick<Database, 'sql' | 'transaction'> & { queryRunner: QueryRunner; parser: SqlParser },
) {
  // Paths that end in a word must come before paths that end in an ID, which would match the word too.
  return [...activityRoutes(deps), ...viewedRoutes(deps), ...readRoutes(deps), ...insightWriteRoutes(deps)];
}

/**
 * Former insight types. In place of an insight ID, older clients send one of these types, with the query in the URL.
 */
const formerTypes = new Set(['trend', 'funnel', 'retention', 'path']);

const shownQuery = Type.Object({
  format: Type.Optional(
    Type.String({ description: '`csv` returns the result as a CSV file. Any other value returns JSON.' }),
  ),
  refresh: refreshQuery,
  from_dashboard: Type.Optional(
    Type.String({
      description: "ID of a dashboard that contains the insight. The dashboard's filters are applied.",
    }),
  ),
  ...overrideQuery,
});

function readRoutes({ sql, queryRunner }: Pick<Database, 'sql'> & { queryRunner: QueryRunner }) {
  const below = environmentBasePaths(sql);
  return [
    ...defineRoutes({
      method: 'GET',
      below,
      path: insightsPath,
      operationId: 'insights_list',
      summary: 'List insights',
      description: 'Returns the insights of the project. Deleted insights are left out.',
      tags,
      scope: 'insight:read',
      query: listInsightsQuery,
      responses: { 200: { description: 'One page of insights.', schema: offsetPageSchema(insight) } },
      examples: { response: { count: 1, next: null, previous: null, results: [insightExample] } },
      handler: async ({ caller, target, query, request }) => {
        const editor = { ...target, userId: caller.userId };
        return offsetPage(request, query, async (window) => {
          const where = insightConditions(target, caller, query);
          const { count, rows } = await listInsights(sql, where, { ...window, order: toInsightOrder(query.order) });
          if (query.basic) return { count, results: rows.map((row) => toBasicInsight(row, editor)) };
          const cached =
            query.refresh === undefined ? [] : await readCached(queryRunner, { caller, target }, rows, request);
          return { count, results: rows.map((row, at) => toInsight(row, editor, cached[at])) };
        });
      },
    }),
    ...defineRoutes({
      method: 'POST',
      below,
      path: `${insightsPath}/cancel`,
      operationId: 'insights_cancel',
      summary: 'Cancel a query (legacy endpoint)',
      description:
        'Cancels a query in the same way as `DELETE query/:id/`, and stops it in the database. Succeeds even if the query does not exist.',
      body: Type.Object(
        {
          client_query_id: Type.String({
            maxLength: 128,
            description: 'The `client_query_id` with which the query was sent.',
          }),
        },
        { title: 'CancelledQuery' },
      ),
      tags,
      scope: 'insight:read',
      responses: { 201: { description: 'The query was cancelled or did not exist.' } },
      examples: { request: { client_query_id: 'my-query' } },
      handler: async ({ target, body: { client_query_id: id } }) => {
        await queryRunner.cancel(target, id);
        return undefined;
      },
    }),
    ...defineRoutes({
      method: 'GET',
      below,
      path: `${insightsPath}/:id`,
      operationId: 'insights_retrieve',
      summary: 'Show an insight',
      description:
        'Returns one insight with its cached result. Use `refresh` to compute the result, either within this request or in the ' +
        'background (`GET query/:id/` returns the status). Deleted insights return 404. `from_dashboard` also requires the scope ' +
        '`dashboard:read`.',
      tags,
      scope: 'insight:read',
      params: insightParams,
      query: shownQuery,
      responses: { 200: { description: 'The insight.', schema: insight, text: csvDeclaration } },
      examples: { response: insightExample },
      handler: async ({ caller, target, params: { id }, query, request }) => {
        if (formerTypes.has(id)) {
          throw new AppError(
            'invalid',
            'This legacy endpoint is not supported. Send the query to `query/`, or store it in an insight.',
          );
        }
        const row = await requireInsight(sql, target, { name: id, needed: 'viewer' });
        if (row.deleted) throw new AppError('not_found', 'Not found.');
        const dashboardId = parseIds(query.from_dashboard).at(0);
        if (dashboardId !== undefined) requireScope(caller, 'dashboard:read');
        const given = readOverrides(query);
        await requireReferencedRecords(sql, target, given.filters);
        const ofTile = await overridesOn(sql, row, { target, dashboardId });
        const shown = applyOverrides(row, {
          filters: given.filters ?? ofTile?.filters,
          variables: mergeVariables(ofTile?.variables, given.variables),
        });
        const isFile = query.format === 'csv';
        const runOptions = {
          refresh: readRefresh(query.refresh),
          isFile,
          signal: request.disconnectSignal(),
          ...(dashboardId !== undefined && { dashboardId }),
        };
        const result = await runInsight(queryRunner, { caller, target }, shown, runOptions);
        if (isFile) {
          return toCsvContent({ results: result?.result, columns: result?.columns }, `insight-${row.short_id}`);
        }
        return toInsight(shown, { ...target, userId: caller.userId }, result);
      },
    }),
  ];
}

/** Maximum total size of a list's cached results, in characters. */
const maxCachedCharacters = 4 * 2 ** 20;

/**
 * Reads cached results of the listed insights in order, until the size limit is reached. The result of each remaining
 * insight is undefined.
 */
async function readCached(
  queryRunner: QueryRunner,
  queryCaller: QueryCaller,
  rows: readonly InsightRow[],
  request: ApiRequest,
): Promise<(InsightResult | undefined)[]> {
  const cached: (InsightResult | undefined)[] = [];
  const runOptions = { refresh: 'force_cache', signal: request.disconnectSignal() } as const;
  let characters = 0;
  for (const row of rows) {
    const found = { ...noResult, ...(await runInsightWithStatus(queryRunner, queryCaller, row, runOptions)) };
    characters += JSON.stringify(found.result).length;
    if (characters > maxCachedCharacters) break;
    cached.push(found);
  }
  return cached;
}

/**
 * Returns the filters and variables that a dashboard sets for one of its insights.
 * @throws AppError `invalid` if the insight is not on the dashboard
 */
async function overridesOn(
  sql: Sql,
  { tiles }: InsightRow,
  { target: { rights }, dashboardId }: { target: AddressedProject; dashboardId: number | undefined },
) {
  if (dashboardId === undefined) return undefined;
  const tile = tiles.find((one) => one.dashboard_id === dashboardId);
  if (tile !== undefined) {
    requireRecord(rights, 'dashboard', 'viewer', { id: dashboardId, createdById: tile.owner_id });
    return readTileOverrides(sql, tile.id);
  }
  throw new AppError('invalid', 'The insight is not on this dashboard.', {
    code: 'does_not_exist',
    attr: 'from_dashboard',
  });
}

function insightWriteRoutes({
  sql,
  transaction,
  parser,
}: Pick<Database, 'sql' | 'transaction'> & { parser: SqlParser }) {
  const below = environmentBasePaths(sql);
  return [
    ...defineRoutes({
      method: 'POST',
      below,
      path: insightsPath,
      operationId: 'insights_create',
      summary: 'Create an insight',
      description:
        'Stores a query as an insight. The query is not run. Also requires the scope `dashboard:write` if you add the insight to ' +
        'dashboards.',
      tags,
      scope: 'insight:write',
      body: insightChanges,
      responses: { 201: { description: 'The new insight.', schema: insight } },
      examples: { request: newInsightExample, response: insightExample },
      handler: async ({ caller, target, body }) => {
        await parseSqlAhead(parser, body.query);
        const row = await transaction((tx) => createInsight(tx, { ...caller, target, parser }, body));
        return toInsight(row, { ...target, userId: caller.userId });
      },
    }),
    ...(['PATCH', 'PUT'] as const).flatMap((method) =>
      defineRoutes({
        method,
        below,
        path: `${insightsPath}/:id`,
        operationId: `insights_${method === 'PUT' ? 'update' : 'partial_update'}`,
        summary: method === 'PUT' ? 'Update an insight' : 'Update, delete or restore an insight',
        description:
          'Changes the fields that are sent and leaves all others unchanged. `dashboards` replaces the entire list, and requires the ' +
          'scope `dashboard:write` if the list changes. To delete an insight, send `deleted: true`, which also removes it from its ' +
          'dashboards; to restore it, send `deleted: false`.',
        tags,
        scope: 'insight:write',
        params: insightParams,
        body: insightChanges,
        responses: { 200: { description: 'The updated insight.', schema: insight } },
        examples: {
          request: method === 'PUT' ? newInsightExample : { favorited: true, dashboards: [3] },
          response: insightExample,
        },
        handler: async ({ caller, target, params: { id: name }, body: changes }) => {
          await parseSqlAhead(parser, changes.query);
          const row = await transaction((tx) => changeInsight(tx, { ...caller, target, parser }, { name, changes }));
          return toInsight(row, { ...target, userId: caller.userId });
        },
      }),
    ),
    ...defineRoutes({
      method: 'DELETE',
      below,
      path: `${insightsPath}/:id`,
      operationId: 'insights_destroy',
      summary: 'Not supported. To delete, send PATCH with `deleted: true`',
      description: 'Insights cannot be deleted permanently. Send a PATCH request with `deleted: true` instead.',
      tags,
      scope: 'insight:write',
      params: Type.Object({ id: Type.String({ description: 'Ignored.' }) }),
      responses: { 405: { description: 'Always returned. The response has no body.' } },
      handler: async () => undefined,
    }),
  ];
}

const scopes = ['Insight'];

function activityRoutes({ sql }: Pick<Database, 'sql'>) {
  const common = {
    method: 'GET',
    tags,
    scope: 'activity_log:read',
    query: activityQuery,
    responses: { 200: { description: 'One page of log entries.', schema: activityPage } },
    examples: { response: activityExample },
    below: environmentBasePaths(sql),
  } as const;
  return [
    ...defineRoutes({
      ...common,
      path: `${insightsPath}/activity`,
      operationId: 'insights_activity',
      summary: 'Show the activity log for all insights',
      description: 'Returns the changes made to the insights of the project, most recent first.',
      handler: async ({ target: { environmentId, rights }, query, request }) =>
        readActivity(sql, request, {
          ...query,
          scopes,
          environmentId,
          seen: rights,
        }),
    }),
    ...defineRoutes({
      ...common,
      path: `${insightsPath}/:id/activity`,
      operationId: 'insights_activity_of_one',
      summary: "Show an insight's activity log",
      description: 'Returns the changes made to one insight, most recent first.',
      params: insightParams,
      handler: async ({ target, params, query, request }) => {
        const { environmentId } = target;
        const { id } = await requireInsight(sql, target, { name: params.id, needed: 'viewer' });
        return readActivity(sql, request, { ...query, scopes, environmentId, itemId: String(id) });
      },
    }),
  ];
}
