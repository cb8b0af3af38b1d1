import type { Sql } from '@millrace/db';
import { decodeCursor, formatDateTime, keysetPage, keysetPageOf, keysetQuery } from '@millrace/http';
import { Type } from 'typebox';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { endOfPage } from '../../sql/end-of-page.ts';
import type { PageShares } from '../../sql/page-shares.ts';
import { timePosition, toTimePosition } from '../../time/time-position.ts';
import { timeRangeQuery, toTimeRange } from '../../time/time-range.ts';
import { ingestionWarning, ingestionWarningExample } from './ingestion-warning-schema.ts';
import { listIngestionWarnings } from './ingestion-warning-store.ts';

export function ingestionWarningRoutes({ sql, pageShares }: { sql: Sql; pageShares: PageShares }) {
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
      handler: ({ target, query, request }) =>
        pageShares.run(async (maxBytes) => {
          const from = toTimePosition(decodeCursor(timePosition, query.cursor));
          const filter = { ...toTimeRange(query), ...(query.type !== undefined && { type: query.type }) };
          const window = { from, limit: query.limit, maxBytes };
          const rows = await listIngestionWarnings(sql, target.environmentId, filter, window);
          const end = endOfPage(rows, (row) => ({ timestamp: row.timestamp.getTime(), id: row.id }));
          const warnings = rows.map((row) => ({ ...row, timestamp: formatDateTime(row.timestamp) }));
          return keysetPage(request, end, warnings);
        }),
    }),
  ];
}
