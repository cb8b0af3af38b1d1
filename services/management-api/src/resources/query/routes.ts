// Insight queries: what is asked in one request and answered in it.

import type { Sql } from '@millrace/db';
import { type ApiRequest, freeFormObject, orNull, WithStatus } from '@millrace/http';
import { queryKinds } from '@millrace/insights';
import { AppError } from '@millrace/runtime';
import { type Static, Type } from 'typebox';
import { belowEnvironment } from '../../access/addressed-project.ts';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { csvContent, csvDeclaration } from './csv.ts';
import { type Questions, type RefreshMode, refreshModes } from './questions.ts';

/** Accepted by clients that say how the answer is drawn; the source is what is asked. */
const wrappedQuery = Type.Object(
  {
    kind: Type.String({ description: '`InsightVizNode`, `DataTableNode`, or one of the kinds that are asked.' }),
    source: Type.Optional(Type.Unknown({ description: 'The query that is asked.' })),
  },
  { title: 'QueryNode' },
);

const body = Type.Object(
  {
    query: Type.Union([...Object.values(queryKinds), wrappedQuery], {
      description: 'What is asked. A field that is null counts as absent; one that is not known is refused.',
    }),
    refresh: Type.Optional(
      Type.Union([Type.Enum([...refreshModes]), Type.Boolean(), Type.Null()], {
        description:
          '`blocking` (default): an answer that is fresh, or computed now. `force_blocking`: computed now. `async`, `lazy_async`, `force_async`: behind the request, unless what is kept is fresh, or not too old. `async_except_on_cache_miss`: as `async`, but the first time now. `force_cache`: as `blocking`. true is `force_blocking`, false `blocking`.',
      }),
    ),
    async: Type.Optional(orNull(Type.Boolean(), 'The former way to say `refresh` `async`.')),
    client_query_id: Type.Optional(
      orNull(
        Type.String({ minLength: 1, maxLength: 128 }),
        'A name of the client’s own, under which the answer behind the request is asked for.',
      ),
    ),
    filters_override: Type.Optional(
      orNull(freeFormObject({}), 'Filters of a dashboard: `date_from`, `date_to`, `properties`, `breakdown_filter`.'),
    ),
    variables_override: Type.Optional(
      orNull(freeFormObject({}), 'For clients that send it: queries have no variables.'),
    ),
    name: Type.Optional(orNull(Type.String({ maxLength: 128 }), 'For logs.')),
  },
  { title: 'QueryRequest', additionalProperties: false },
);

const refusedBody = {
  limit_context: {
    detail: 'Limits do not depend on the client. Leave `limit_context` out, and send `limit` in the query.',
    unless: [null],
  },
};

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
    query_status: nothing('Null: the answer is complete.'),
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

const time = (description: string) => Type.String({ format: 'date-time', description });

const queryStatus = Type.Object(
  {
    id: Type.String({ description: 'Under which it is asked for and cancelled.' }),
    query_async: Type.Literal(true, { description: 'Always true.' }),
    team_id: Type.Integer({ description: 'Number of the project.' }),
    insight_id: Type.Union([Type.Integer(), Type.Null()], { description: 'The insight it is for.' }),
    dashboard_id: Type.Union([Type.Integer(), Type.Null()], { description: 'The dashboard it is for.' }),
    complete: Type.Boolean({ description: 'Whether it is over.' }),
    error: Type.Boolean({ description: 'Whether it failed.' }),
    error_message: Type.Union([Type.String(), Type.Null()], { description: 'Why it failed.' }),
    results: Type.Unknown({ description: 'The whole answer once it is complete; null before.' }),
    start_time: time('When it was asked.'),
    pickup_time: time('When it began.'),
    end_time: Type.Union([time('When it was over.'), Type.Null()], { description: 'When it was over.' }),
    expiration_time: time('Until then it can be asked for.'),
    task_id: nothing('Always null.'),
    query_progress: nothing('Always null.'),
    labels: nothing('Always null.'),
  },
  { title: 'QueryStatus', description: 'How far it is.' },
);
const statusAnswer = Type.Object({ query_status: queryStatus }, { title: 'QueryStatusAnswer' });
/** What is kept of an answer may come with it. */
const behindAnswer = Type.Object(
  { ...Type.Partial(answer).properties, query_status: queryStatus },
  { title: 'QueryUnderWay' },
);

const statusExample = {
  query_status: {
    ...{ id: '5f1c0b9e2d7a4c3f8e6b1a0d9c8b7a65', query_async: true, team_id: 1, insight_id: null, dashboard_id: null },
    ...{ complete: false, error: false, error_message: null, results: null },
    ...{ start_time: '2026-11-20T14:30:00Z', pickup_time: '2026-11-20T14:30:00Z', end_time: null },
    ...{ expiration_time: '2026-11-20T14:50:00Z', task_id: null, query_progress: null, labels: null },
  },
};

const exampleQuery = {
  kind: 'TrendsQuery',
  dateRange: { date_from: '-7d' },
  series: [{ kind: 'EventsNode', event: 'order placed' }],
};
/** What asking takes and answers, however the path is written. */
const asked = {
  query: Type.Object({
    format: Type.Optional(Type.String({ description: '`csv` for the results as a file; else JSON.' })),
  }),
  body,
  refusedBody,
  responses: {
    200: { description: 'The answer.', schema: answer, text: csvDeclaration },
    202: { description: 'It is answered behind the request.', schema: behindAnswer },
  },
  examples: { request: { query: exampleQuery }, response: responseExample },
};

