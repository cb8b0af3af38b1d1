import type { Database, Sql } from '@millrace/db';
import { formatDateTime, offsetPage, offsetPageSchema } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { createEventRead } from '../events/reads.ts';
import type { EventDeps } from '../events/routes.ts';
import { definitionListQuery, definitionParams, readDefinitionListFilters } from './list-query.ts';
import {
  eventDefinition,
  eventDefinitionChanges,
  eventDefinitionChangesExample,
  eventDefinitionExample,
  newEventDefinition,
  newEventDefinitionExample,
  refusedEventFields,
  definitionTags as tags,
} from './schema.ts';
import { type EventDefinitionRow, listEventDefinitions, type Window } from './store.ts';
import { countEventVolumes, noVolume, type Volume } from './volumes.ts';
import { changeEventDefinition, createEventDefinition, removeEventDefinition, requireFoundRow } from './write.ts';

const path = '/event_definitions';

/** Declares the routes for event definitions, which describe the event names of a project (docs/api/definitions.md). */
export function eventDefinitionRoutes(deps: EventDeps & Pick<Database, 'transaction'>) {
  // The path `by_name` must come before `:id`, because `:id` would match it too.
  return [...readRoutes(deps), ...writeRoutes(deps)];
}

function readRoutes({ sql, searches, externalEventStore }: EventDeps) {
  const common = { method: 'GET', below: environmentBasePaths(sql), tags, scope: 'event_definition:read' } as const;
  return [
    ...defineRoutes({
      ...common,
      path,
      operationId: 'event_definitions_list',
      summary: 'List event definitions',
      description:
        'Returns the definitions of the events that the project has received or that users have defined, ordered by name unless `ordering` specifies another order.',
      query: Type.Object(definitionListQuery),
      responses: { 200: { description: 'One page of event definitions.', schema: offsetPageSchema(eventDefinition) } },
      examples: { response: { count: 1, next: null, previous: null, results: [eventDefinitionExample] } },
      handler: async ({ caller, target, query, request }) => {
        const { environmentId } = target;
        const filter = readDefinitionListFilters(query);
        const list = async (on: Sql, window: Window) => {
          const { count, rows } = await listEventDefinitions(on, environmentId, filter, window);
          const names = rows.map(({ name }) => name);
          const read = createEventRead(externalEventStore, {
            sql: on,
            projectId: environmentId,
            signal: request.disconnectSignal(),
            isRepeated: true,
          });
          const volumes = query.volumes ? await countEventVolumes(read, names) : undefined;
          return { count, results: rows.map((row) => toEventDefinition(row, volumes?.get(row.name))) };
        };
        const isSearch = query.search || query.volumes;
        return offsetPage(request, query, (window) =>
          isSearch ? searches.run({ caller, target }, null, (on) => list(on, window)) : list(sql, window),
        );
      },
    }),
    ...defineRoutes({
      ...common,
      path: `${path}/by_name`,
      operationId: 'event_definitions_by_name_retrieve',
      summary: 'Show an event definition by name',
      description: 'Returns the definition of the event with exactly this name.',
      query: Type.Object({ name: Type.String({ minLength: 1, description: 'Name of the event.' }) }),
      responses: { 200: { description: 'The event definition.', schema: eventDefinition } },
      examples: { response: eventDefinitionExample },
      handler: async ({ target: { environmentId }, query: { name } }) => {
        const { rows } = await listEventDefinitions(sql, environmentId, { names: [name] }, { limit: 1, offset: 0 });
        if (rows[0] !== undefined) return toEventDefinition(rows[0]);
        throw new AppError('not_found', `Event definition with name '${name}' not found`);
      },
    }),
    ...defineRoutes({
      ...common,
      path: `${path}/:id`,
      operationId: 'event_definitions_retrieve',
      summary: 'Show an event definition',
      description: 'Returns the event definition with this ID.',
      params: definitionParams,
      responses: { 200: { description: 'The event definition.', schema: eventDefinition } },
      examples: { response: eventDefinitionExample },
      handler: async ({ target: { environmentId }, params: { id } }) => {
        const { rows } = await listEventDefinitions(sql, environmentId, { id }, { limit: 1, offset: 0 });
        return toEventDefinition(requireFoundRow(rows[0]));
      },
    }),
  ];
}

function writeRoutes({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>) {
  const common = { below: environmentBasePaths(sql), tags, scope: 'event_definition:write' } as const;
  return [
    ...defineRoutes({
      ...common,
      method: 'POST',
      path,
      operationId: 'event_definitions_create',
      summary: 'Create an event definition',
      description:
        'Creates the definition of an event that has not arrived yet. Its first-seen and last-seen times are null until ' +
        'the first event arrives.',
      body: newEventDefinition,
      refusedBody: refusedEventFields,
      responses: { 201: { description: 'The new event definition.', schema: eventDefinition } },
      examples: {
        request: newEventDefinitionExample,
        response: { ...eventDefinitionExample, created_at: null, last_seen_at: null, last_updated_at: null },
      },
      handler: async ({ caller, target: place, body }) =>
        toEventDefinition(await transaction((tx) => createEventDefinition(tx, { caller, place }, body))),
    }),
    ...(['PATCH', 'PUT'] as const).flatMap((method) =>
      defineRoutes({
        ...common,
        method,
        path: `${path}/:id`,
        operationId: `event_definitions_${method === 'PUT' ? 'update' : 'partial_update'}`,
        summary: method === 'PUT' ? 'Replace an event definition' : 'Change an event definition',
        description: 'Changes the fields that are sent. New events do not overwrite these changes.',
        params: definitionParams,
        body: eventDefinitionChanges,
        refusedBody: refusedEventFields,
        responses: { 200: { description: 'The updated event definition.', schema: eventDefinition } },
        examples: { request: eventDefinitionChangesExample, response: eventDefinitionExample },
        handler: async ({ caller, target: place, params: { id }, body: changes }) =>
          toEventDefinition(await transaction((tx) => changeEventDefinition(tx, { caller, place }, { id, changes }))),
      }),
    ),
    ...defineRoutes({
      ...common,
      method: 'DELETE',
      path: `${path}/:id`,
      operationId: 'event_definitions_destroy',
      summary: 'Delete an event definition',
      description:
        'Deletes the definition, but not the events. If the event arrives again, Millrace creates a new definition ' +
        'within an hour, without the changes that users made.',
      params: definitionParams,
      responses: { 204: { description: 'The event definition was deleted.' } },
      handler: async ({ caller, target: place, params: { id } }) => {
        await transaction((tx) => removeEventDefinition(tx, { caller, place }, id));
        return undefined;
      },
    }),
  ];
}

function toEventDefinition(row: EventDefinitionRow, volume: Volume = noVolume) {
  const lastSeenAt = row.last_seen_at && formatDateTime(row.last_seen_at);
  return {
    id: row.id,
    name: row.name,
    owner: row.owner,
    description: row.description,
    tags: row.tags,
    verified: row.verified,
    verified_at: row.verified_at && formatDateTime(row.verified_at),
    verified_by: row.verified_by,
    hidden: row.hidden,
    updated_at: formatDateTime(row.updated_at),
    updated_by: row.updated_by,
    created_at: row.created_at && formatDateTime(row.created_at),
    last_seen_at: lastSeenAt,
    last_updated_at: lastSeenAt,
    is_action: false,
    action_id: null,
    is_calculating: false,
    last_calculated_at: null,
    created_by: null,
    post_to_slack: false,
    default_columns: [],
    enforcement_mode: 'allow',
    ...volume,
  };
}
