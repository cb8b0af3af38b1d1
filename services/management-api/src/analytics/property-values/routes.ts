// Declares the routes that suggest property values while a user edits a filter.

import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { longestNeedle } from '../../sql/longest-needle.ts';
import { createEventRead } from '../events/reads.ts';
import type { EventDeps } from '../events/routes.ts';
import { latestRows, listEventValues, listPersonValues, longestValue, maxValues } from './store.ts';

/** Maximum age in milliseconds of the events to search. Values of older events are not useful as suggestions. */
const recentMs = 30 * 86_400_000;

const valuesQuery = {
  key: Type.String({ minLength: 1, maxLength: 400, description: 'Name of the property.' }),
  value: Type.Optional(
    Type.String({
      maxLength: longestNeedle,
      description: 'Returns only values that contain this string, ignoring case.',
    }),
  ),
  envelope: Type.Optional(
    Type.Boolean({
      description:
        'Whether to return `{"results": [...], "refreshing": false}`, as newer versions of PostHog do, instead of ' +
        'a plain list.',
    }),
  ),
};

const bounds =
  `Returns at most ${maxValues} values, most frequent first. Only strings, numbers and booleans of at most ${longestValue} characters ` +
  'are included';

export function propertyValueRoutes({ sql, searches, externalEventStore }: EventDeps) {
  const common = {
    method: 'GET',
    below: environmentBasePaths(sql),
    responses: { 200: { description: 'The values.', schema: Type.Union([values, enveloped]) } },
    examples: { response: [{ name: 'Chrome' }, { name: 'Firefox' }] },
  } as const;
  return [
    ...defineRoutes({
      ...common,
      path: '/events/values',
      operationId: 'events_values',
      summary: 'List values of an event property',
      description: `${bounds}. The values come from the latest ${latestRows} events of the last 30 days.`,
      tags: ['events'],
      scope: 'event:read',
      query: Type.Object({
        ...valuesQuery,
        event_name: Type.Optional(Type.String({ description: 'Returns only values from events with this name.' })),
      }),
      handler: async ({ caller, target, query, request }) => {
        const wanted = { ...query, after: new Date(Date.now() - recentMs) };
        const found = await searches.run({ caller, target }, null, (on) =>
          listEventValues(
            createEventRead(externalEventStore, {
              sql: on,
              projectId: target.environmentId,
              signal: request.disconnectSignal(),
            }),
            wanted,
          ),
        );
        return toResponse(found, query);
      },
    }),
    ...defineRoutes({
      ...common,
      path: '/persons/values',
      operationId: 'persons_values',
      summary: 'List values of a person property',
      description: `${bounds}. The values come from the newest ${latestRows} persons.`,
      tags: ['persons'],
      scope: 'person:read',
      query: Type.Object(valuesQuery),
      handler: async ({ caller, target, query }) => {
        const found = await searches.run({ caller, target }, null, (on) =>
          listPersonValues(on, target.environmentId, query),
        );
        return toResponse(found, query);
      },
    }),
  ];
}

const values = Type.Array(
  Type.Object({ name: Type.String({ description: 'The value as a string.' }) }, { title: 'PropertyValue' }),
);
const enveloped = Type.Object(
  {
    results: values,
    refreshing: Type.Boolean({ description: 'Always false, because values are read when they are requested.' }),
  },
  { title: 'PropertyValues' },
);

/** Old and new PostHog versions return different formats for the same request. `envelope` selects the new one. */
function toResponse(found: readonly string[], { envelope }: { envelope?: boolean }) {
  const results = found.map((name) => ({ name }));
  return envelope === true ? { results, refreshing: false } : results;
}
