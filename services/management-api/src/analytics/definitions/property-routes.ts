import type { Database, Sql } from '@millrace/db';
import { formatDateTime, offsetPage, offsetPageSchema } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { type Static, Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { createEventRead } from '../events/reads.ts';
import type { EventDeps } from '../events/routes.ts';
import {
  latestOfName,
  listPropertiesFromEventStore,
  listPropertiesOfEvents,
  maxEventNames,
} from './event-properties-store.ts';
import { definitionListQuery, definitionParams, parseNames, readDefinitionListFilters } from './list-query.ts';
import {
  propertyDefinition,
  propertyDefinitionChanges,
  propertyDefinitionChangesExample,
  propertyDefinitionExample,
  definitionTags as tags,
} from './schema.ts';
import {
  listPropertyDefinitions,
  type PropertyDefinitionFilter,
  type PropertyDefinitionRow,
  type Window,
} from './store.ts';
import { countPropertyVolumes, noVolume, type Volume } from './volumes.ts';
import { changePropertyDefinition, removePropertyDefinition, requireFoundRow } from './write.ts';

const path = '/property_definitions';

const listQuery = Type.Object({
  ...definitionListQuery,
  type: Type.Unsafe<'event' | 'person' | 'group'>({
    type: 'string',
    enum: ['event', 'person', 'group'],
    default: 'event',
    description: 'Lists event properties (`event`), person properties (`person`) or group properties (`group`).',
  }),
  group_type_index: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 4,
      description: 'Index of the group type. Required with `type=group`, and not allowed with other types.',
    }),
  ),
  properties: Type.Optional(Type.String({ description: 'Only properties with these names, separated by commas.' })),
  is_numerical: Type.Optional(
    Type.Boolean({ description: 'If true, only numeric properties. If false, only properties that are not numeric.' }),
  ),
  event_names: Type.Optional(
    Type.String({
      description:
        `Event names as a JSON array with at most ${maxEventNames} names, or a single name. ` +
        `\`is_seen_on_filtered_events\` then indicates whether the property occurs in the latest ${latestOfName} events with ` +
        'any of these names. With this parameter, the request counts as a search and can take longer.',
    }),
  ),
  filter_by_event_names: Type.Optional(
    Type.Boolean({ description: 'Whether to return only the properties that occur in events of `event_names`.' }),
  ),
  exclude_core_properties: Type.Optional(
    Type.Boolean({
      description: 'Whether to leave out properties whose names begin with `$` or `utm_`, which SDKs set.',
    }),
  ),
  is_feature_flag: Type.Optional(
    Type.Boolean({
      description: 'If true, only properties whose names begin with `$feature/`. If false, only other properties.',
    }),
  ),
});

/** Declares the routes for event, person and group property definitions (docs/api/definitions.md). */
export function propertyDefinitionRoutes(deps: EventDeps & Pick<Database, 'transaction'>) {
  return [...readRoutes(deps), ...writeRoutes(deps)];
}

function readRoutes({ sql, searches, externalEventStore: store }: EventDeps) {
  const common = { method: 'GET', below: environmentBasePaths(sql), tags, scope: 'property_definition:read' } as const;
  return [
    ...defineRoutes({
      ...common,
      path,
      operationId: 'property_definitions_list',
      summary: 'List property definitions',
      description:
        'Returns the definitions of the properties that the project has received, ordered by name. By default, these are ' +
        'event properties; use `type` for others.',
      query: listQuery,
      responses: {
        200: { description: 'One page of property definitions.', schema: offsetPageSchema(propertyDefinition) },
      },
      examples: { response: { count: 1, next: null, previous: null, results: [propertyDefinitionExample] } },
      handler: async ({ caller, target, query, request }) => {
        const { environmentId } = target;
        const filter = toFilter(query);
        const eventNames = toEventNames(query);
        const list = async (on: Sql, window: Window) => {
          const seen = eventNames && {
            isFilter: query.filter_by_event_names ?? false,
            names: await (store === null
              ? listPropertiesOfEvents(on, environmentId, eventNames)
              : listPropertiesFromEventStore(
                  createEventRead(store, { sql: on, projectId: environmentId, signal: request.disconnectSignal() }),
                  eventNames,
                )),
          };
          const { count, rows } = await listPropertyDefinitions(
            on,
            environmentId,
            { ...filter, ...(seen && { seen }) },
            window,
          );
          const names = rows.map(({ name }) => name);
          const isCounted = query.volumes && query.type === 'event';
          const volumes = isCounted ? await countPropertyVolumes(on, environmentId, names) : undefined;
          return { count, results: rows.map((row) => toPropertyDefinition(row, volumes?.get(row.name))) };
        };
        const isSearch = query.search || query.volumes || eventNames !== undefined;
        return offsetPage(request, query, (window) =>
          isSearch ? searches.run({ caller, target }, '`properties`', (on) => list(on, window)) : list(sql, window),
        );
      },
    }),
    ...defineRoutes({
      ...common,
      path: `${path}/:id`,
      operationId: 'property_definitions_retrieve',
      summary: 'Show a property definition',
      description: 'Returns the property definition with this ID.',
      params: definitionParams,
      responses: { 200: { description: 'The property definition.', schema: propertyDefinition } },
      examples: { response: propertyDefinitionExample },
      handler: async ({ target: { environmentId }, params: { id } }) => {
        const { rows } = await listPropertyDefinitions(sql, environmentId, { id }, { limit: 1, offset: 0 });
        return toPropertyDefinition(requireFoundRow(rows[0]));
      },
    }),
  ];
}

