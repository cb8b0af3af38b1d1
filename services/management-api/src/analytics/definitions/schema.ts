// Schemas for event and property definitions, which describe the event and property names of a project.

import { orNull } from '@millrace/http';
import { Type } from 'typebox';
import { embeddedUser, embeddedUserExample } from '../../identity/embedded-users/embedded-user.ts';
import { tagList } from '../insights/schema.ts';

export const definitionTags: [string] = ['definitions'];

const time = Type.String({ format: 'date-time' });
const volume = {
  volume_30_day: orNull(
    Type.Integer(),
    'Number of events with this name or property in the last 30 days. Null without `volumes=true`, and always null for person and group properties.',
  ),
  volume_is_estimated: Type.Boolean({
    description:
      'True if `volume_30_day` is an estimate because Millrace searched for the property only in a sample of the latest 50,000 events.',
  }),
  query_usage_30_day: orNull(
    Type.Integer(),
    'Number of insights that use this name and were opened or changed in the last 30 days. Null without `volumes=true`.',
  ),
};
const noVolume = { volume_30_day: null, volume_is_estimated: false, query_usage_30_day: null };

/** Response fields that users can set with `edits`. */
const shownEdits = {
  description: Type.String({ description: 'Description of the event or property.' }),
  tags: tagList,
  verified: Type.Boolean({ description: 'Whether a user has marked the definition as verified.' }),
  verified_at: orNull(time, 'When the definition was verified; null if it is not verified.'),
  verified_by: orNull(embeddedUser, 'User who verified the definition, or null if that user was deleted.'),
  hidden: Type.Boolean({ description: 'Whether lists with `exclude_hidden=true` leave out this definition.' }),
  updated_at: Type.String({
    format: 'date-time',
    description: 'When the definition was created, or last changed by a user.',
  }),
  updated_by: orNull(embeddedUser, 'User who last changed the definition; null if it was never changed.'),
};
const editsExample = { description: 'A customer paid for an order.', tags: ['sales'], verified: true };
const shownEditsExample = {
  ...editsExample,
  verified_at: '2026-11-21T10:00:00Z',
  verified_by: embeddedUserExample,
  hidden: false,
  updated_at: '2026-11-21T10:00:00Z',
  updated_by: embeddedUserExample,
};

/** Some fields are constant, because generated PostHog clients require them. */
export const eventDefinition = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'ID of the definition, derived from the project and the name.' }),
    name: Type.String({ description: 'Name of the event.' }),
    owner: orNull(embeddedUser, 'User responsible for the event.'),
    ...shownEdits,
    created_at: orNull(time, 'When an event with this name was first received; null if none has been received yet.'),
    last_seen_at: orNull(
      time,
      'When an event with this name was last received, accurate to the hour; null if none has been received yet.',
    ),
    last_updated_at: orNull(time, 'The same as `last_seen_at`.'),
    is_action: Type.Boolean({ description: 'Always false.' }),
    action_id: Type.Null({ description: 'Always null.' }),
    is_calculating: Type.Boolean({ description: 'Always false.' }),
    last_calculated_at: Type.Null({ description: 'Always null.' }),
    created_by: Type.Null({ description: 'Always null.' }),
    post_to_slack: Type.Boolean({ description: 'Always false.' }),
    default_columns: Type.Array(Type.String(), { description: 'Always empty.' }),
    enforcement_mode: Type.String({ description: 'Always `allow`.' }),
    ...volume,
  },
  { title: 'EventDefinition' },
);

const unsupported = (name: string, only: string, ...unless: unknown[]) => ({
  [name]: { detail: `\`${name}\` is not supported. Leave it out, or send ${only}.`, unless },
});

/** PostHog fields that Millrace does not support. Only their default values are accepted. */
export const refusedEventFields = {
  ...unsupported('post_to_slack', 'false', false),
  ...unsupported('default_columns', 'an empty list', [], null),
  ...unsupported('enforcement_mode', '"allow"', 'allow'),
  ...unsupported('primary_property', 'null', null, ''),
};

