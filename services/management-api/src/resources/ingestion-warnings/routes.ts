// The routes of ingestion warnings.

import type { Sql } from '@millrace/db';
import { decodeCursor, formatDateTime, freeFormObject, keysetPage, keysetPageOf, keysetQuery } from '@millrace/http';
import { Type } from 'typebox';
import { belowEnvironment } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import type { Searches } from '../../access/searches.ts';
import { endOfPage, type PageShares } from '../../sql/page-within-bytes.ts';
import { timePosition, timeRangeQuery, toTimePosition, toTimeRange, toTimeSpan } from '../../time/time-range.ts';
import { findTimeZone } from '../../time/time-zone-store.ts';
import { countIngestionWarnings, type HourOfWarnings, listIngestionWarnings } from './store.ts';

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
    ...defineRoutes({
      method: 'GET',
      below: belowEnvironment(sql),
      path: '/ingestion_warnings/counts',
      operationId: 'ingestion_warnings_counts',
      summary: 'Count ingestion warnings by type and hour',
      description: `How many events the warnings of each type stand for, in all and by hour of the project's time zone, the most frequent first. The last seven days unless \`after\` says otherwise, at most ${counted.most}.`,
      tags: ['ingestion warnings'],
      scope: 'ingestion_warning:read',
      query: Type.Object(timeRangeQuery),
      responses: { 200: { description: 'The counts.', schema: warningCounts } },
      examples: { response: warningCountsExample },
      handler: async ({ caller, target, query }) => {
        const { environmentId } = target;
        const span = { ...toTimeSpan(query, counted), timeZone: await findTimeZone(sql, environmentId) };
        const rows = await searches.run({ caller, target }, 'after and before', (on) =>
          countIngestionWarnings(on, environmentId, span),
        );
        return { results: byType(rows) };
      },
    }),
  ];
}

const dayMs = 86_400_000;
const counted = { usualMs: 7 * dayMs, mostMs: 31 * dayMs, most: '31 days' };

/** Puts the hours of each type together. @param rows hours of one type are beside each other, in their order. */
function byType(rows: readonly HourOfWarnings[]) {
  const types = new Map<string, HourOfWarnings[]>();
  for (const row of rows) {
    const name = `${row.severity} ${row.type}`;
    types.set(name, [...(types.get(name) ?? []), row]);
  }
  return [...types.values()]
    .map((hours) => {
      const [first, last] = [hours[0] as HourOfWarnings, hours.at(-1) as HourOfWarnings];
      return {
        type: first.type,
        severity: first.severity,
        count: hours.reduce((sum, { count }) => sum + count, 0),
        first_at: formatDateTime(first.first_at),
        last_at: formatDateTime(last.last_at),
        hours: hours.map(({ hour, count }) => ({ hour: formatDateTime(hour), count })),
      };
    })
    .sort((one, other) => other.count - one.count);
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

const warningCounts = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        type: Type.String({ description: 'What happened.' }),
        severity: Type.String({ description: '`error`, `warning` or `info`.' }),
        count: Type.Integer({ description: 'How many events the warnings stand for.' }),
        first_at: Type.String({ format: 'date-time', description: 'When it happened first in this time.' }),
        last_at: Type.String({ format: 'date-time', description: 'When it happened last in this time.' }),
        hours: Type.Array(
          Type.Object({
            hour: Type.String({ format: 'date-time', description: 'When the hour begins.' }),
            count: Type.Integer({ description: 'How many events its warnings stand for.' }),
          }),
          { description: 'The hours in which it happened, the earliest first.' },
        ),
      }),
      { description: 'One for each type.' },
    ),
  },
  { title: 'IngestionWarningCounts' },
);

const warningCountsExample = {
  results: [
    {
      type: 'missing_distinct_id',
      severity: 'error',
      count: 3,
      first_at: '2026-11-20T08:15:00.250000Z',
      last_at: '2026-11-20T08:15:00.250000Z',
      hours: [{ hour: '2026-11-20T08:00:00Z', count: 3 }],
    },
  ],
};

const ingestionWarningExample = {
  id: '0193f0c5-7a4e-7000-8000-00000000beef',
  type: 'missing_distinct_id',
  severity: 'error',
  count: 3,
  details: { samples: [{ index: 3, event: 'checkout' }] },
  timestamp: '2026-11-20T08:15:00.250000Z',
};
