import type { Database, Sql } from '@millrace/db';
import { offsetPage, offsetPageOf, offsetQuery } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { addressedOrganization, organizationParams } from '../../access/addressed-organization.ts';
import { environmentBases, parentEnvironment } from '../../access/addressed-project.ts';
import { type BasePath, basePath, defineRoutes } from '../../access/define-route.ts';
import type { DestinationSecrets } from './destinations.ts';
import { changeBatchExport, createBatchExport, recordExportActivity, setPaused } from './rules.ts';
import { runRoutes } from './run-routes.ts';
import {
  batchExport,
  batchExportChanges,
  batchExportExample,
  batchExportReplacement,
  exportId,
  newBatchExport,
  newBatchExportExample,
  pausedState,
  pauseRequest,
  toBatchExport,
  unpauseRequest,
} from './schema.ts';
import {
  type BatchExportRow,
  deleteBatchExport,
  type ExportAddress,
  findBatchExport,
  latestRuns,
  listBatchExports,
  lockBatchExport,
} from './store.ts';

const tags: [string] = ['batch_exports'];
const path = '/batch_exports';
const params = Type.Object({ id: exportId });

interface BatchExportDeps extends Pick<Database, 'sql' | 'transaction'> {
  destinationSecrets: DestinationSecrets;
}

/** Batch exports below an environment, a project and an organization (docs/api/batch-exports.md). */
export function batchExportRoutes(deps: BatchExportDeps) {
  const ofEnvironment = exportsOfEnvironment(deps.sql);
  const ofOrganization = exportsOfOrganization(deps.sql);
  const below = [...ofEnvironment, ...ofOrganization];
  return [
    ...readRoutes(below, deps),
    ...createRoutes(ofEnvironment, ofOrganization, deps),
    ...changeRoutes(below, deps),
    ...pauseRoutes(below, deps),
    ...runRoutes(below, deps),
  ];
}

type Exports = BasePath<ExportAddress>[];
type ExportsOfEnvironment = BasePath<ExportAddress & { environmentId: number }>[];

function exportsOfEnvironment(sql: Sql): ExportsOfEnvironment {
  const find = parentEnvironment(sql);
  return environmentBases(async (context) => {
    const { organizationId, environmentId } = await find(context);
    return { ...context.caller, organizationId, environmentId };
  }, 'projects_');
}

/** The exports of all environments of an organization. */
function exportsOfOrganization(sql: Sql): Exports {
  const find = addressedOrganization(sql);
  return [
    basePath({
      path: '/api/organizations/:organization_id',
      operations: 'organizations_',
      params: organizationParams,
      find: async (context) => {
        const { organizationId } = await find(context);
        return { ...context.caller, organizationId, environmentId: null };
      },
    }),
  ];
}

function readRoutes(below: Exports, { sql }: BatchExportDeps) {
  return [
    ...defineRoutes({
      method: 'GET',
      below,
      path,
      operationId: 'batch_exports_list',
      summary: 'List batch exports',
      description: 'The newest first. Below an organization: those of all its environments.',
      tags,
      scope: 'batch_export:read',
      query: Type.Object(offsetQuery),
      responses: { 200: { description: 'One page of exports.', schema: offsetPageOf(batchExport) } },
      examples: { response: { count: 1, next: null, previous: null, results: [batchExportExample] } },
      handler: async ({ target: address, query, request }) =>
        offsetPage(request, query, async (window) => {
          const { count, rows } = await listBatchExports(sql, address, window);
          const ids = rows.map(({ id }) => id);
          const runs = await latestRuns(sql, ids);
          return { count, results: rows.map((row) => toBatchExport(row, runs)) };
        }),
    }),
    ...defineRoutes({
      method: 'GET',
      below,
      path: `${path}/:id`,
      operationId: 'batch_exports_retrieve',
      summary: 'Show a batch export',
      description: 'One export with its last ten runs, without its secrets.',
      tags,
      scope: 'batch_export:read',
      params,
      responses: { 200: { description: 'The export.', schema: batchExport } },
      examples: { response: batchExportExample },
      handler: async ({ target: address, params: { id } }) => {
        const row = await findBatchExport(sql, address, id);
        if (!row) throw new AppError('not_found', 'Not found.');
        return toBatchExport(row, await latestRuns(sql, [id]));
      },
    }),
  ];
}

function createRoutes(
  ofEnvironment: ExportsOfEnvironment,
  ofOrganization: Exports,
  { transaction, destinationSecrets }: BatchExportDeps,
) {
  const creation = {
    method: 'POST',
    path,
    operationId: 'batch_exports_create',
    summary: 'Create a batch export',
    tags,
    scope: 'batch_export:write',
    body: newBatchExport,
    responses: { 201: { description: 'The new export.', schema: batchExport } },
    examples: { request: newBatchExportExample, response: { ...batchExportExample, latest_runs: [] } },
  } as const;
  return [
    ...defineRoutes({
      ...creation,
      below: ofEnvironment,
      description:
        'Creates an export. Its first run comes when the interval that is running now has ended. Also needs `event:read` for events, and `person:read`, unless it is paused.',
      handler: async ({ target: address, body }) =>
        transaction(async (tx) => {
          const after = await createBatchExport(tx, address, { body, now: new Date(), destinationSecrets });
          await recordExportActivity(tx, address, { activity: 'created', after });
          return toBatchExport(after, []);
        }),
    }),
    ...defineRoutes({
      ...creation,
      below: ofOrganization,
      description: 'Always refused: an export belongs to one environment, so make it below a project.',
      handler: async () => {
        const detail = 'An export belongs to one environment: create it below /api/projects/:project_id/batch_exports.';
        throw new AppError('invalid', detail, { code: 'invalid_input' });
      },
    }),
  ];
}

