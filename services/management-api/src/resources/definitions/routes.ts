// The routes of event and property definitions.

import type { Sql } from '@millrace/db';
import { formatDateTime, offsetPage, offsetPageOf, offsetQuery } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { type Static, Type } from 'typebox';
import { belowEnvironment } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import type { EventDeps } from '../events/routes.ts';
import { longestNeedle } from '../property-filters/property-filter.ts';
import {
  latestOfName,
  listPropertiesOfEvents,
  listPropertiesOfStoredEvents,
  mostEventNames,
} from './event-properties-store.ts';
import { eventDefinition, eventDefinitionExample, propertyDefinition, propertyDefinitionExample } from './schema.ts';
import {
  type EventDefinitionRow,
  listEventDefinitions,
  listPropertyDefinitions,
  type PropertyDefinitionFilter,
  type PropertyDefinitionRow,
  type Window,
} from './store.ts';
import { noVolume, type Volume, volumesOfEvents, volumesOfProperties } from './volumes.ts';

const definitionParams = Type.Object({
  id: Type.String({ format: 'uuid', description: 'Id of the definition.' }),
});

const searchQuery = {
  search: Type.Optional(
    Type.String({
      maxLength: longestNeedle,
      description: 'Only names that contain every word of this text somewhere, in any case.',
    }),
  ),
};

const volumesQuery = {
  volumes: Type.Optional(
    Type.Boolean({
      description: 'Whether to count events and insights of the last 30 days. Takes as long as a search.',
    }),
  ),
};

const path = '/event_definitions';

/** The names of events a project has had. */
export function eventDefinitionRoutes({ sql, searches, otherStore: store }: EventDeps) {
  return [
    ...defineRoutes({
      method: 'GET',
      below: belowEnvironment(sql),
      path,
      operationId: 'event_definitions_list',
      summary: 'List event definitions',
      description: 'The names of events that were noticed in a project, by name.',
      tags: ['definitions'],
      scope: 'event_definition:read',
      query: Type.Object({ ...offsetQuery, ...searchQuery, ...volumesQuery }),
      responses: { 200: { description: 'One page of definitions.', schema: offsetPageOf(eventDefinition) } },
      examples: { response: { count: 1, next: null, previous: null, results: [eventDefinitionExample] } },
      handler: async ({ caller, target, query, request }) => {
        const { environmentId } = target;
        const list = async (on: Sql, window: Window) => {
          const { count, rows } = await listEventDefinitions(on, environmentId, query, window);
          const names = rows.map(({ name }) => name);
          const read = store && { store, projectId: environmentId, signal: request.leaves() };
          const volumes = query.volumes ? await volumesOfEvents(on, environmentId, { names, read }) : undefined;
          return { count, results: rows.map((row) => toEventDefinition(row, volumes?.get(row.name))) };
        };
        const isSearch = query.search || query.volumes;
        return offsetPage(request, query, (window) =>
          isSearch ? searches.run({ caller, target }, null, (on) => list(on, window)) : list(sql, window),
        );
      },
    }),
    ...defineRoutes({
      method: 'GET',
      below: belowEnvironment(sql),
      path: `${path}/:id`,
      operationId: 'event_definitions_retrieve',
      summary: 'Show an event definition',
      description: 'One definition by its id.',
      tags: ['definitions'],
      scope: 'event_definition:read',
      params: definitionParams,
      responses: { 200: { description: 'The definition.', schema: eventDefinition } },
      examples: { response: eventDefinitionExample },
      handler: async ({ target: { environmentId }, params: { id } }) => {
        const { rows } = await listEventDefinitions(sql, environmentId, { id }, { limit: 1, offset: 0 });
        if (rows[0] === undefined) throw new AppError('not_found', 'Not found.');
        return toEventDefinition(rows[0]);
      },
    }),
  ];
}

function toEventDefinition({ id, name, created_at, last_seen_at }: EventDefinitionRow, volume: Volume = noVolume) {
  const lastSeenAt = formatDateTime(last_seen_at);
  return {
    id,
    name,
    created_at: formatDateTime(created_at),
    last_seen_at: lastSeenAt,
    last_updated_at: lastSeenAt,
    tags: [],
    is_action: false,
    action_id: null,
    is_calculating: false,
    last_calculated_at: null,
    created_by: null,
    post_to_slack: false,
    ...volume,
  };
}

const propertiesPath = '/property_definitions';

