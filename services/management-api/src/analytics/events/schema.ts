// Schemas for the routes that list and count events.

import { freeFormObject, keysetPageSchema } from '@millrace/http';
import { type TSchema, Type } from 'typebox';
import { timeRangeQuery } from '../../time/time-range.ts';
import { maxDistinctIdsShown } from '../distinct-ids/distinct-id-store.ts';
import { propertiesQuerySchema } from '../property-filters/parse-property-filters.ts';

/** The property kinds by which events can be filtered. */
export const owners = ['event', 'person', 'event_metadata'] as const;

export const eventFilterQuery = {
  event: Type.Optional(Type.String({ description: 'Only events with this name.' })),
  distinct_id: Type.Optional(Type.String({ description: 'Only events sent with this distinct ID.' })),
  person_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description:
        'Only events of the person with this UUID. Events of all distinct IDs that currently belong to the person ' +
        'are included.',
    }),
  ),
  ...timeRangeQuery,
  properties: propertiesQuerySchema(owners),
};

const nullable = <S extends TSchema>(schema: S, description: string) =>
  Type.Union([schema, Type.Null()], { description });

const element = Type.Object(
  {
    order: Type.Integer({ description: 'Position in the list, starting at 0 for the clicked element.' }),
    tag_name: nullable(Type.String(), 'Name of the tag.'),
    text: nullable(Type.String(), 'Text of the element.'),
    href: nullable(Type.String(), 'URL of the link.'),
    attr_class: nullable(Type.Array(Type.String()), 'Classes.'),
    attr_id: nullable(Type.String(), 'Value of the `id` attribute.'),
    nth_child: nullable(Type.Integer(), 'Position among its siblings, starting at 1.'),
    nth_of_type: nullable(Type.Integer(), 'Position among its siblings with the same tag, starting at 1.'),
    attributes: freeFormObject({ description: 'All other attributes, with names of the form `attr__<name>`.' }),
  },
  { title: 'EventElement' },
);

const event = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'UUID of the event; the same as `uuid`.' }),
    uuid: Type.String({ format: 'uuid', description: 'UUID of the event.' }),
    event: Type.String({ description: 'Name of the event.' }),
    distinct_id: Type.String({ description: 'Distinct ID, as sent.' }),
    timestamp: Type.String({
      format: 'date-time',
      description: 'When the event happened, corrected for the clock skew of the client.',
    }),
    properties: freeFormObject({ description: 'Properties of the event.' }),
    elements: Type.Array(element, {
      description: 'For autocaptured events, the clicked element followed by its ancestors; otherwise empty.',
    }),
    elements_chain: Type.String({ description: 'For autocaptured events, the elements as a string; otherwise empty.' }),
    person: Type.Object(
      {
        uuid: Type.String({ format: 'uuid' }),
        distinct_ids: Type.Array(Type.String(), {
          description:
            "The person's distinct IDs: the main ID, followed by the others in the order in which they were added. " +
            'At most ' +
            `${maxDistinctIdsShown}.`,
        }),
        properties: freeFormObject(),
      },
      {
        description:
          'Person that the distinct ID currently belongs to, including after merges. For events without a person ' +
          'profile, a placeholder.',
      },
    ),
  },
  { title: 'Event' },
);

const page = keysetPageSchema(event);

/**
 * A page can have fewer events than the limit. A search for rare events may have to read all events of a project, and
 * stops at a time limit.
 */
export const eventPage = Type.Object(
  {
    ...page.properties,
    searched_until: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'Present only if the search ran out of time: the time up to which it is complete. The page then has fewer ' +
          'than `limit` results, or none. Follow `next` to continue the search.',
      }),
    ),
  },
  { title: 'EventPage' },
);

/**
 * The response for a single event also contains the times when it was received and stored, because the event's own time
 * may have been corrected.
 */
export const shownEvent = Type.Object(
  {
    ...event.properties,
    captured_at: Type.String({ format: 'date-time', description: 'When the event was received.' }),
    stored_at: Type.String({ format: 'date-time', description: 'When the event was stored.' }),
  },
  { title: 'ShownEvent' },
);

export const eventExample = {
  id: '0193f0c5-7a4e-7000-8000-000000000007',
  uuid: '0193f0c5-7a4e-7000-8000-000000000007',
  event: 'checkout',
  distinct_id: 'user-42',
  timestamp: '2026-11-20T08:15:00.250000Z',
  properties: { amount: 12.5, $lib: 'web' },
  elements: [],
  elements_chain: '',
  person: {
    uuid: '0193f0c5-7a4e-5000-8000-000000000042',
    distinct_ids: ['user-42'],
    properties: { email: 'ada@example.com' },
  },
};

export const shownEventExample = {
  ...eventExample,
  captured_at: '2026-11-20T08:15:00.312000Z',
  stored_at: '2026-11-20T08:15:00.480000Z',
};
