// Declares the routes that list, start, retry and cancel a batch export's runs and backfills.

import type { Database, Sql, Transaction } from '@millrace/db';
import {
  decodeCursor,
  formatDateTime,
  keysetPage,
  keysetQuery,
  offsetPage,
  offsetPageSchema,
  offsetQuery,
  rowsToFetch,
  trimPage,
} from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { type BasePath, defineRoutes } from '../../access/define-route.ts';
import { parseTimeParameter } from '../../time/relative-time.ts';
import { decodeTimePosition, timePosition } from '../../time/time-range.ts';
import {
  backfillOrders,
  cancelBackfill,
  listBackfills,
  listRunRanges,
  parseRange,
  type Range,
  startBackfill,
} from './backfills.ts';
import { recordRunActivity, requireExportScopes } from './rules.ts';
import { backfill, backfillExample, exportId, run, runExample, toBackfill, toRun } from './schema.ts';
import {
  type BatchExportRow,
  buildOrder,
  cancelRun,
  type ExportAddress,
  findBatchExport,
  findRun,
  isByStoredTime,
  listRuns,
  lockBatchExport,
  runOrders,
} from './store.ts';

const runsPage = Type.Object(
  {
    next: Type.Union([Type.String(), Type.Null()], { description: 'URL of the next page, or null on the last page.' }),
    previous: Type.Null({ description: 'Always null: these pages can only be read forward.' }),
    results: Type.Array(run, { description: 'The runs on this page.' }),
  },
  { title: 'BatchExportRunPage' },
);
const runsQuery = Type.Object({
  ...keysetQuery,
  after: Type.Optional(
    Type.String({
      description:
        'Only runs triggered after this time: an ISO 8601 time, or a relative time such as `-14d` or `-6h`. Defaults to `-7d`.',
    }),
  ),
  before: Type.Optional(
    Type.String({
      description:
        'Only runs triggered before this time: an ISO 8601 time, or a relative time such as `-14d` or `-6h`.',
    }),
  ),
  ordering: Type.Enum(runOrders, {
    default: '-created_at',
    description: 'Time field by which the runs are sorted. A leading `-` sorts the latest first.',
  }),
});
const backfillsQuery = Type.Object({
  ...offsetQuery,
  ordering: Type.Enum(backfillOrders, {
    default: '-created_at',
    description: 'Time field by which the backfills are sorted. A leading `-` sorts the latest first.',
  }),
});
const backfillRequest = Type.Object(
  {
    start_at: Type.Optional(
      Type.Unknown({ description: 'Start of the range to export, in ISO 8601 with a UTC offset.' }),
    ),
    end_at: Type.Optional(
      Type.Unknown({ description: 'End of the range to export (exclusive), in ISO 8601 with a UTC offset.' }),
    ),
  },
  { title: 'BatchExportBackfillToCreate' },
);
/**
 * Clients can send the complete export. Fields other than the time range are ignored, except that non-empty filters and
 * queries are rejected.
 */
const refusedOfBackfill = {
  filters: {
    detail:
      'A backfill uses the filters of its export. Change `filters` on the export, and leave `filters` out of this request.',
    unless: [null, []],
  },
  hogql_query: {
    detail:
      'A backfill uses the query of its export. Change `hogql_query` on the export, and leave it out of this request.',
    unless: [null, ''],
  },
  model: {
    detail: 'A backfill uses the model of its export. Leave `model` out of this request.',
    unless: [null, ''],
  },
};
const previewQuery = Type.Object({
  start_at: Type.Optional(Type.String({ description: 'Start of the range to export, in ISO 8601 with a UTC offset.' })),
  end_at: Type.Optional(
    Type.String({ description: 'End of the range to export (exclusive), in ISO 8601 with a UTC offset.' }),
  ),
});
const backfillResponse = Type.Object(
  { backfill_id: Type.String({ description: 'ID of the backfill.' }) },
  { title: 'BatchExportBackfillId' },
);
const cancelledResponse = Type.Object(
  { cancelled: Type.Boolean({ description: 'True.' }) },
  { title: 'BatchExportCancelled' },
);
const range = { start_at: '2026-11-01T00:00:00Z', end_at: '2026-11-02T00:00:00Z' };
const ends = {
  start_at: Type.String({ format: 'date-time', description: 'Start of the range.' }),
  end_at: Type.String({ format: 'date-time', description: 'End of the range (exclusive).' }),
};
const preview = Type.Object(
  {
    ...ends,
    total_runs: Type.Integer({ description: 'Number of runs that the backfill would trigger.' }),
    first_run: Type.Object(ends, { description: 'Range that the first run would export.' }),
    last_run: Type.Object(ends, { description: 'Range that the last run would export.' }),
  },
  { title: 'BatchExportBackfillPreview' },
);
const previewExample = {
  ...range,
  total_runs: 24,
  first_run: { start_at: range.start_at, end_at: '2026-11-01T01:00:00Z' },
  last_run: { start_at: '2026-11-01T23:00:00Z', end_at: range.end_at },
};

