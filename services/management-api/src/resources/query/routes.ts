// Insight queries: what is asked in one request and answered in it.

import type { Sql } from '@millrace/db';
import { freeFormObject } from '@millrace/http';
import { queryKinds } from '@millrace/insights';
import { Type } from 'typebox';
import { belowEnvironment } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import type { Questions } from './questions.ts';

/** Accepted by clients that say how the answer is drawn; the source is what is asked. */
const wrappedQuery = Type.Object(
  {
    kind: Type.String({ description: '`InsightVizNode`, `DataTableNode`, or one of the kinds that are asked.' }),
    source: Type.Optional(Type.Unknown({ description: 'The query that is asked.' })),
  },
  { title: 'QueryNode' },
);

const refreshModes = [
  ...['blocking', 'force_blocking', 'async', 'lazy_async', 'force_async', 'async_except_on_cache_miss', 'force_cache'],
];

const body = Type.Object(
  {
    query: Type.Union([...Object.values(queryKinds), wrappedQuery], {
      description: 'What is asked. A field that is null counts as absent; one that is not known is refused.',
    }),
    refresh: Type.Optional(Type.Enum(refreshModes, { description: 'Every mode computes the answer in the request.' })),
    client_query_id: Type.Optional(
      Type.String({ maxLength: 128, description: 'A name of the client’s own for the request.' }),
    ),
    filters_override: Type.Optional(
      freeFormObject({
        description: 'Filters of a dashboard: `date_from`, `date_to`, `properties`, `breakdown_filter`.',
      }),
    ),
    name: Type.Optional(Type.String({ maxLength: 128, description: 'For logs.' })),
  },
  { title: 'QueryRequest' },
);

const nothing = (description: string) => Type.Null({ description });
const optional = Type.Optional;

const answer = Type.Object(
  {
    results: Type.Unknown({ description: 'By the kind of query: series, steps, rows of cohorts, or rows of columns.' }),
    hasMore: optional(Type.Boolean({ description: 'There are more rows, or more values of the breakdown.' })),
    columns: optional(Type.Array(Type.String(), { description: 'Names of what each row holds.' })),
    types: optional(Type.Array(Type.String(), { description: 'Of the columns.' })),
    limit: optional(Type.Integer({ description: 'Rows of a page.' })),
    offset: optional(Type.Integer({ description: 'Rows before the page.' })),
    missing_actors_count: optional(Type.Integer({ description: 'Persons that are not there any more.' })),
    resolved_date_range: optional(
      Type.Object(
        {
          date_from: Type.String({ description: 'First moment.' }),
          date_to: Type.String({ description: 'Last moment.' }),
        },
        { title: 'ResolvedDateRange', description: 'The range in the zone of the project.' },
      ),
    ),
    timings: nothing('Always null.'),
    hogql: Type.String({ description: 'Always empty.' }),
    modifiers: nothing('Always null.'),
    error: nothing('Always null.'),
    query_status: nothing('Always null: the answer is complete.'),
    is_cached: Type.Boolean({ description: 'Whether it was computed before.' }),
    last_refresh: Type.String({ format: 'date-time', description: 'When it was computed.' }),
    next_allowed_client_refresh: Type.String({
      format: 'date-time',
      description: 'Before, clients need not ask again.',
    }),
    cache_target_age: Type.String({ format: 'date-time', description: 'Until then it counts as fresh.' }),
    cache_key: Type.String({ description: 'The same for the same question.' }),
    timezone: Type.String({ description: 'The zone of all days: that of the project.' }),
  },
  { title: 'QueryAnswer' },
);

const responseExample = {
  results: [{ data: [2, 0, 1], days: ['2026-11-18', '2026-11-19', '2026-11-20'], count: 3, label: 'order placed' }],
  hasMore: false,
  ...{ timings: null, hogql: '', modifiers: null, error: null, query_status: null },
  is_cached: false,
  last_refresh: '2026-11-20T14:30:00Z',
  next_allowed_client_refresh: '2026-11-20T14:33:00Z',
  cache_target_age: '2026-11-20T20:30:00Z',
  cache_key: 'cache_5f1c0b9e2d7a4c3f8e6b1a0d9c8b7a65',
  timezone: 'UTC',
};

export function queryRoutes({ sql, questions }: { sql: Sql; questions: Questions }) {
  return defineRoutes({
    method: 'POST',
    below: belowEnvironment(sql),
    path: '/query',
    operationId: 'query_create',
    summary: 'Ask an insight query',
    description:
      'Trends, funnels, retention, lifecycle, events, and the persons or groups behind a number. Days are those of the project. A query that takes too long is refused with 400 `query_timeout`, one that reads too much with `query_too_large`; it ends in the database when the client leaves.',
    tags: ['query'],
    scope: 'query:read',
    body,
    responses: { 200: { description: 'The answer.', schema: answer } },
    examples: {
      request: {
        query: {
          kind: 'TrendsQuery',
          dateRange: { date_from: '-7d' },
          series: [{ kind: 'EventsNode', event: 'order placed' }],
        },
      },
      response: responseExample,
    },
    handler: async ({ caller, target, body: { query, filters_override: filters }, request }) => ({
      ...{ timings: null, hogql: '', modifiers: null, error: null, query_status: null },
      ...(await questions.ask({ caller, target }, { query, filters, signal: request.leaves() })),
    }),
  });
}
