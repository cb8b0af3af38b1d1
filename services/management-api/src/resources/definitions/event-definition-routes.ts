import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { formatDateTime, offsetPage, offsetPageOf, offsetQuery } from '@millrace/http';
import { Type } from 'typebox';
import { addressedProject, projectParams } from '../../access/addressed-project.ts';
import { defineRoute } from '../../access/define-route.ts';
import { definitionParams, searchQuery } from './definition-params.ts';
import { eventDefinition, eventDefinitionExample } from './definition-schema.ts';
import { type EventDefinitionRow, listEventDefinitions } from './definition-store.ts';

const path = '/api/projects/:project_id/event_definitions';

/** The names of events a project has had. */
export function eventDefinitionRoutes({ sql }: { sql: Sql }) {
  return [
    defineRoute({
      method: 'GET',
      path,
      operationId: 'event_definitions_list',
      summary: 'List event definitions',
      description: 'The names of events that were noticed in a project, by name.',
      tags: ['definitions'],
      scope: 'event_definition:read',
      params: projectParams,
      query: Type.Object({ ...offsetQuery, ...searchQuery }),
      responses: { 200: { description: 'One page of definitions.', schema: offsetPageOf(eventDefinition) } },
      examples: { response: { count: 1, next: null, previous: null, results: [eventDefinitionExample] } },
      target: addressedProject(sql),
      handler: async ({ target: { environmentId }, query, request }) => {
        const { count, rows } = await listEventDefinitions(sql, environmentId, query, query);
        return offsetPage(request, query, { count, results: rows.map(toEventDefinition) });
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${path}/:id`,
      operationId: 'event_definitions_retrieve',
      summary: 'Show an event definition',
      description: 'One definition by its id.',
      tags: ['definitions'],
      scope: 'event_definition:read',
      params: definitionParams,
      responses: { 200: { description: 'The definition.', schema: eventDefinition } },
      examples: { response: eventDefinitionExample },
      target: addressedProject(sql),
      handler: async ({ target: { environmentId }, params: { id } }) => {
        const { rows } = await listEventDefinitions(sql, environmentId, { id }, { limit: 1, offset: 0 });
        if (rows[0] === undefined) throw new AppError('not_found', 'Not found.');
        return toEventDefinition(rows[0]);
      },
    }),
  ];
}

function toEventDefinition({ id, name, created_at, last_seen_at }: EventDefinitionRow) {
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
  };
}
