// Schemas for a query request, its result, and the status of a background query.

import { freeFormObject, orNull } from '@millrace/http';
import { queryKinds } from '@millrace/insights';
import { Type } from 'typebox';
import { csvDeclaration } from './csv.ts';
import { refreshModes } from './query-runner.ts';

/** A wrapper in which clients describe how to draw the result. Only its `source` is run. */
const wrappedQuery = Type.Object(
  {
    kind: Type.String({ description: '`InsightVizNode`, `DataTableNode`, `DataVisualizationNode`, or a query kind.' }),
    source: Type.Optional(
      Type.Unknown({
        description: 'The query to run if `kind` is `InsightVizNode`, `DataTableNode` or `DataVisualizationNode`.',
      }),
    ),
  },
  { title: 'QueryNode' },
);

export const queryRequest = Type.Object(
  {
    query: Type.Union([...Object.values(queryKinds), wrappedQuery], {
      description: 'The query to run. Null fields are treated as absent. Unknown fields are rejected.',
    }),
    refresh: Type.Optional(
      Type.Union([Type.Enum([...refreshModes]), Type.Boolean(), Type.Null()], {
        description:
          'Whether to return a cached result or compute a new one. `blocking` (default): returns the cached result ' +
          'if it is ' +
          'fresh, and otherwise computes a new one while the request waits. `force_blocking`: always computes a ' +
          'new one ' +
          'while the request waits. `async`: runs the query in the background unless the cached result is fresh. ' +
          '`lazy_async`: like `async`, but also accepts a slightly stale result. `force_async`: always runs the ' +
          'query in the background. `async_except_on_cache_miss`: like `async`, but computes the result while the ' +
          'request ' +
          'waits if no result is cached. `force_cache`: same as `blocking`. true means `force_blocking`, false means ' +
          '`blocking`.',
      }),
    ),
    async: Type.Optional(
      orNull(Type.Boolean(), 'Deprecated. True has the same effect as setting `refresh` to `async`.'),
    ),
    client_query_id: Type.Optional(
      orNull(
        Type.String({ minLength: 1, maxLength: 128 }),
        'ID chosen by the client. The client can use this ID to read the status of a background query, or to ' +
          'cancel the query.',
      ),
    ),
    filters_override: Type.Optional(
      orNull(
        freeFormObject({}),
        'Dashboard filters to apply to the query: `date_from`, `date_to`, `properties`, `breakdown_filter`.',
      ),
    ),
    variables_override: Type.Optional(
      orNull(
        freeFormObject({}),
        'Variables of an SQL query, by variable ID. They take precedence over `variables` in the query.',
      ),
    ),
    name: Type.Optional(orNull(Type.String({ maxLength: 128 }), 'Query name for logs. Has no effect.')),
  },
  { title: 'QueryRequest', additionalProperties: false },
);

const refusedBody = {
  limit_context: {
    detail:
      '`limit_context` is not supported, because limits do not depend on the client. Leave it out, and set `limit` ' +
      'in ' +
      'the query.',
    unless: [null],
  },
};

const nothing = (description: string) => Type.Null({ description });
const optional = Type.Optional;

