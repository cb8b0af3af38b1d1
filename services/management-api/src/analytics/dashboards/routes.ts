import type { Database, Transaction } from '@millrace/db';
import { offsetPage, offsetPageSchema, offsetQuery } from '@millrace/http';
import { parseExpressionsAhead, type SqlParser } from '@millrace/insights';
import { limitConcurrency } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { requireReferencedRecords } from '../../access/named-records.ts';
import { lockEnvironment } from '../../sql/lock-environment.ts';
import { longestNeedle } from '../../sql/longest-needle.ts';
import { overrideQuery, readOverrides, readRefresh, refreshQuery, runInsightWithStatus } from '../insights/result.ts';
import type { QueryRunner } from '../query/query-runner.ts';
import {
  basicDashboardExample,
  dashboard,
  dashboardChanges,
  dashboardExample,
  dashboardParams,
  dashboardsPath,
  fieldsRejectedOnChange,
  fieldsRejectedOnCreate,
  newDashboard,
  newDashboardExample,
  numberOf,
  dashboardTags as tags,
} from './schema.ts';
import { showDashboard, toBasicDashboard, type Viewer } from './show.ts';
import { type DashboardRow, dashboardOrders, listDashboards, recordDashboardAccess } from './store.ts';
import { copyTile, moveTileToDashboard, reorderTiles } from './tiles.ts';
import {
  changeDashboard,
  createDashboard,
  type DashboardAuthor,
  requireChangeableDashboard,
  requireDashboard,
  runAndLogTileChanges,
} from './write.ts';

const listQuery = Type.Object({
  ...offsetQuery,
  search: Type.Optional(
    Type.String({
      maxLength: longestNeedle,
      description: 'Only dashboards whose name or description contains this text, ignoring case.',
    }),
  ),
  pinned: Type.Optional(
    Type.Boolean({ description: 'If true, only pinned dashboards. If false, only dashboards that are not pinned.' }),
  ),
  tags: Type.Optional(Type.String({ description: 'Only items with at least one of these tags, as a JSON array.' })),
  creation_mode: Type.Optional(
    Type.String({ description: 'Only dashboards with this creation mode: `default` or `duplicate`.' }),
  ),
  order: Type.Optional(
    Type.Enum(dashboardOrders, {
      description:
        'Field to sort by: `name`, `created_at`, `created_by`, `last_accessed_at` or `pinned`, with a leading `-` for ' +
        'descending order. By default, pinned dashboards come first, then sorted by name.',
    }),
  ),
  exclude_generated: Type.Optional(
    Type.Boolean({ description: 'Has no effect: Millrace does not generate dashboards.' }),
  ),
});

/** Declares the routes of dashboards, which show insights and texts as tiles (docs/api/dashboards.md). */
export function dashboardRoutes(
  deps: Pick<Database, 'sql' | 'transaction'> & { queryRunner: QueryRunner; parser: SqlParser },
) {
  // Paths that end in a word must come before paths that end in an ID, because an ID also matches the word.
  return [...tileRoutes(deps), ...readRoutes(deps), ...dashboardWriteRoutes(deps)];
}

function viewerOf({ userId }: Pick<Caller, 'userId'>, { environmentId, level, rights }: AddressedProject): Viewer {
  return { userId, environmentId, level, rights };
}

const shownQuery = Type.Object({
  refresh: refreshQuery,
  ...overrideQuery,
});

/**
 * Maximum number of insights that a request for a dashboard computes concurrently. Leaves one of the project's query
 * slots free.
 */
const maxConcurrentQueries = 2;

