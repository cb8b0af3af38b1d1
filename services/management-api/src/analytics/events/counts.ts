import { formatDateTime } from '@millrace/http';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { toTimeSpan } from '../../time/time-range.ts';
import { findTimeZone } from '../../time/time-zone-store.ts';
import { readListFilters } from '../property-filters/parse-property-filters.ts';
import { countEvents, createEventRead } from './reads.ts';
import { type EventDeps, suggestFasterParameters } from './routes.ts';
import { eventFilterQuery, owners } from './schema.ts';
import { intervals } from './store.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/**
 * Default and maximum time range for each interval. The maximum limits the size of the response, because the response
 * has one object per interval.
 */
const spans = {
  minute: { usualMs: hourMs, maxMs: dayMs, most: '24 hours by minute' },
  hour: { usualMs: dayMs, maxMs: 62 * dayMs, most: '62 days by hour' },
  day: { usualMs: 30 * dayMs, maxMs: 1100 * dayMs, most: '1100 days by day' },
};

export function eventCountRoutes({ sql, searches, externalEventStore }: EventDeps) {
  return defineRoutes({
    method: 'GET',
    below: environmentBasePaths(sql),
    path: '/events/counts',
    operationId: 'events_counts',
    summary: 'Count events over time',
    description:
      'Returns the number of events in each minute, hour or day in the project time zone. The filters are the same as ' +
      'for listing events. Without `after`, counts the last hour by minute, the last day by hour, or the last 30 ' +
      `days by day. The maximum is ${spans.minute.most}, ${spans.hour.most} or ${spans.day.most}.`,
    tags: ['events'],
    scope: 'event:read',
    query: Type.Object({
      ...eventFilterQuery,
      interval: Type.Enum(intervals, {
        default: 'hour',
        description: 'Interval length: `minute`, `hour` or `day`.',
      }),
    }),
    responses: { 200: { description: 'The event counts.', schema: eventCounts } },
    examples: { response: eventCountsExample },
    handler: async ({ caller, target, query, request }) => {
      const projectId = target.environmentId;
      const { interval, properties, after, before, ...exact } = query;
      const filter = {
        ...exact,
        ...toTimeSpan({ after, before }, spans[interval]),
        properties: await readListFilters(sql, projectId, { text: properties, owners }),
      };
      const timeZone = await findTimeZone(sql, projectId);
      const rows = await searches.run({ caller, target }, suggestFasterParameters(query), (on) =>
        countEvents(
          createEventRead(externalEventStore, { sql: on, projectId, signal: request.disconnectSignal() }),
          filter,
          {
            interval,
            timeZone,
          },
        ),
      );
      return {
        interval,
        timezone: timeZone,
        total: rows.reduce((sum, { count }) => sum + count, 0),
        results: rows.map(({ start_ms, count }) => ({ start: formatDateTime(new Date(start_ms)), count })),
      };
    },
  });
}

const eventCounts = Type.Object(
  {
    interval: Type.String({ description: 'Interval length, as requested.' }),
    timezone: Type.String({ description: 'Project time zone, in which the intervals begin.' }),
    total: Type.Integer({ description: 'Total number of events in all intervals.' }),
    results: Type.Array(
      Type.Object({
        start: Type.String({
          format: 'date-time',
          description:
            'Start of the interval. The first and last intervals are cut off at `after` and `before`. A day can have 23 or 25 hours.',
        }),
        count: Type.Integer({ description: 'Number of events in the interval.' }),
      }),
      { description: 'All intervals, earliest first. Intervals without events are included.' },
    ),
  },
  { title: 'EventCounts' },
);

const eventCountsExample = {
  interval: 'hour',
  timezone: 'UTC',
  total: 3,
  results: [
    { start: '2026-11-20T08:00:00Z', count: 3 },
    { start: '2026-11-20T09:00:00Z', count: 0 },
  ],
};