function changeRoutes(below: Exports, { sql, transaction, destinationSecrets }: BatchExportDeps) {
  const shown = async (row: BatchExportRow) => toBatchExport(row, await latestRuns(sql, [row.id]));
  return [
    ...(['PATCH', 'PUT'] as const).flatMap((method) =>
      defineRoutes({
        method,
        below,
        path: `${path}/:id`,
        operationId: `batch_exports_${method === 'PUT' ? 'update' : 'partial_update'}`,
        summary: method === 'PUT' ? 'Replace a batch export' : 'Change a batch export',
        description:
          'What is not sent stays as it is, single settings and secrets of the destination too. Secrets go only where they were meant to go: with another `host`, `port` or `endpoint_url` they have to be sent again. Also needs `event:read` for events, and `person:read`, unless the export is paused.',
        tags,
        scope: 'batch_export:write',
        params,
        body: method === 'PUT' ? batchExportReplacement : batchExportChanges,
        responses: { 200: { description: 'The export as it is now.', schema: batchExport } },
        examples: {
          request: method === 'PUT' ? newBatchExportExample : { interval: 'day' },
          response: batchExportExample,
        },
        handler: async ({ target: address, params: { id }, body }) => {
          const changed = await transaction(async (tx) => {
            const change = await changeBatchExport(
              tx,
              { address, id },
              { changes: body, now: new Date(), destinationSecrets },
            );
            await recordExportActivity(tx, address, { activity: 'updated', ...change });
            return change.after;
          });
          return shown(changed);
        },
      }),
    ),
    ...defineRoutes({
      method: 'DELETE',
      below,
      path: `${path}/:id`,
      operationId: 'batch_exports_destroy',
      summary: 'Delete a batch export',
      description: 'Removes the export and ends its backfills and the runs in progress. What was exported stays.',
      tags,
      scope: 'batch_export:write',
      params,
      responses: { 204: { description: 'Deleted.' } },
      handler: async ({ target: address, params: { id } }) =>
        transaction(async (tx) => {
          const after = await lockBatchExport(tx, address, id);
          if (!after) throw new AppError('not_found', 'Not found.');
          await deleteBatchExport(tx, id);
          await recordExportActivity(tx, address, { activity: 'deleted', after });
          return undefined;
        }),
    }),
  ];
}

/** Pausing and going on (docs/api/README.md#routes-and-fields). */
function pauseRoutes(below: Exports, { transaction, destinationSecrets }: BatchExportDeps) {
  return [
    ...defineRoutes({
      method: 'POST',
      below,
      path: `${path}/:id/pause`,
      operationId: 'batch_exports_pause_create',
      summary: 'Pause a batch export',
      description: 'No run is triggered until it is unpaused. Pausing a paused one changes nothing.',
      tags,
      scope: 'batch_export:write',
      params,
      body: pauseRequest,
      responses: { 200: { description: 'It is paused.', schema: pausedState, onlyIfPreferred: true } },
      examples: { request: newBatchExportExample, response: { paused: true } },
      handler: async ({ target: address, params: { id } }) =>
        transaction(async (tx) => {
          const change = await setPaused(tx, { address, id }, { paused: true, now: new Date(), destinationSecrets });
          if (change) await recordExportActivity(tx, address, { activity: 'updated', ...change });
          return { paused: true };
        }),
    }),
    ...defineRoutes({
      method: 'POST',
      below,
      path: `${path}/:id/unpause`,
      operationId: 'batch_exports_unpause_create',
      summary: 'Unpause a batch export',
      description:
        'Runs are triggered again from the running interval on. `backfill: true` also exports the intervals that were missed, beginning with the one in which it was paused. Also needs `event:read` for events, and `person:read`.',
      tags,
      scope: 'batch_export:write',
      params,
      body: unpauseRequest,
      responses: { 200: { description: 'It is not paused.', schema: pausedState, onlyIfPreferred: true } },
      examples: { request: { backfill: true }, response: { paused: false } },
      handler: async ({ target: address, params: { id }, body }) =>
        transaction(async (tx) => {
          const withBackfill = body.backfill ?? false;
          const change = await setPaused(
            tx,
            { address, id },
            { paused: false, now: new Date(), destinationSecrets, withBackfill },
          );
          if (change) await recordExportActivity(tx, address, { activity: 'updated', ...change });
          return { paused: false };
        }),
    }),
  ];
}
