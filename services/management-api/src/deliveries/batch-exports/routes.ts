import type { Database, Sql } from '@millrace/db';
import { offsetPage, offsetPageSchema, offsetQuery } from '@millrace/http';
import { parseAhead, type SqlParser } from '@millrace/insights';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { addressedOrganization, organizationParams } from '../../access/addressed-organization.ts';
import { environmentBases, parentEnvironment } from '../../access/addressed-project.ts';
import { type BasePath, basePath, defineRoutes } from '../../access/define-route.ts';
import type { DestinationSecrets } from './destinations.ts';
import { changeBatchExport, createBatchExport, recordExportActivity, setExportPaused } from './rules.ts';
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
  parser: SqlParser;
}

/** Declares the batch export routes under environments, projects and organizations (docs/api/batch-exports.md). */
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
      description:
        'Returns the batch exports, newest first. For an organization, returns the exports of all environments in the ' +
        'organization that you have access to.',
      tags,
      scope: 'batch_export:read',
      query: Type.Object(offsetQuery),
      responses: { 200: { description: 'One page of batch exports.', schema: offsetPageSchema(batchExport) } },
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
      description: 'Returns one batch export with its last ten runs. Destination secrets are left out.',
      tags,
      scope: 'batch_export:read',
      params,
      responses: { 200: { description: 'The batch export.', schema: batchExport } },
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
  { transaction, destinationSecrets, parser }: BatchExportDeps,
) {
  const creation = {
    method: 'POST',
    path,
    operationId: 'batch_exports_create',
    summary: 'Create a batch export',
    tags,
    scope: 'batch_export:write',
    body: newBatchExport,
    responses: { 201: { description: 'The new batch export.', schema: batchExport } },
    examples: { request: newBatchExportExample, response: { ...batchExportExample, latest_runs: [] } },
  } as const;
  return [
    ...defineRoutes({
      ...creation,
      below: ofEnvironment,
      description:
        'Creates a batch export. The first run starts when the current interval ends. Unless the export is created ' +
        'paused, this also requires the scopes `person:read` and, to export events, `event:read`.',
      handler: async ({ target: address, body }) => {
        await parseAhead(parser, body.hogql_query);
        return transaction(async (tx) => {
          const after = await createBatchExport(tx, address, { body, now: new Date(), destinationSecrets, parser });
          await recordExportActivity(tx, address, { activity: 'created', after });
          return toBatchExport(after, []);
        });
      },
    }),
    ...defineRoutes({
      ...creation,
      below: ofOrganization,
      description:
        'Always returns an error. A batch export belongs to one environment, so create it under a project instead.',
      handler: async () => {
        const detail =
          'A batch export belongs to one environment. Create it with POST /api/projects/:project_id/batch_exports.';
        throw new AppError('invalid', detail, { code: 'invalid_input' });
      },
    }),
  ];
}

function changeRoutes(below: Exports, { sql, transaction, destinationSecrets, parser }: BatchExportDeps) {
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
          'Changes the fields that are sent, and leaves all others unchanged, including individual destination settings and ' +
          'secrets. If you change `host`, `port` or `endpoint_url`, you must send the secrets again, because stored ' +
          'secrets are never sent to a different server. Unless the export is paused, this also requires the scopes ' +
          '`person:read` and, to export events, `event:read`.',
        tags,
        scope: 'batch_export:write',
        params,
        body: method === 'PUT' ? batchExportReplacement : batchExportChanges,
        responses: { 200: { description: 'The updated batch export.', schema: batchExport } },
        examples: {
          request: method === 'PUT' ? newBatchExportExample : { interval: 'day' },
          response: batchExportExample,
        },
        handler: async ({ target: address, params: { id }, body }) => {
          await parseAhead(parser, body.hogql_query);
          const changed = await transaction(async (tx) => {
            const change = await changeBatchExport(
              tx,
              { address, id },
              { changes: body, now: new Date(), destinationSecrets, parser },
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
      description:
        'Deletes the export and cancels its backfills and any runs in progress. Data that was already exported ' +
        'is not deleted.',
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

function pauseRoutes(below: Exports, { transaction, destinationSecrets, parser }: BatchExportDeps) {
  return [
    ...defineRoutes({
      method: 'POST',
      below,
      path: `${path}/:id/pause`,
      operationId: 'batch_exports_pause_create',
      summary: 'Pause a batch export',
      description: 'Stops triggering runs until the export is unpaused. Pausing a paused export has no effect.',
      tags,
      scope: 'batch_export:write',
      params,
      body: pauseRequest,
      responses: { 200: { description: 'The export is paused.', schema: pausedState, onlyIfPreferred: true } },
      examples: { request: newBatchExportExample, response: { paused: true } },
      handler: async ({ target: address, params: { id } }) =>
        transaction(async (tx) => {
          const change = await setExportPaused(
            tx,
            { address, id },
            { paused: true, now: new Date(), destinationSecrets, parser },
          );
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
        'Resumes the export, starting with the current interval. `backfill: true` also exports the missed intervals, ' +
        'starting with the one in which the export was paused. Also requires the scopes `person:read` and, to export ' +
        'events, `event:read`.',
      tags,
      scope: 'batch_export:write',
      params,
      body: unpauseRequest,
      responses: { 200: { description: 'The export is unpaused.', schema: pausedState, onlyIfPreferred: true } },
      examples: { request: { backfill: true }, response: { paused: false } },
      handler: async ({ target: address, params: { id }, body }) =>
        transaction(async (tx) => {
          const withBackfill = body.backfill ?? false;
          const change = await setExportPaused(
            tx,
            { address, id },
            { paused: false, now: new Date(), destinationSecrets, parser, withBackfill },
          );
          if (change) await recordExportActivity(tx, address, { activity: 'updated', ...change });
          return { paused: false };
        }),
    }),
  ];
}
