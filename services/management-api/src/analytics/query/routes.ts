import type { Sql } from '@millrace/db';
import { type ApiRequest, WithStatus } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { type Static, Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { toCsvContent } from './csv.ts';
import type { QueryRunner, RefreshMode } from './query-runner.ts';
import {
  exampleQuery,
  queryDeclaration,
  type queryRequest,
  queryUpgrade,
  statusExample,
  statusResponse,
} from './schema.ts';

function readRefreshOfQuery(wanted: RefreshMode | boolean): RefreshMode {
  if (typeof wanted === 'boolean') return wanted ? 'force_blocking' : 'blocking';
  return wanted === 'force_cache' ? 'blocking' : wanted;
}

interface QueryInput {
  caller: Caller;
  target: AddressedProject;
  query: Static<typeof queryDeclaration.query>;
  body: Static<typeof queryRequest>;
  request: ApiRequest;
}

const complete = { timings: null, hogql: '', modifiers: null, error: null } as const;

export function queryRoutes({ sql, queryRunner }: { sql: Sql; queryRunner: QueryRunner }) {
  const tags: [string] = ['query'];
  const common = { below: environmentBasePaths(sql), tags, scope: 'query:read' } as const;
  const params = Type.Object({
    query_id: Type.String({
      maxLength: 128,
      description: 'The `client_query_id` from the request, or the `id` from the query status.',
    }),
  });
  async function runRequest({ caller, target, body, request, query: { format } }: QueryInput) {
    const { query, ...more } = body;
    // Clients send null for fields that they do not set.
    const filters = more.filters_override ?? undefined;
    const variables = more.variables_override ?? undefined;
    const id = more.client_query_id ?? undefined;
    const wanted = more.refresh ?? (more.async === true ? 'async' : 'blocking');
    const refresh = readRefreshOfQuery(wanted);
    const runOptions = {
      query,
      filters,
      variables,
      isFile: format === 'csv',
      refresh,
      signal: request.disconnectSignal(),
      run: { id },
    };
    const { result: found, status } = await queryRunner.run({ caller, target }, runOptions);
    if (status !== null) return new WithStatus(202, { ...(found && { ...complete, ...found }), query_status: status });
    if (found === null) throw new AppError('internal', 'The query has neither a result nor a status.');
    if (format === 'csv') return toCsvContent(found, 'query');
    return { ...complete, query_status: null, ...found };
  }
  return [
    ...defineRoutes({
      ...common,
      ...queryDeclaration,
      method: 'POST',
      path: '/query',
      operationId: 'query_create',
      summary: 'Run a query',
      description:
        'Runs a query for trends, funnels, retention, lifecycle, web traffic or events, or for the persons or groups ' +
        'in a data point. ' +
        'Days are in the project time zone. Results are cached, and a cached result is returned while it is fresh. ' +
        '`last_refresh` says when it was computed. A query that takes too long fails with 400 `query_timeout`. A ' +
        'query that needs too much memory fails with ' +
        '400 `query_too_large`. If the client disconnects, the query is cancelled in the ' +
        'database as well. A project can run three queries at the same time. Further queries wait for up to 5 ' +
        'seconds and then fail with 429.',
      handler: runRequest,
    }),
    ...defineRoutes({
      ...common,
      method: 'POST',
      path: '/query/upgrade',
      operationId: 'query_upgrade',
      summary: 'Upgrade a query',
      description: 'Returns the query unchanged, because only one version of the query format exists.',
      body: queryUpgrade,
      responses: { 200: { description: 'The unchanged query.', schema: queryUpgrade } },
      examples: { request: { query: exampleQuery }, response: { query: exampleQuery } },
      handler: async ({ body: { query } }) => ({ query }),
    }),
    ...defineRoutes({
      ...common,
      method: 'POST',
      path: '/query/check_auth_for_async',
      operationId: 'query_check_auth_for_async',
      summary: 'Check access to queries',
      description: 'Succeeds if the caller can run queries in this project.',
      responses: {
        200: {
          description: 'The caller can run queries.',
          schema: Type.Object({ user: Type.String({ description: 'Always `ok`.' }) }, { title: 'QueryAuth' }),
        },
      },
      examples: { response: { user: 'ok' } },
      handler: async () => ({ user: 'ok' }),
    }),
    ...defineRoutes({
      ...common,
      ...queryDeclaration,
      method: 'POST',
      path: '/query/:query_id',
      operationId: 'query_create_by_kind',
      summary: 'Run a query of a given kind',
      description: 'Runs a query like `POST query/`. The kind in the path must be the `kind` of the query.',
      // A path parameter must have the same name for all methods of a path.
      params: Type.Object({
        query_id: Type.String({ maxLength: 128, description: 'The `kind` of the query, e.g. `TrendsQuery`.' }),
      }),
      handler: async (input) => {
        const { kind } = input.body.query;
        if (kind === input.params.query_id) return runRequest(input);
        const detail = `The query is a ${kind}, but the path contains ${input.params.query_id}. Both must be the same.`;
        throw new AppError('invalid', detail, { code: 'invalid_input', attr: 'query' });
      },
    }),
    ...defineRoutes({
      ...common,
      method: 'GET',
      path: '/query/:query_id',
      operationId: 'query_retrieve',
      summary: 'Show the status of a query',
      description:
        'Returns the status of a query that the caller started in the background. The status is available for 20 ' +
        'minutes. If the query failed, the response status is 400, and `error_message` contains the reason.',
      params,
      responses: {
        200: {
          description: 'The query is complete. `results` contains the complete response.',
          schema: statusResponse,
        },
        202: { description: 'The query is running.', schema: statusResponse },
        400: { description: 'The query failed. `error_message` contains the reason.', schema: statusResponse },
      },
      examples: { response: statusExample },
      handler: async ({ target, params: { query_id: id } }) => {
        const status = await queryRunner.status(target, id);
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
      description:
        'Cancels a background query and stops it in the database. The request succeeds even if the query does not ' +
        'exist.',
      params,
      responses: { 204: { description: 'The query was cancelled or did not exist.' } },
      handler: async ({ target, params: { query_id: id } }) => {
        await queryRunner.cancel(target, id);
        return undefined;
      },
    }),
  ];
}
