import type { Database } from '@millrace/db';
import { offsetPage, pageLink } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import {
  insightVariable,
  newVariable,
  newVariableExample,
  variableTags as tags,
  toVariable,
  variableChanges,
  variableExample,
  variableListQuery,
  variablePage,
  variableParams,
  variablesPath,
} from './schema.ts';
import { listVariables } from './store.ts';
import { changeVariable, createVariable, removeVariable, requireVariable } from './write.ts';

/** Declares the routes for variables in SQL insights (docs/api/insights.md#variables). */
export function insightVariableRoutes({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>) {
  const below = environmentBasePaths(sql);
  return [
    ...defineRoutes({
      method: 'GET',
      below,
      path: variablesPath,
      operationId: 'insight_variables_list',
      summary: 'List insight variables',
      description: 'Returns the variables of the project, sorted by name.',
      tags,
      scope: 'insight_variable:read',
      query: variableListQuery,
      responses: { 200: { description: 'One page of variables.', schema: variablePage } },
      examples: { response: { count: 1, next: null, previous: null, results: [variableExample] } },
      handler: async ({ target: { environmentId }, query: { page, limit, offset }, request }) => {
        const read = async (window: { limit: number; offset: number }) => {
          const { count, rows } = await listVariables(sql, environmentId, window);
          return { count, results: rows.map(toVariable) };
        };
        if (page === undefined) return offsetPage(request, { limit, offset }, read);
        const { count, results } = await read({ limit, offset: (page - 1) * limit });
        if (page > 1 && results.length === 0) throw new AppError('not_found', 'Invalid page.');
        return {
          count,
          next: page * limit < count ? pageLink(request, { page: page + 1 }) : null,
          previous: page > 1 ? pageLink(request, { page: page - 1 }) : null,
          results,
        };
      },
    }),
    ...defineRoutes({
      method: 'POST',
      below,
      path: variablesPath,
      operationId: 'insight_variables_create',
      summary: 'Create an insight variable',
      description: 'Creates a variable, which SQL queries of the project can then use as `{variables.code_name}`.',
      tags,
      scope: 'insight_variable:write',
      body: newVariable,
      responses: { 201: { description: 'The new variable.', schema: insightVariable } },
      examples: { request: newVariableExample, response: variableExample },
      handler: async ({ caller: { userId }, target, body }) =>
        toVariable(await transaction((tx) => createVariable(tx, { userId, target }, body))),
    }),
    ...defineRoutes({
      method: 'GET',
      below,
      path: `${variablesPath}/:id`,
      operationId: 'insight_variables_retrieve',
      summary: 'Show an insight variable',
      description: 'Returns one variable.',
      tags,
      scope: 'insight_variable:read',
      params: variableParams,
      responses: { 200: { description: 'The variable.', schema: insightVariable } },
      examples: { response: variableExample },
      handler: async ({ target: { environmentId }, params: { id } }) =>
        toVariable(await requireVariable(sql, environmentId, id)),
    }),
    ...(['PATCH', 'PUT'] as const).flatMap((method) =>
      defineRoutes({
        method,
        below,
        path: `${variablesPath}/:id`,
        operationId: `insight_variables_${method === 'PUT' ? 'update' : 'partial_update'}`,
        summary: method === 'PUT' ? 'Replace an insight variable' : 'Change an insight variable',
        description: 'Changes the fields that are sent. `code_name` stays as it is.',
        tags,
        scope: 'insight_variable:write',
        params: variableParams,
        body: method === 'PUT' ? newVariable : variableChanges,
        responses: { 200: { description: 'The updated variable.', schema: insightVariable } },
        examples: {
          request: method === 'PUT' ? newVariableExample : { default_value: 'pro', values: ['free', 'pro'] },
          response: variableExample,
        },
        handler: async ({ caller: { userId }, target, params: { id }, body: changes }) =>
          toVariable(await transaction((tx) => changeVariable(tx, { userId, target }, { id, changes }))),
      }),
    ),
    ...defineRoutes({
      method: 'DELETE',
      below,
      path: `${variablesPath}/:id`,
      operationId: 'insight_variables_destroy',
      summary: 'Delete an insight variable',
      description: 'Deletes a variable permanently. Queries that use it fail from then on.',
      tags,
      scope: 'insight_variable:write',
      params: variableParams,
      responses: { 204: { description: 'The variable was deleted.' } },
      handler: async ({ caller: { userId }, target, params: { id } }) => {
        await transaction((tx) => removeVariable(tx, { userId, target }, id));
        return undefined;
      },
    }),
  ];
}