function readRoutes({ sql, queryRunner }: Pick<Database, 'sql'> & { queryRunner: QueryRunner }) {
  const below = environmentBasePaths(sql);
  return [
    ...defineRoutes({
      method: 'GET',
      below,
      path: dashboardsPath,
      operationId: 'dashboards_list',
      summary: 'List dashboards',
      description:
        'Returns the dashboards of the project, pinned dashboards first, then ordered by name. Tiles and deleted dashboards are left out.',
      tags,
      scope: 'dashboard:read',
      query: listQuery,
      responses: { 200: { description: 'One page of dashboards.', schema: offsetPageSchema(dashboard) } },
      examples: { response: { count: 1, next: null, previous: null, results: [basicDashboardExample] } },
      handler: async ({ caller, target, query, request }) =>
        offsetPage(request, query, async (window) => {
          const { count, rows } = await listDashboards(sql, target, { ...window, filter: query });
          return { count, results: rows.map((row) => toBasicDashboard(row, viewerOf(caller, target))) };
        }),
    }),
    ...defineRoutes({
      method: 'GET',
      below,
      path: `${dashboardsPath}/:id`,
      operationId: 'dashboards_retrieve',
      summary: 'Show a dashboard',
      description:
        'Returns one dashboard with its tiles. Dashboard filters apply to all insights. By default, the tiles ' +
        'show cached results. With `refresh`, results are calculated during the request or in the background. If a ' +
        "tile's query fails, the tile's `query_status` contains the reason. A deleted dashboard returns 404.",
      tags,
      scope: 'dashboard:read',
      params: dashboardParams,
      query: shownQuery,
      responses: { 200: { description: 'The dashboard.', schema: dashboard } },
      examples: { response: dashboardExample },
      handler: async ({ caller, target, params: { id }, query, request }) => {
        const overrides = readOverrides(query);
        await requireReferencedRecords(sql, target, overrides.filters);
        const found = await requireDashboard(sql, target, { id, needed: 'viewer' });
        const row = {
          ...found,
          last_accessed_at: (await recordDashboardAccess(sql, found.id)) ?? found.last_accessed_at,
        };
        const inTurn = limitConcurrency(maxConcurrentQueries);
        const runOptions = { refresh: readRefresh(query.refresh), dashboardId: id, signal: request.disconnectSignal() };
        return showDashboard(sql, row, viewerOf(caller, target), {
          ...overrides,
          run: (insight) => inTurn(() => runInsightWithStatus(queryRunner, { caller, target }, insight, runOptions)),
        });
      },
    }),
  ];
}

function dashboardWriteRoutes({
  sql,
  transaction,
  parser,
}: Pick<Database, 'sql' | 'transaction'> & { parser: SqlParser }) {
  const below = environmentBasePaths(sql);
  return [
    ...defineRoutes({
      method: 'POST',
      below,
      path: dashboardsPath,
      operationId: 'dashboards_create',
      summary: 'Create a dashboard',
      description:
        'Creates an empty dashboard, or a copy of another dashboard (`use_dashboard`). `duplicate_tiles` also requires ' +
        'the scope `insight:write`.',
      tags,
      scope: 'dashboard:write',
      body: newDashboard,
      refusedBody: fieldsRejectedOnCreate,
      responses: { 201: { description: 'The new dashboard.', schema: dashboard } },
      examples: { request: newDashboardExample, response: { ...dashboardExample, tiles: [] } },
      handler: async ({ caller, target, body }) => {
        await parseExpressionsAhead(parser, body.filters);
        return transaction(async (tx) => {
          const row = await createDashboard(tx, { ...caller, target, parser }, body);
          return showDashboard(tx, row, viewerOf(caller, target));
        });
      },
    }),
    ...(['PATCH', 'PUT'] as const).flatMap((method) =>
      defineRoutes({
        method,
        below,
        path: `${dashboardsPath}/:id`,
        operationId: `dashboards_${method === 'PUT' ? 'update' : 'partial_update'}`,
        summary: method === 'PUT' ? 'Replace a dashboard' : 'Change or delete a dashboard',
        description:
          'Changes the fields that are sent and leaves all others unchanged, including tiles that are not listed. To ' +
          'delete a dashboard, send `deleted: true`; to restore it with its tiles, send `deleted: false`. Also requires ' +
          'the scope `insight:write` if insights are deleted with the dashboard (`delete_insights`) or restored.',
        tags,
        scope: 'dashboard:write',
        params: dashboardParams,
        body: dashboardChanges,
        refusedBody: fieldsRejectedOnChange,
        responses: { 200: { description: 'The updated dashboard.', schema: dashboard } },
        examples: {
          request: method === 'PUT' ? newDashboardExample : { tiles: [{ text: { body: 'Hello' } }] },
          response: dashboardExample,
        },
        handler: async ({ caller, target, params: { id }, body: changes }) => {
          await parseExpressionsAhead(parser, [changes.filters, changes.tiles]);
          return transaction(async (tx) => {
            const row = await changeDashboard(tx, { ...caller, target, parser }, { id, changes });
            return showDashboard(tx, row, viewerOf(caller, target));
          });
        },
      }),
    ),
    ...defineRoutes({
      method: 'DELETE',
      below,
      path: `${dashboardsPath}/:id`,
      operationId: 'dashboards_destroy',
      summary: 'Not supported. To delete, send PATCH with `deleted: true`',
      description: 'Dashboards cannot be deleted permanently. Send a PATCH request with `deleted: true` instead.',
      tags,
      scope: 'dashboard:write',
      params: Type.Object({ id: Type.String({ description: 'Ignored.' }) }),
      responses: { 405: { description: 'Always returned. The response has no body.' } },
      handler: async () => undefined,
    }),
  ];
}

