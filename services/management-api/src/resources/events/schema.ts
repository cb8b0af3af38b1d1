import { freeFormObject } from '@millrace/http';
import { type TSchema, Type } from 'typebox';
import { timeRangeQuery } from '../../time/time-range.ts';
import { maxDistinctIdsShown } from '../distinct-ids/distinct-id-store.ts';
import { propertiesQuery } from '../property-filters/parse-property-filters.ts';

/** Whose properties events are filtered by. */
export const owners = ['event', 'person'] as const;

/** Which events are meant: the same for all that lists or counts them. */
export const eventFilterQuery = {
  event: Type.Optional(Type.String({ description: 'Only events of this name.' })),
  distinct_id: Type.Optional(Type.String({ description: 'Only events sent with this distinct id.' })),
  person_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Only events of all distinct ids that belong to the person with this uuid now.',
    }),
  ),
  ...timeRangeQuery,
  properties: propertiesQuery(owners),
};

const nullable = <S extends TSchema>(schema: S, description: string) =>
  Type.Union([schema, Type.Null()], { description });

const element = Type.Object(
  {
    order: Type.Integer({ description: 'Place in the list, 0 for the clicked one.' }),
    tag_name: nullable(Type.String(), 'Name of the tag.'),
    text: nullable(Type.String(), 'Text of the element.'),
    href: nullable(Type.String(), 'Address of a link.'),
    attr_class: nullable(Type.Array(Type.String()), 'Classes.'),
    attr_id: nullable(Type.String(), 'Attribute `id`.'),
    nth_child: nullable(Type.Integer(), 'Place among its siblings, from 1.'),
    nth_of_type: nullable(Type.Integer(), 'Place among its siblings of the same tag, from 1.'),
    attributes: freeFormObject({ description: 'All other attributes, as `attr__<name>`.' }),
  },
  { title: 'EventElement' },
);

export const event = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the event, the same as `uuid`.' }),
    uuid: Type.String({ format: 'uuid', description: 'Id of the event.' }),
    event: Type.String({ description: 'Name of the event.' }),
    distinct_id: Type.String({ description: 'Who did it, as sent.' }),
    timestamp: Type.String({ format: 'date-time', description: 'When it happened, corrected for clock skew.' }),
    properties: freeFormObject({ description: 'Properties of the event.' }),
    elements: Type.Array(element, {
      description: 'The clicked element of an autocaptured event and those around it, the innermost first; else empty.',
    }),
    elements_chain: Type.String({ description: 'The clicked elements of an autocaptured event, else empty.' }),
    person: Type.Object(
      {
        uuid: Type.String({ format: 'uuid' }),
        distinct_ids: Type.Array(Type.String(), {
          description: `The main distinct id, then the others in the order they came, ${maxDistinctIdsShown} at most.`,
        }),
        properties: freeFormObject(),
      },
      {
        description:
          'The person the distinct id belongs to now, merges included; for an event without a person profile a stand-in.',
      },
    ),
  },
  { title: 'Event' },
);

/** One event also tells when it came, which explains its time (docs/wire-rules.md#times). */
export const shownEvent = Type.Object(
  {
    ...event.properties,
    captured_at: Type.String({ format: 'date-time', description: 'When it arrived.' }),
    stored_at: Type.String({ format: 'date-time', description: 'When it was written.' }),
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
