import type { Sql } from '@millrace/db';
import { decodeCursor, formatDateTime, freeFormObject, keysetPageSchema, keysetQuery } from '@millrace/http';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import type { Searches } from '../../access/searches.ts';
import type { LargePages } from '../../sql/large-page.ts';
import {
  decodeTimePosition,
  encodeTimePosition,
  timePosition,
  timeRangeQuery,
  toTimeRange,
  toTimeSpan,
} from '../../time/time-range.ts';
import { findTimeZone } from '../../time/time-zone-store.ts';
import { findWarningKind, outcomes } from '../live/warning-kinds.ts';
import { countIngestionWarnings, findWarningKeys, intervals, readWarnings, type WarningsOfInterval } from './store.ts';

const severities = ['error', 'warning', 'info'] as const;

const filterQuery = {
  type: Type.Optional(Type.String({ description: 'Only warnings of this type.' })),
  severity: Type.Optional(Type.Enum(severities, { description: 'Only warnings of this severity.' })),
  ...timeRangeQuery,
};

export function ingestionWarningRoutes({ sql, searches, pages }: { sql: Sql; searches: Searches; pages: LargePages }) {
  return [
    ...defineRoutes({
      method: 'GET',
      below: environmentBasePaths(sql),
      path: '/ingestion_warnings',
      operationId: 'ingestion_warnings_list',
      summary: 'List ingestion warnings',
      description: 'Returns warnings about events that were dropped or changed during ingestion, newest first.',
      tags: ['ingestion warnings'],
      scope: 'ingestion_warning:read',
      query: Type.Object({ ...keysetQuery, ...filterQuery }),
      responses: {
        200: { description: 'One page of ingestion warnings.', schema: keysetPageSchema(ingestionWarning) },
      },
      examples: { response: { next: null, results: [ingestionWarningExample] } },
      handler: async ({ caller, target, query, request }) => {
        const projectId = target.environmentId;
        const { type, severity } = query;
        const filter = { ...toTimeRange(query), type, severity };
        const isSearch = type !== undefined || severity !== undefined;
        return pages.page(request, {
          behind: decodeTimePosition(decodeCursor(timePosition, query.cursor)),
          limit: query.limit,
          findKeys(window) {
            const find = (on: Sql) => findWarningKeys(on, projectId, filter, window);
            return isSearch ? searches.run({ caller, target }, 'after and before', find) : find(sql);
          },
          async read(keys, maxBytes) {
            const { rows, used } = await readWarnings(sql, projectId, { keys, maxBytes });
            const toWarning = (row: (typeof rows)[number]) => ({
              ...row,
              ...findWarningKind(row),
              timestamp: formatDateTime(row.timestamp),
            });
            return { rows: rows.map(toWarning), used };
          },
          toCursor: encodeTimePosition,
        });
      },
    }),
    ...defineRoutes({
      method: 'GET',
      below: environmentBasePaths(sql),
      path: '/ingestion_warnings/counts',
      operationId: 'ingestion_warnings_counts',
      summary: 'Count ingestion warnings by type and time',
      description:
        'Returns the number of affected events for each type of warning, in total and by minute or hour in the project time zone, most ' +
        'frequent first. Without `after`, covers the last hour by minute or the last seven days by hour. Covers at most ' +
        `${spans.minute.most} or ${spans.hour.most}.`,
      tags: ['ingestion warnings'],
      scope: 'ingestion_warning:read',
      query: Type.Object({
        ...filterQuery,
        interval: Type.Enum(intervals, {
          default: 'hour',
          description: 'Interval length: `minute` or `hour`.',
        }),
      }),
      responses: { 200: { description: 'The counts.', schema: warningCounts } },
      examples: { response: warningCountsExample },
      handler: async ({ caller, target, query }) => {
        const { environmentId } = target;
        const { interval, type, severity } = query;
        const span = toTimeSpan(query, spans[interval]);
        const timeZone = await findTimeZone(sql, environmentId);
        const rows = await searches.run({ caller, target }, 'after and before', (on) =>
          countIngestionWarnings(on, environmentId, { ...span, type, severity, interval, timeZone }),
        );
        return { interval, timezone: timeZone, results: byType(rows) };
      },
    }),
  ];
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const spans = {
  minute: { usualMs: hourMs, maxMs: dayMs, most: '24 hours by minute' },
  hour: { usualMs: 7 * dayMs, maxMs: 31 * dayMs, most: '31 days by hour' },
};

/** Groups warnings by type. @param rows a list that is sorted by type, and within a type by time */
function byType(rows: readonly WarningsOfInterval[]) {
  const types = new Map<string, WarningsOfInterval[]>();
  for (const row of rows) {
    const name = `${row.severity} ${row.type}`;
    types.set(name, [...(types.get(name) ?? []), row]);
  }
  return [...types.values()]
    .map((times) => {
      const [first, last] = [times[0] as WarningsOfInterval, times.at(-1) as WarningsOfInterval];
      return {
        type: first.type,
        severity: first.severity,
        ...findWarningKind(first),
        count: times.reduce((sum, { count }) => sum + count, 0),
        first_at: formatDateTime(first.first_at),
        last_at: formatDateTime(last.last_at),
        counts: times.map(({ start, count }) => ({ start: formatDateTime(start), count })),
      };
    })
    .sort((one, other) => other.count - one.count);
}

const kindFields = {
  type: Type.String({ description: 'Type of the warning, for example `missing_distinct_id`.' }),
  severity: Type.String({
    description:
      '`error`: the event was dropped. `warning`: the event was stored, but parts of it were changed or rejected. `info`: the ' +
      'behavior is intended.',
  }),
  outcome: Type.Enum(outcomes, {
    description:
      'What happened to the event: `dropped` (not stored), `changed` (stored in a modified form) or `noted` (stored as sent).',
  }),
  detail: Type.String({ description: 'Human-readable explanation of what happened and what to do.' }),
  rule: Type.String({ description: 'Section of the documentation that explains the rule.' }),
};

const ingestionWarning = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'ID of the warning.' }),
    ...kindFields,
    count: Type.Integer({ description: 'Number of affected events.' }),
    details: freeFormObject({ description: 'Details such as examples of affected events.' }),
    timestamp: Type.String({ format: 'date-time', description: 'When the warning occurred.' }),
  },
  { title: 'IngestionWarning' },
);