const listQuery = Type.Object({
  ...offsetQuery,
  ...searchQuery,
  ...volumesQuery,
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
  event_names: Type.Optional(
    Type.String({
      description: `Names of events as a JSON array, at most ${mostEventNames}. \`is_seen_on_filtered_events\` then says whether one of the latest ${latestOfName} events of each name has the property. Takes as long as a search.`,
    }),
  ),
  filter_by_event_names: Type.Optional(
    Type.Boolean({ description: 'Whether to list only the properties that events of `event_names` have.' }),
  ),
  excluded_properties: Type.Optional(Type.String({ description: 'Names to leave out, as a JSON array.' })),
  exclude_core_properties: Type.Optional(
    Type.Boolean({ description: 'Whether to leave out names that begin with `$` or `utm_`, which SDKs set.' }),
  ),
  is_feature_flag: Type.Optional(
    Type.Boolean({ description: 'Only properties that begin with `$feature/`, or only others.' }),
  ),
  exclude_hidden: Type.Optional(Type.Boolean({ description: 'Has no effect: no property is hidden.' })),
  verified: Type.Optional(
    Type.Boolean({ description: 'Only verified properties, of which there are none, or only others, which are all.' }),
  ),
});

/** The names and types of properties that events, persons and groups of a project have had. */
export function propertyDefinitionRoutes({ sql, searches, otherStore: store }: EventDeps) {
  return [
    ...defineRoutes({
      method: 'GET',
      below: belowEnvironment(sql),
      path: propertiesPath,
      operationId: 'property_definitions_list',
      summary: 'List property definitions',
      description:
        'The properties that were noticed in a project, by name; those of events unless `type` says otherwise.',
      tags: ['definitions'],
      scope: 'property_definition:read',
      query: listQuery,
      responses: { 200: { description: 'One page of definitions.', schema: offsetPageOf(propertyDefinition) } },
      examples: { response: { count: 1, next: null, previous: null, results: [propertyDefinitionExample] } },
      handler: async ({ caller, target, query, request }) => {
        const { environmentId } = target;
        const filter = toFilter(query);
        const eventNames = toEventNames(query);
        if (query.verified) return offsetPage(request, query, async () => ({ count: 0, results: [] }));
        const list = async (on: Sql, window: Window) => {
          const seen = eventNames && {
            isFilter: query.filter_by_event_names ?? false,
            names: await (store === null
              ? listPropertiesOfEvents(on, environmentId, eventNames)
              : listPropertiesOfStoredEvents(
                  { store, projectId: environmentId, signal: request.leaves() },
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
          const volumes = isCounted ? await volumesOfProperties(on, environmentId, names) : undefined;
          return { count, results: rows.map((row) => toPropertyDefinition(row, volumes?.get(row.name))) };
        };
        const isSearch = query.search || query.volumes || eventNames !== undefined;
        return offsetPage(request, query, (window) =>
          isSearch ? searches.run({ caller, target }, 'properties', (on) => list(on, window)) : list(sql, window),
        );
      },
    }),
    ...defineRoutes({
      method: 'GET',
      below: belowEnvironment(sql),
      path: `${propertiesPath}/:id`,
      operationId: 'property_definitions_retrieve',
      summary: 'Show a property definition',
      description: 'One definition by its id.',
      tags: ['definitions'],
      scope: 'property_definition:read',
      params: definitionParams,
      responses: { 200: { description: 'The definition.', schema: propertyDefinition } },
      examples: { response: propertyDefinitionExample },
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
  const { type, group_type_index, search, properties, is_numerical, is_feature_flag } = query;
  const excluded = namesOf(query.excluded_properties, 'excluded_properties');
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
    ...(is_feature_flag !== undefined && { isFeatureFlag: is_feature_flag }),
    ...(excluded !== undefined && { excludedNames: excluded }),
    excludesCore: query.exclude_core_properties ?? false,
  };
}

/** @throws AppError `invalid` naming the parameter that makes no sense with the others. */
function toEventNames(query: Static<typeof listQuery>): string[] | undefined {
  const names = namesOf(query.event_names, 'event_names');
  const refuse = (attr: string, detail: string) => new AppError('invalid', detail, { attr });
  if (names === undefined || names.length === 0) {
    if (!query.filter_by_event_names) return undefined;
    throw refuse('filter_by_event_names', 'Send `event_names` as well, a JSON array with at least one name.');
  }
  if (names.length > mostEventNames) throw refuse('event_names', `Send at most ${mostEventNames} names of events.`);
  if (query.type !== 'event') throw refuse('event_names', 'This parameter goes with `type=event` only.');
  return names;
}

/** @throws AppError `invalid` naming the parameter. */
function namesOf(given: string | undefined, attr: string): string[] | undefined {
  if (given === undefined || given === '') return undefined;
  let names: unknown;
  try {
    names = JSON.parse(given);
  } catch {
    names = null;
  }
  const isName = (name: unknown): name is string => typeof name === 'string' && !name.includes('\0');
  if (Array.isArray(names) && names.every(isName)) return names;
  throw new AppError('invalid', 'Send a JSON array of names, such as `["a","b"]`.', { attr });
}

function toPropertyDefinition({ id, name, property_type, is_seen }: PropertyDefinitionRow, volume: Volume = noVolume) {
  return {
    id,
    name,
    is_numerical: property_type === 'Numeric',
    property_type,
    tags: [],
    is_seen_on_filtered_events: is_seen,
    ...volume,
  };
}