function writeRoutes({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>) {
  const common = {
    below: environmentBasePaths(sql),
    path: `${path}/:id`,
    tags,
    scope: 'property_definition:write',
    params: definitionParams,
  } as const;
  return [
    ...(['PATCH', 'PUT'] as const).flatMap((method) =>
      defineRoutes({
        ...common,
        method,
        operationId: `property_definitions_${method === 'PUT' ? 'update' : 'partial_update'}`,
        summary: method === 'PUT' ? 'Replace a property definition' : 'Change a property definition',
        description: 'Changes the fields that are sent. New events do not overwrite these changes.',
        body: propertyDefinitionChanges,
        responses: { 200: { description: 'The updated property definition.', schema: propertyDefinition } },
        examples: { request: propertyDefinitionChangesExample, response: propertyDefinitionExample },
        handler: async ({ caller, target: place, params: { id }, body: changes }) =>
          toPropertyDefinition(
            await transaction((tx) => changePropertyDefinition(tx, { caller, place }, { id, changes })),
          ),
      }),
    ),
    ...defineRoutes({
      ...common,
      method: 'DELETE',
      operationId: 'property_definitions_destroy',
      summary: 'Delete a property definition',
      description:
        'Deletes the definition, but not the values. If the property arrives again, Millrace creates a new definition ' +
        'within an hour, without the changes that users made.',
      responses: { 204: { description: 'The property definition was deleted.' } },
      handler: async ({ caller, target: place, params: { id } }) => {
        await transaction((tx) => removePropertyDefinition(tx, { caller, place }, id));
        return undefined;
      },
    }),
  ];
}

/** @throws AppError `invalid` naming `group_type_index` */
function toFilter(query: Static<typeof listQuery>): PropertyDefinitionFilter {
  const { type, group_type_index, properties, is_numerical, is_feature_flag } = query;
  const isOfGroups = type === 'group';
  if (isOfGroups !== (group_type_index !== undefined)) {
    const detail = isOfGroups
      ? 'This field is required when `type` is `group`.'
      : 'This field is only allowed when `type` is `group`.';
    throw new AppError('invalid', detail, {
      code: isOfGroups ? 'required' : 'invalid_input',
      attr: 'group_type_index',
    });
  }
  return {
    type,
    ...(group_type_index !== undefined && { group_type_index }),
    ...readDefinitionListFilters(query),
    ...(properties !== undefined && { names: properties.split(',') }),
    ...(is_numerical !== undefined && { isNumerical: is_numerical }),
    ...(is_feature_flag !== undefined && { isFeatureFlag: is_feature_flag }),
    excludesCore: query.exclude_core_properties ?? false,
  };
}

/**
 * Reads the names of the events whose properties the list should contain.
 * @throws AppError `invalid` naming a parameter that conflicts with the event names
 */
function toEventNames(query: Static<typeof listQuery>): string[] | undefined {
  const { event_names } = query;
  // PostHog documents a JSON array, but command-line tools such as phog-cli send a single name without JSON.
  const isSingle = event_names !== undefined && event_names !== '' && !event_names.startsWith('[');
  const names = parseNames(isSingle ? JSON.stringify([event_names]) : event_names, 'event_names');
  const refuse = (attr: string, detail: string) => new AppError('invalid', detail, { attr });
  if (names === undefined || names.length === 0) {
    if (!query.filter_by_event_names) return undefined;
    throw refuse(
      'filter_by_event_names',
      '`filter_by_event_names` requires `event_names`: a JSON array with at least one name.',
    );
  }
  if (names.length > maxEventNames)
    throw refuse('event_names', `\`event_names\` can have at most ${maxEventNames} names.`);
  if (query.type !== 'event') throw refuse('event_names', '`event_names` is only allowed when `type` is `event`.');
  return names;
}

function toPropertyDefinition(row: PropertyDefinitionRow, volume: Volume = noVolume) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    tags: row.tags,
    verified: row.verified,
    verified_at: row.verified_at && formatDateTime(row.verified_at),
    verified_by: row.verified_by,
    hidden: row.hidden,
    updated_at: formatDateTime(row.updated_at),
    updated_by: row.updated_by,
    is_numerical: row.property_type === 'Numeric',
    property_type: row.property_type,
    is_seen_on_filtered_events: row.is_seen,
    ...volume,
  };
}