/** Declares the routes for an export's runs and backfills (docs/api/batch-exports.md#runs-and-backfills). */
export function runRoutes(
  below: BasePath<ExportAddress>[],
  { sql, transaction }: Pick<Database, 'sql' | 'transaction'>,
) {
  const path = '/batch_exports';
  const params = Type.Object({ id: exportId });
  const runParams = Type.Object({
    id: exportId,
    run_id: Type.String({ format: 'uuid', description: 'ID of the run.' }),
  });
  const backfillParams = Type.Object({
    id: exportId,
    backfill_id: Type.String({ description: 'ID of the backfill.' }),
  });
  const common = { tags: ['batch_exports'] as [string], below };
  const read = { ...common, scope: 'batch_export:read' as const };
  const write = { ...common, scope: 'batch_export:write' as const };
  return [
    ...defineRoutes({
      ...read,
      method: 'GET',
      path: `${path}/:id/runs`,
      operationId: 'batch_exports_runs_list',
      summary: 'List batch export runs',
      description:
        'Returns the runs triggered in the last seven days, or between `after` and `before`. By default, the newest run comes first.',
      params,
      query: runsQuery,
      responses: { 200: { description: 'One page of runs.', schema: runsPage } },
      examples: { response: { next: null, previous: null, results: [runExample] } },
      handler: async ({ target: address, params: { id }, query, request }) => {
        await requireExport(sql, address, id);
        const now = new Date();
        const found = await listRuns(sql, id, {
          after: parseTimeParameter(query.after ?? '-7d', 'after', now),
          before: query.before === undefined ? null : parseTimeParameter(query.before, 'before', now),
          position: decodeTimePosition(decodeCursor(timePosition, query.cursor)),
          limit: rowsToFetch(query),
          ordering: query.ordering,
        });
        const sortedBy = buildOrder(query.ordering).column;
        const page = trimPage(found, query, (row) => ({ timestamp: row[sortedBy].getTime(), id: row.id }));
        return { previous: null, ...keysetPage(request, page, page.rows.map(toRun)) };
      },
    }),
    ...defineRoutes({
      ...read,
      method: 'GET',
      path: `${path}/:id/runs/:run_id`,
      operationId: 'batch_exports_runs_retrieve',
      summary: 'Show a batch export run',
      description: 'Returns one run with its interval and its outcome.',
      params: runParams,
      responses: { 200: { description: 'The run.', schema: run } },
      examples: { response: runExample },
      handler: async ({ target: address, params: { id, run_id } }) => {
        await requireExport(sql, address, id);
        const row = await findRun(sql, id, run_id);
        if (!row) throw new AppError('not_found', 'Not found.');
        return toRun(row);
      },
    }),
    ...defineRoutes({
      ...write,
      method: 'POST',
      path: `${path}/:id/runs/:run_id/retry`,
      operationId: 'batch_exports_runs_retry_create',
      summary: 'Retry a batch export run',
      description:
        "Exports the run's interval again, as a backfill. Events are selected in the same way as in the original " +
        'run: by the time they were stored, or by their own timestamp. Also requires the scopes `person:read` and, to ' +
        'export events, `event:read`.',
      params: runParams,
      responses: {
        200: { description: 'ID of the backfill that repeats the run.', schema: backfillResponse },
      },
      examples: { response: { backfill_id: backfillExample.id } },
      handler: async ({ target: address, params: { id, run_id } }) =>
        transaction(async (tx) => {
          const row = requireFound(await lockBatchExport(tx, address, id));
          const repeated = requireFound(await findRun(tx, id, run_id));
          const { data_interval_start: start, data_interval_end: end } = repeated;
          return begin(tx, address, {
            row,
            range: { start, end, byStoredTime: await isByStoredTime(tx, repeated) },
          });
        }),
    }),
    ...defineRoutes({
      ...write,
      method: 'POST',
      path: `${path}/:id/runs/:run_id/cancel`,
      operationId: 'batch_exports_runs_cancel_create',
      summary: 'Cancel a batch export run',
      description: 'Cancels a run that has not finished yet. Its interval is not exported.',
      params: runParams,
      responses: { 200: { description: 'The run was cancelled.', schema: cancelledResponse } },
      examples: { response: { cancelled: true } },
      handler: async ({ target: address, params: { id, run_id } }) =>
        transaction(async (tx) => {
          const row = await requireExport(tx, address, id);
          const { status, ...cancelled } = requireFound(await findRun(tx, id, run_id));
          if (!(await cancelRun(tx, run_id))) throw cannotCancel('run', status);
          const what = { id: run_id, ...written(cancelled.data_interval_start, cancelled.data_interval_end) };
          await recordRunActivity(tx, address, { row, field: 'run', action: 'deleted', what });
          return { cancelled: true };
        }),
    }),
    ...defineRoutes({
      ...read,
      method: 'GET',
      path: `${path}/:id/backfill`,
      operationId: 'batch_exports_backfill_retrieve',
      summary: 'Preview a backfill',
      description:
        'Returns how many runs a backfill of this range would trigger, and which range the first and the last run would export.',
      params,
      query: previewQuery,
      responses: { 200: { description: 'The preview. No runs are started.', schema: preview } },
      examples: { response: previewExample },
      handler: async ({ target: address, params: { id }, query }) => {
        const row = await requireExport(sql, address, id);
        const range = parseRange(query, row, new Date());
        const spans = listRunRanges(range, row).map(({ start, end }) => written(start, end));
        const [first, last] = [spans[0], spans.at(-1)];
        if (!first || !last) throw new Error('A backfill range must contain at least one run.');
        return { ...written(range.start, range.end), total_runs: spans.length, first_run: first, last_run: last };
      },
    }),
    ...defineRoutes({
      ...write,
      method: 'POST',
      path: `${path}/:id/backfill`,
      operationId: 'batch_exports_backfill_create',
      summary: 'Start a backfill',
      description:
        'Exports a past time range, with one run per interval. If a backfill of this range is already running, the request ' +
        'has no effect. Also requires the scopes `person:read` and, to export events, `event:read`.',
      params,
      body: backfillRequest,
      refusedBody: refusedOfBackfill,
      responses: { 200: { description: 'The backfill has started.', schema: backfillResponse } },
      examples: { request: range, response: { backfill_id: backfillExample.id } },
      handler: async ({ target: address, params: { id }, body }) =>
        transaction(async (tx) => {
          const row = requireFound(await lockBatchExport(tx, address, id));
          return begin(tx, address, { row, range: parseRange(body, row, new Date()) });
        }),
    }),
    ...defineRoutes({
      ...read,
      method: 'GET',
      path: `${path}/:id/backfills`,
      operationId: 'batch_exports_backfills_list',
      summary: 'List batch export backfills',
      description: 'Returns the backfills with their progress. By default, the newest backfill comes first.',
      params,
      query: backfillsQuery,
      refusedQuery: {
        cursor:
          'This list is paginated with `limit` and `offset`. Follow the URL in `next` instead of sending `cursor`.',
      },
      responses: { 200: { description: 'One page of backfills.', schema: offsetPageSchema(backfill) } },
      examples: { response: { count: 1, next: null, previous: null, results: [backfillExample] } },
      handler: async ({ target: address, params: { id }, query, request }) => {
        await requireExport(sql, address, id);
        const { ordering, ...paging } = query;
        return offsetPage(request, paging, async (window) => {
          const { count, rows } = await listBackfills(sql, id, { ...window, ordering });
          return { count, results: rows.map(toBackfill) };
        });
      },
    }),
    ...defineRoutes({
      ...write,
      method: 'POST',
      path: `${path}/:id/backfills/:backfill_id/cancel`,
      operationId: 'batch_exports_backfills_cancel_create',
      summary: 'Cancel a backfill',
      description: 'Cancels a backfill and all of its runs that have not finished yet.',
      params: backfillParams,
      responses: { 200: { description: 'The backfill was cancelled.', schema: cancelledResponse } },
      examples: { response: { cancelled: true } },
      handler: async ({ target: address, params: { id, backfill_id } }) =>
        transaction(async (tx) => {
          const row = await requireExport(tx, address, id);
          const status = requireFound(await cancelBackfill(tx, id, backfill_id));
          if (status !== 'Running') throw cannotCancel('backfill', status);
          await recordRunActivity(tx, address, {
            row,
            field: 'backfill',
            action: 'deleted',
            what: { id: backfill_id },
          });
          return { cancelled: true };
        }),
    }),
  ];
}

async function begin(
  tx: Transaction,
  address: ExportAddress,
  { row, range }: { row: BatchExportRow; range: Range & { byStoredTime?: boolean } },
): Promise<{ backfill_id: string }> {
  await requireExportScopes(tx, address, row);
  const { id, hasBegun } = await startBackfill(tx, row, range);
  const what = { id, ...written(range.start, range.end) };
  if (hasBegun) await recordRunActivity(tx, address, { row, field: 'backfill', action: 'created', what });
  return { backfill_id: id };
}

const written = (start: Date, end: Date) => ({ start_at: formatDateTime(start), end_at: formatDateTime(end) });

async function requireExport(sql: Sql, address: ExportAddress, id: string): Promise<BatchExportRow> {
  return requireFound(await findBatchExport(sql, address, id));
}

function requireFound<T>(row: T | undefined): T {
  if (row === undefined) throw new AppError('not_found', 'Not found.');
  return row;
}

function cannotCancel(what: string, status: string): AppError {
  return new AppError('invalid', `Cannot cancel a ${what} that is in '${status}' status`, { code: 'invalid_input' });
}
