import { defineRoute } from '../../access/define-route.ts';
import type { BatchExportDeps } from './batch-export-deps.ts';
import { newBatchExportExample, pausedState, pauseRequest, unpauseRequest } from './batch-export-schema.ts';
import { exportAddress, type Family } from './export-address.ts';
import { recordExportActivity } from './record-export-activity.ts';
import { setPaused } from './write-batch-export.ts';

/** Pausing and going on (docs/api-rules.md#ordered-routes, rows 1 and 2). */
export function pauseRoutes(family: Family, { sql, transaction, destinationSecrets }: BatchExportDeps) {
  const { path, params, target } = exportAddress(family, sql);
  const tags: [string] = ['batch_exports'];
  return [
    defineRoute({
      method: 'POST',
      path: `${path}/:id/pause`,
      operationId: `${family}_batch_exports_pause_create`,
      summary: 'Pause a batch export',
      description: 'No run is triggered until it is unpaused. Pausing a paused one changes nothing.',
      tags,
      scope: 'batch_export:write',
      params,
      body: pauseRequest,
      responses: { 200: { description: 'It is paused.', schema: pausedState, onlyIfPreferred: true } },
      examples: { request: newBatchExportExample, response: { paused: true } },
      target,
      handler: async ({ target: address, params: { id } }) =>
        transaction(async (tx) => {
          const change = await setPaused(tx, { address, id }, { paused: true, now: new Date(), destinationSecrets });
          if (change) await recordExportActivity(tx, address, { activity: 'updated', ...change });
          return { paused: true };
        }),
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/:id/unpause`,
      operationId: `${family}_batch_exports_unpause_create`,
      summary: 'Unpause a batch export',
      description:
        'Runs are triggered again from the running interval on. `backfill: true` also exports what was missed since the pause.',
      tags,
      scope: 'batch_export:write',
      params,
      body: unpauseRequest,
      responses: { 200: { description: 'It is not paused.', schema: pausedState, onlyIfPreferred: true } },
      examples: { request: { backfill: true }, response: { paused: false } },
      target,
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
