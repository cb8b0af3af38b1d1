import type { Sql } from '@millrace/db';
import {
  cutPage,
  decodeCursor,
  formatDateTime,
  keysetPage,
  keysetPageOf,
  keysetQuery,
  rowsToFetch,
} from '@millrace/http';
import { Type } from 'typebox';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { timePlace, timeRangeQuery, toTimePlace } from '../time-place.ts';
import { ingestionWarning, ingestionWarningExample } from './ingestion-warning-schema.ts';
import { listIngestionWarnings } from './ingestion-warning-store.ts';

export function ingestionWarningRoutes({ sql }: { sql: Sql }) {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/projects/:project_id/ingestion_warnings',
      operationId: 'ingestion_warnings_list',
      summary: 'List ingestion warnings',
      description: 'What was dropped or changed while events were taken in, and why; the newest first.',
      tags: ['ingestion warnings'],
      scope: 'ingestion_warning:read',
      params: projectParams,
      query: Type.Object({
        ...keysetQuery,
        type: Type.Optional(Type.String({ description: 'Only warnings of this type.' })),
        ...timeRangeQuery,
      }),
      responses: { 200: { description: 'One page of warnings.', schema: keysetPageOf(ingestionWarning) } },
      examples: { response: { next: null, results: [ingestionWarningExample] } },
      target: addressedProject(sql),
      handler: async ({ target, query, request }) => {
        const from = toTimePlace(decodeCursor(timePlace, query.cursor));
        const found = await listIngestionWarnings(sql, target.environmentId, query, {
          from,
          limit: rowsToFetch(query),
        });
        const page = cutPage(found, query, (row) => ({ timestamp: row.timestamp.getTime(), id: row.id }));
        const warnings = page.rows.map((row) => ({ ...row, timestamp: formatDateTime(row.timestamp) }));
        return keysetPage(request, page, warnings);
      },
    }),
  ];
}