const queryResult = Type.Object(
  {
    results: Type.Unknown({
      description:
        'Depends on the query kind: series, funnel steps, retention cohorts, numbers, or rows of column values.',
    }),
    hasMore: optional(
      Type.Boolean({ description: 'Whether there are more rows or breakdown values than were returned.' }),
    ),
    columns: optional(Type.Array(Type.String(), { description: 'Column names of the rows.' })),
    types: optional(
      Type.Array(Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 2, maxItems: 2 })]), {
        description: 'Types of the columns. For SQL queries, pairs of the column name and the ClickHouse type.',
      }),
    ),
    limit: optional(Type.Integer({ description: 'Maximum number of rows per page.' })),
    offset: optional(Type.Integer({ description: 'Number of rows before the first row on this page.' })),
    missing_actors_count: optional(
      Type.Integer({ description: 'Number of persons in the result that no longer exist.' }),
    ),
    resolved_date_range: optional(
      Type.Object(
        {
          date_from: Type.String({ description: 'Start of the date range.' }),
          date_to: Type.String({ description: 'End of the date range, inclusive.' }),
        },
        { title: 'ResolvedDateRange', description: 'Date range of the query, in the project time zone.' },
      ),
    ),
    dateFrom: optional(
      Type.String({ description: 'Start of the date range of a `WebOverviewQuery`, in the project time zone.' }),
    ),
    dateTo: optional(
      Type.String({
        description: 'End of the date range of a `WebOverviewQuery`, inclusive, in the project time zone.',
      }),
    ),
    isValid: optional(Type.Boolean({ description: 'For `HogQLMetadata`: whether the SQL query can run.' })),
    query: optional(
      Type.String({
        description: 'The text of an SQL query as sent, or for `HogQLMetadata` the text that was checked.',
      }),
    ),
    errors: optional(
      Type.Array(
        Type.Object(
          {
            message: Type.String({ description: 'Description of the error.' }),
            start: optional(Type.Integer({ description: 'Offset of the first character.' })),
            end: optional(Type.Integer({ description: 'Offset after the last character.' })),
          },
          { title: 'HogQLNotice' },
        ),
        { description: 'For `HogQLMetadata`: the first error of the SQL query, with its place.' },
      ),
    ),
    warnings: optional(
      Type.Array(Type.Unknown(), {
        description: 'For `HogQLMetadata`: the parts of the SQL query that have no effect.',
      }),
    ),
    notices: optional(
      Type.Array(Type.Unknown(), {
        description: 'For `HogQLMetadata`: hints about a query that can run, each with `message`, `start` and `end`.',
      }),
    ),
    table_names: optional(
      Type.Array(Type.String(), { description: 'For `HogQLMetadata`: the tables that the SQL query reads.' }),
    ),
    tables: optional(
      freeFormObject({
        description:
          'For `DatabaseSchemaQuery`: the tables that SQL can read, by name, each with its `fields`. A field has `name`, ' +
          '`type`, `hogql_value` and `schema_valid`. An object of fields also has `table` and `fields`.',
      }),
    ),
    joins: optional(Type.Array(Type.Unknown(), { description: 'For `DatabaseSchemaQuery`: always empty.' })),
    functions: optional(
      Type.Array(
        Type.Object(
          {
            name: Type.String({ description: 'Name of the function.' }),
            type: Type.Enum(['scalar', 'aggregate', 'window'], { description: 'Kind of the function.' }),
          },
          { title: 'SqlFunction' },
        ),
        { description: 'For `DatabaseSchemaQuery`: the functions that SQL can call.' },
      ),
    ),
    timings: nothing('Always null.'),
    hogql: Type.String({ description: 'Text of an SQL query with its placeholders replaced. Empty for other kinds.' }),
    modifiers: nothing('Always null.'),
    error: nothing('Always null.'),
    query_status: nothing('Null, because the result is complete.'),
    is_cached: Type.Boolean({ description: 'Whether this is a cached result.' }),
    last_refresh: Type.String({ format: 'date-time', description: 'When the result was computed.' }),
    next_allowed_client_refresh: Type.String({
      format: 'date-time',
      description: 'Time from which clients should request a newer result. Earlier requests are not rejected.',
    }),
    cache_target_age: Type.String({
      format: 'date-time',
      description: 'Time until which the cached result is considered fresh.',
    }),
    cache_key: Type.String({ description: 'Key of the cached result. Equal queries have the same key.' }),
    timezone: Type.String({ description: 'Project time zone. All days in the result are in this time zone.' }),
  },
  { title: 'QueryAnswer' },
);