function readRefreshOfQuery(wanted: RefreshMode | boolean): RefreshMode {
  if (typeof wanted === 'boolean') return wanted ? 'force_blocking' : 'blocking';
  return wanted === 'force_cache' ? 'blocking' : wanted;
}

interface Asking {
  caller: Caller;
  target: AddressedProject;
  query: Static<typeof asked.query>;
  body: Static<typeof body>;
  request: ApiRequest;
}

const upgraded = Type.Object(
  { query: freeFormObject({ description: 'A query of any kind.' }) },
  { title: 'QueryUpgrade' },
);

const complete = { timings: null, hogql: '', modifiers: null, error: null } as const;

export function queryRoutes({ sql, questions }: { sql: Sql; questions: Questions }) {
  const tags: [string] = ['query'];
  const common = { below: belowEnvironment(sql), tags, scope: 'query:read' } as const;
  const params = Type.Object({
    query_id: Type.String({ maxLength: 128, description: 'The `client_query_id`, or the `id` of the status.' }),
  });
  async function ask({ caller, target, body, request, query: { format } }: Asking) {
    const { query, ...more } = body;
    // Clients send null for what they do not say.
    const filters = more.filters_override ?? undefined;
    const id = more.client_query_id ?? undefined;
    const wanted = more.refresh ?? (more.async === true ? 'async' : 'blocking');
    const refresh = readRefreshOfQuery(wanted);
    const question = { query, filters, refresh, signal: request.leaves(), run: { id } };
    const { answer: found, status } = await questions.ask({ caller, target }, question);
    if (status !== null) return new WithStatus(202, { ...(found && { ...complete, ...found }), query_status: status });
    if (found === null) throw new AppError('internal', 'The query has neither an answer nor a status.');
    if (format === 'csv') return csvContent(found, 'query');
    return { ...complete, query_status: null, ...found };
  }
  return [
    ...defineRoutes({
      ...common,
      ...asked,
      method: 'POST',
      path: '/query',
      operationId: 'query_create',
      summary: 'Ask an insight query',
      description:
        'Trends, funnels, retention, lifecycle, events, and the persons or groups behind a number. Days are those of the project. Answers are kept: one that is fresh is given again, and says when it was computed. A query that takes too long is refused with 400 `query_timeout`, one that reads too much with `query_too_large`; it ends in the database when the client leaves. A project has three under way at a time; the next waits, then it is 429.',
      handler: ask,
    }),
    ...defineRoutes({
      ...common,
      method: 'POST',
      path: '/query/upgrade',
      operationId: 'query_upgrade',
      summary: 'Bring a query into the newest form',
      description: 'There is one form: the query comes back as it was sent.',
      body: upgraded,
      responses: { 200: { description: 'The query.', schema: upgraded } },
      examples: { request: { query: exampleQuery }, response: { query: exampleQuery } },
      handler: async ({ body: { query } }) => ({ query }),
    }),
    ...defineRoutes({
      ...common,
      method: 'POST',
      path: '/query/check_auth_for_async',
      operationId: 'query_check_auth_for_async',
      summary: 'Ask whether queries may be asked',
      description: 'Answers where a query would be answered.',
      responses: {
        200: {
          description: 'They may.',
          schema: Type.Object({ user: Type.String({ description: 'Always `ok`.' }) }, { title: 'QueryAuth' }),
        },
      },
      examples: { response: { user: 'ok' } },
      handler: async () => ({ user: 'ok' }),
    }),
    ...defineRoutes({
      ...common,
      ...asked,
      method: 'POST',
      path: '/query/:query_id',
      operationId: 'query_create_by_kind',
      summary: 'Ask an insight query of one kind',
      description: 'As without the kind in the path, which has to be that of the query.',
      // The name that the path has for all its methods.
      params: Type.Object({
        query_id: Type.String({ maxLength: 128, description: 'The `kind` of the query, e.g. `TrendsQuery`.' }),
      }),
      handler: async (input) => {
        const { kind } = input.body.query;
        if (kind === input.params.query_id) return ask(input);
        const detail = `The query is a ${kind}, and the path says ${input.params.query_id}.`;
        throw new AppError('invalid', detail, { code: 'invalid_input', attr: 'query' });
      },
    }),
    ...defineRoutes({
      ...common,
      method: 'GET',
      path: '/query/:query_id',
      operationId: 'query_retrieve',
      summary: 'Show how far a query is',
      description:
        'The status of a query that the caller runs in the background, for twenty minutes. A failed one is 400, with the reason in its status.',
      params,
      responses: {
        200: { description: 'It is complete; `results` is the whole answer.', schema: statusAnswer },
        202: { description: 'It is under way.', schema: statusAnswer },
        400: { description: 'It failed.', schema: statusAnswer },
      },
      examples: { response: statusExample },
      handler: async ({ target, params: { query_id: id } }) => {
        const status = await questions.status(target, id);
        if (status === null) throw new AppError('not_found', 'Not found.');
        if (!status.complete) return new WithStatus(202, { query_status: status });
        return status.error ? new WithStatus(400, { query_status: status }) : { query_status: status };
      },
    }),
    ...defineRoutes({
      ...common,
      method: 'DELETE',
      path: '/query/:query_id',
      operationId: 'query_destroy',
      summary: 'Cancel a query',
      description: 'Ends one that is answered behind its request, in the database too. One that is not there is fine.',
      params,
      responses: { 204: { description: 'It is cancelled, or was not there.' } },
      handler: async ({ target, params: { query_id: id } }) => {
        await questions.cancel(target, id);
        return undefined;
      },
    }),
  ];
}
