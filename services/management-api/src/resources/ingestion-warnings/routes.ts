// The routes of ingestion warnings.

import type { Sql } from '@millrace/db';
import { decodeCursor, formatDateTime, freeFormObject, keysetPage, keysetPageOf, keysetQuery } from '@millrace/http';
import { Type } from 'typebox';
import { belowEnvironment } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import type { Searches } from '../../access/searches.ts';
import { endOfPage, type PageShares } from '../../sql/page-within-bytes.ts';
import { timePosition, timeRangeQuery, toTimePosition, toTimeRange } from '../../time/time-range.ts';
import { listIngestionWarnings } from './store.ts';

export function ingestionWarningRoutes({
  sql,
  searches,
  pageShares,
}: {
  sql: Sql;
  searches: Searches;
  pageShares: PageShares;
}) {
  return [
    ...defineRoutes({
      method: 'GET',
      below: belowEnvironment(sql),
      path: '/ingestion_warnings',
      operationId: 'ingestion_warnings_list',
      summary: 'List ingestion warnings',
      description: 'What was dropped or changed while events were taken in, and why; the newest first.',
      tags: ['ingestion warnings'],
      scope: 'ingestion_warning:read',
      query: Type.Object({
        ...keysetQuery,
        type: Type.Optional(Type.String({ description: 'Only warnings of this type.' })),
        ...timeRangeQuery,
      }),
      responses: { 200: { description: 'One page of warnings.', schema: keysetPageOf(ingestionWarning) } },
      examples: { response: { next: null, results: [ingestionWarningExample] } },
      handler: ({ caller, target, query, request }) =>
        pageShares.run(async (maxBytes) => {
          const from = toTimePosition(decodeCursor(timePosition, query.cursor));
          const filter = { ...toTimeRange(query), ...(query.type !== undefined && { type: query.type }) };
          const window = { from, limit: query.limit, maxBytes };
          const list = (on: Sql) => listIngestionWarnings(on, target.environmentId, filter, window);
          const isSearch = query.type !== undefined;
          const rows = isSearch ? await searches.run({ caller, target }, 'after and before', list) : await list(sql);
          const end = endOfPage(rows, (row) => ({ timestamp: row.timestamp.getTime(), id: row.id }));
          const warnings = rows.map((row) => ({ ...row, timestamp: formatDateTime(row.timestamp) }));
          return keysetPage(request, end, warnings);
        }),
    }),
  ];
}

const ingestionWarning = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the warning.' }),
    type: Type.String({ description: 'What happened, e.g. `missing_distinct_id`.' }),
    severity: Type.String({
      description: '`error`: an event was dropped; `warning`: kept but changed or partly refused; `info`: intended.',
    }),
    count: Type.Integer({ description: 'How many events the warning stands for.' }),
    details: freeFormObject({ description: 'Facts to act on.' }),
    timestamp: Type.String({ format: 'date-time', description: 'When it happened.' }),
  },
  { title: 'IngestionWarning' },
);

const ingestionWarningExample = {
  id: '0193f0c5-7a4e-7000-8000-00000000beef',
  type: 'missing_distinct_id',
  severity: 'error',
  count: 3,
  details: { samples: [{ index: 3, event: 'checkout' }] },
  timestamp: '2026-11-20T08:15:00.250000Z',
};