const responseExample = {
  results: [{ data: [2, 0, 1], days: ['2026-11-18', '2026-11-19', '2026-11-20'], count: 3, label: 'order placed' }],
  hasMore: false,
  timings: null,
  hogql: '',
  modifiers: null,
  error: null,
  query_status: null,
  is_cached: false,
  last_refresh: '2026-11-20T14:30:00Z',
  next_allowed_client_refresh: '2026-11-20T14:33:00Z',
  cache_target_age: '2026-11-20T20:30:00Z',
  cache_key: 'cache_5f1c0b9e2d7a4c3f8e6b1a0d9c8b7a65',
  timezone: 'UTC',
};

const time = (description: string) => Type.String({ format: 'date-time', description });

const queryStatus = Type.Object(
  {
    id: Type.String({ description: 'ID of the query. Use this ID to read the query status or to cancel the query.' }),
    query_async: Type.Literal(true, { description: 'Always true.' }),
    team_id: Type.Integer({ description: 'ID of the project.' }),
    insight_id: Type.Union([Type.Integer(), Type.Null()], {
      description: 'ID of the insight that the query belongs to. Null if the query does not belong to an insight.',
    }),
    dashboard_id: Type.Union([Type.Integer(), Type.Null()], {
      description: 'ID of the dashboard that the query belongs to. Null if the query does not belong to a dashboard.',
    }),
    complete: Type.Boolean({ description: 'Whether the query has ended, successfully or not.' }),
    error: Type.Boolean({ description: 'Whether the query failed.' }),
    error_message: Type.Union([Type.String(), Type.Null()], {
      description: 'Why the query failed. Null if the query did not fail.',
    }),
    results: Type.Unknown({
      description: 'The complete response once the query has ended successfully, otherwise null.',
    }),
    start_time: time('When the query was requested.'),
    pickup_time: time('When the query started to run.'),
    end_time: Type.Union([time('When the query ended.'), Type.Null()], {
      description: 'When the query ended. Null while the query is running.',
    }),
    expiration_time: time('Time until which the status can be read.'),
    task_id: nothing('Always null.'),
    query_progress: nothing('Always null.'),
    labels: nothing('Always null.'),
  },
  { title: 'QueryStatus', description: 'Status of a background query.' },
);
export const statusResponse = Type.Object({ query_status: queryStatus }, { title: 'QueryStatusAnswer' });
/** The response while a query is still running, with the cached result if there is one. */
const runningQuery = Type.Object(
  { ...Type.Partial(queryResult).properties, query_status: queryStatus },
  { title: 'QueryUnderWay' },
);

export const statusExample = {
  query_status: {
    id: '5f1c0b9e2d7a4c3f8e6b1a0d9c8b7a65',
    query_async: true,
    team_id: 1,
    insight_id: null,
    dashboard_id: null,
    complete: false,
    error: false,
    error_message: null,
    results: null,
    start_time: '2026-11-20T14:30:00Z',
    pickup_time: '2026-11-20T14:30:00Z',
    end_time: null,
    expiration_time: '2026-11-20T14:50:00Z',
    task_id: null,
    query_progress: null,
    labels: null,
  },
};

export const exampleQuery = {
  kind: 'TrendsQuery',
  dateRange: { date_from: '-7d' },
  series: [{ kind: 'EventsNode', event: 'order placed' }],
};
export const queryDeclaration = {
  query: Type.Object({
    format: Type.Optional(
      Type.String({ description: '`csv` returns the results as a CSV file. Any other value returns JSON.' }),
    ),
  }),
  body: queryRequest,
  refusedBody,
  responses: {
    200: { description: 'The result of the query.', schema: queryResult, text: csvDeclaration },
    202: {
      description: 'The query is running in the background. The response contains the cached result, if one exists.',
      schema: runningQuery,
    },
  },
  examples: { request: { query: exampleQuery }, response: responseExample },
};

export const queryUpgrade = Type.Object(
  { query: freeFormObject({ description: 'A query of any kind.' }) },
  { title: 'QueryUpgrade' },
);