function tileRoutes({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>) {
  const common = {
    below: environmentBasePaths(sql),
    tags,
    scope: 'dashboard:write',
    params: dashboardParams,
    responses: { 200: { description: 'The updated dashboard.', schema: dashboard } },
  } as const;

  function changing(
    author: DashboardAuthor,
    id: number,
    change: (tx: Transaction, addressed: DashboardRow) => Promise<DashboardRow>,
  ) {
    return transaction(async (tx) => {
      await lockEnvironment(tx, author.target.environmentId);
      const row = await change(tx, await requireChangeableDashboard(tx, author, id));
      return showDashboard(tx, row, viewerOf(author, author.target));
    });
  }

  return [
    ...defineRoutes({
      ...common,
      method: 'PATCH',
      path: `${dashboardsPath}/:id/move_tile`,
      operationId: 'dashboards_move_tile',
      summary: 'Move a tile to another dashboard',
      description:
        'Moves a tile to the dashboard `toDashboard`. The tile keeps its layout. Returns the dashboard that the tile was ' +
        'moved from.',
      body: Type.Object(
        { tile: Type.Object({ id: numberOf('tile') }), toDashboard: numberOf('dashboard') },
        { title: 'MovedTile' },
      ),
      examples: { request: { tile: { id: 12 }, toDashboard: 4 }, response: { ...dashboardExample, tiles: [] } },
      handler: async ({ caller, target, params: { id }, body: { tile, toDashboard } }) => {
        const author = { ...caller, target };
        return changing(author, id, async (tx, from) => {
          const to = await requireChangeableDashboard(tx, author, toDashboard);
          return runAndLogTileChanges(tx, author, from, async () => {
            await runAndLogTileChanges(tx, author, to, () =>
              moveTileToDashboard(tx, { from: id, to: to.id, tileId: tile.id, target }),
            );
          });
        });
      },
    }),
    ...defineRoutes({
      ...common,
      method: 'POST',
      path: `${dashboardsPath}/:id/copy_tile`,
      operationId: 'dashboards_copy_tile',
      summary: 'Copy a tile from another dashboard',
      description:
        'Copies a tile from another dashboard. Insights are then shared by the two dashboards. Text is duplicated.',
      body: Type.Object({ fromDashboardId: numberOf('dashboard'), tileId: numberOf('tile') }, { title: 'CopiedTile' }),
      examples: { request: { fromDashboardId: 4, tileId: 12 }, response: dashboardExample },
      handler: async ({ caller, target, params: { id }, body: { fromDashboardId, tileId } }) => {
        const author = { ...caller, target };
        return changing(author, id, async (tx, to) => {
          const from = await requireDashboard(tx, target, { id: fromDashboardId, needed: 'viewer' });
          return runAndLogTileChanges(tx, author, to, () =>
            copyTile(tx, { from: from.id, to: id, tileId, target }, author),
          );
        });
      },
    }),
    ...defineRoutes({
      ...common,
      method: 'POST',
      path: `${dashboardsPath}/:id/reorder_tiles`,
      operationId: 'dashboards_reorder_tiles',
      summary: 'Reorder dashboard tiles',
      description:
        'Lays out all tiles again without overlaps: first the listed tiles in the given order, then the other tiles in their current order. Tiles keep their size. A tile without a size gets 6 columns and 5 rows.',
      body: Type.Object(
        {
          tile_order: Type.Array(numberOf('tile'), {
            maxItems: 400,
            description: 'IDs of the tiles, in the new order.',
          }),
        },
        { title: 'TileOrder' },
      ),
      examples: { request: { tile_order: [12] }, response: dashboardExample },
      handler: async ({ caller, target, params: { id }, body: { tile_order: order } }) => {
        const author = { ...caller, target };
        return changing(author, id, async (tx, row) =>
          runAndLogTileChanges(tx, author, row, () => reorderTiles(tx, id, order)),
        );
      },
    }),
  ];
}
