import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { offsetPage, offsetPageOf, offsetQuery } from '@millrace/http';
import { type Static, Type } from 'typebox';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { definitionParams, searchQuery } from './definition-params.ts';
import { propertyDefinition, propertyDefinitionExample } from './definition-schema.ts';
import {
  listPropertyDefinitions,
  type PropertyDefinitionFilter,
  type PropertyDefinitionRow,
} from './definition-store.ts';

const path = '/api/projects/:project_id/property_definitions';

const listQuery = Type.Object({
  ...offsetQuery,
  ...searchQuery,
  type: Type.Unsafe<'event' | 'person' | 'group'>({
    type: 'string',
    enum: ['event', 'person', 'group'],
    default: 'event',
    description: 'Properties of what.',
  }),
  group_type_index: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 4,
      description: 'With `type=group`, and needed there: the type of the groups.',
    }),
  ),
  properties: Type.Optional(Type.String({ description: 'Only these names, separated by commas.' })),
  is_numerical: Type.Optional(Type.Boolean({ description: 'Only numbers, or only what is none.' })),
});

/** The names and types of properties that events, persons and groups of a project have had. */
export function propertyDefinitionRoutes({ sql }: { sql: Sql }) {
  return [
    defineRoute({
      method: 'GET',
      path,
      operationId: 'property_definitions_list',
      summary: 'List property definitions',
      description:
        'The properties that were noticed in a project, by name; those of events unless `type` says otherwise.',
      tags: ['definitions'],
      scope: 'property_definition:read',
      params: projectParams,
      query: listQuery,
      responses: { 200: { description: 'One page of definitions.', schema: offsetPageOf(propertyDefinition) } },
      examples: { response: { count: 1, next: null, previous: null, results: [propertyDefinitionExample] } },
      target: addressedProject(sql),
      handler: async ({ target: { environmentId }, query, request }) => {
        const { count, rows } = await listPropertyDefinitions(sql, environmentId, toFilter(query), query);
        return offsetPage(request, query, { count, results: rows.map(toPropertyDefinition) });
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${path}/:id`,
      operationId: 'property_definitions_retrieve',
      summary: 'Show a property definition',
      description: 'One definition by its id.',
      tags: ['definitions'],
      scope: 'property_definition:read',
      params: definitionParams,
      responses: { 200: { description: 'The definition.', schema: propertyDefinition } },
      examples: { response: propertyDefinitionExample },
      target: addressedProject(sql),
      handler: async ({ target: { environmentId }, params: { id } }) => {
        const { rows } = await listPropertyDefinitions(sql, environmentId, { id }, { limit: 1, offset: 0 });
        if (rows[0] === undefined) throw new AppError('not_found', 'Not found.');
        return toPropertyDefinition(rows[0]);
      },
    }),
  ];
}

/** @throws AppError `invalid` naming `group_type_index`. */
function toFilter(query: Static<typeof listQuery>): PropertyDefinitionFilter {
  const { type, group_type_index, search, properties, is_numerical } = query;
  const isOfGroups = type === 'group';
  if (isOfGroups !== (group_type_index !== undefined)) {
    const detail = isOfGroups ? 'This field is required with type=group.' : 'This field goes with type=group only.';
    throw new AppError('invalid', detail, {
      code: isOfGroups ? 'required' : 'invalid_input',
      attr: 'group_type_index',
    });
  }
  return {
    type,
    ...(group_type_index !== undefined && { group_type_index }),
    ...(search !== undefined && { search }),
    ...(properties !== undefined && { names: properties.split(',') }),
    ...(is_numerical !== undefined && { isNumerical: is_numerical }),
  };
}

function toPropertyDefinition({ id, name, property_type }: PropertyDefinitionRow) {
  return {
    id,
    name,
    is_numerical: property_type === 'Numeric',
    property_type,
    tags: [],
    is_seen_on_filtered_events: null,
  };
}