const warningCounts = Type.Object(
  {
    interval: Type.String({ description: 'The requested interval.' }),
    timezone: Type.String({ description: 'Project time zone, in which the intervals are counted.' }),
    results: Type.Array(
      Type.Object({
        ...kindFields,
        count: Type.Integer({ description: 'Number of affected events.' }),
        first_at: Type.String({ format: 'date-time', description: 'First occurrence in the date range.' }),
        last_at: Type.String({ format: 'date-time', description: 'Last occurrence in the date range.' }),
        counts: Type.Array(
          Type.Object({
            start: Type.String({ format: 'date-time', description: 'Start of the minute or hour.' }),
            count: Type.Integer({ description: 'Number of affected events in this interval.' }),
          }),
          { description: 'Intervals with at least one occurrence, earliest first.' },
        ),
      }),
      { description: 'One entry for each type and severity.' },
    ),
  },
  { title: 'IngestionWarningCounts' },
);

const kindExample = {
  type: 'missing_distinct_id',
  severity: 'error',
  ...findWarningKind({ type: 'missing_distinct_id', severity: 'error' }),
};

const warningCountsExample = {
  interval: 'hour',
  timezone: 'UTC',
  results: [
    {
      ...kindExample,
      count: 3,
      first_at: '2026-11-20T08:15:00.250000Z',
      last_at: '2026-11-20T08:15:00.250000Z',
      counts: [{ start: '2026-11-20T08:00:00Z', count: 3 }],
    },
  ],
};

const ingestionWarningExample = {
  id: '0193f0c5-7a4e-7000-8000-00000000beef',
  ...kindExample,
  count: 3,
  details: { samples: [{ index: 3, event: 'checkout' }] },
  timestamp: '2026-11-20T08:15:00.250000Z',
};