/** Request fields that users can set. Null restores the default, as in PostHog. */
const edits = {
  description: Type.Optional(
    orNull(Type.String({ maxLength: 10_000 }), 'Description of the event or property, at most 10,000 characters.'),
  ),
  tags: Type.Optional(tagList),
  verified: Type.Optional(
    Type.Boolean({ description: 'Whether the definition is verified. Setting it to true sets `hidden` to false.' }),
  ),
  hidden: Type.Optional(
    orNull(
      Type.Boolean(),
      'Whether lists with `exclude_hidden=true` leave out this definition. Setting it to true sets `verified` to false.',
    ),
  ),
};

const eventEdits = {
  ...edits,
  owner: Type.Optional(
    orNull(
      Type.Integer({ 'x-reference': true }),
      'ID of the user responsible for the event, who must be a member of the organization.',
    ),
  ),
};

export const newEventDefinition = Type.Object(
  {
    name: Type.String({ minLength: 1, description: 'Name of the event, at most 200 bytes.' }),
    ...eventEdits,
  },
  { title: 'EventDefinitionToCreate' },
);

export const eventDefinitionChanges = Type.Object(
  {
    name: Type.Optional(
      Type.String({ description: 'The name cannot be changed: a different name is rejected with 400.' }),
    ),
    ...eventEdits,
  },
  { title: 'EventDefinitionChanges' },
);

export const eventDefinitionChangesExample = editsExample;
export const newEventDefinitionExample = { name: 'checkout', ...editsExample };

export const eventDefinitionExample = {
  id: '0193f0c5-7a4e-8000-8000-000000000007',
  name: 'checkout',
  owner: null,
  ...shownEditsExample,
  created_at: '2026-11-20T08:15:00Z',
  last_seen_at: '2026-11-21T09:00:00Z',
  last_updated_at: '2026-11-21T09:00:00Z',
  is_action: false,
  action_id: null,
  is_calculating: false,
  last_calculated_at: null,
  created_by: null,
  post_to_slack: false,
  default_columns: [],
  enforcement_mode: 'allow',
  ...noVolume,
};

const propertyTypes = ['DateTime', 'String', 'Numeric', 'Boolean', 'Duration'] as const;

export const propertyDefinition = Type.Object(
  {
    id: Type.String({
      format: 'uuid',
      description: 'ID of the definition, derived from the project, the type and the name.',
    }),
    name: Type.String({ description: 'Name of the property.' }),
    ...shownEdits,
    is_numerical: Type.Boolean({ description: 'Whether the values of the property are numbers.' }),
    property_type: orNull(
      Type.String(),
      '`String`, `Numeric`, `Boolean` or `DateTime`: the type that a user has set, or else the type inferred from the ' +
        'first value whose type could be determined. Null if not yet known.',
    ),
    is_seen_on_filtered_events: orNull(
      Type.Boolean(),
      'Whether the property occurs in events of `event_names`; null without `event_names`.',
    ),
    ...volume,
  },
  { title: 'PropertyDefinition' },
);

export const propertyDefinitionChanges = Type.Object(
  {
    name: eventDefinitionChanges.properties.name,
    ...edits,
    property_type: Type.Optional(
      orNull(
        Type.Unsafe<(typeof propertyTypes)[number]>({ type: 'string', enum: [...propertyTypes] }),
        'Value type. New events do not change a type that you set. Null clears the type, and Millrace infers it from the next suitable value.',
      ),
    ),
  },
  { title: 'PropertyDefinitionChanges' },
);

export const propertyDefinitionChangesExample = { ...editsExample, property_type: 'Numeric' as const };

export const propertyDefinitionExample = {
  id: '0193f0c5-7a4e-8000-8000-000000000009',
  name: 'amount',
  ...shownEditsExample,
  is_numerical: true,
  property_type: 'Numeric',
  is_seen_on_filtered_events: null,
  ...noVolume,
};
