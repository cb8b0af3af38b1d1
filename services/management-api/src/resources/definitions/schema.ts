import { orNull } from '@millrace/http';
import { Type } from 'typebox';
import { embeddedUser, embeddedUserExample } from '../embedded-users/embedded-user.ts';
import { tagList } from '../insights/schema.ts';

export const definitionTags: [string] = ['definitions'];

const time = Type.String({ format: 'date-time' });
const volume = {
  volume_30_day: orNull(
    Type.Integer(),
    'Events with it in the last 30 days, with `volumes=true`; null otherwise, and for persons and groups.',
  ),
  volume_is_estimated: Type.Boolean({
    description:
      'Whether that is no count: a property was looked for in the latest 50,000 events, which stand for all.',
  }),
  query_usage_30_day: orNull(
    Type.Integer(),
    'Insights that name it and were opened or changed in the last 30 days, with `volumes=true`; null otherwise.',
  ),
};
const noVolume = { volume_30_day: null, volume_is_estimated: false, query_usage_30_day: null };

/** What users decide about a definition, as it is shown. */
const shownEdits = {
  description: Type.String({ description: 'What the name stands for.' }),
  tags: tagList,
  verified: Type.Boolean({ description: 'Whether a user has verified it.' }),
  verified_at: orNull(time, 'When it was verified; null while it is not.'),
  verified_by: orNull(embeddedUser, 'User who verified it; null when that user was deleted.'),
  hidden: Type.Boolean({ description: 'Whether lists with `exclude_hidden=true` leave it out.' }),
  updated_at: Type.String({ format: 'date-time', description: 'When it was created, or last changed by a user.' }),
  updated_by: orNull(embeddedUser, 'User who last changed it; null when it was never changed.'),
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

/** Fields that are always the same are there for generated clients, which require them. */
export const eventDefinition = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the definition, made of the project and the name.' }),
    name: Type.String({ description: 'Name of the event.' }),
    owner: orNull(embeddedUser, 'User who is responsible for the event.'),
    ...shownEdits,
    created_at: orNull(time, 'When an event of this name was first noticed; null before.'),
    last_seen_at: orNull(time, 'When one was last noticed, exact to the hour; null before the first.'),
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
  [name]: { detail: `\`${name}\` is not supported: leave it out, or send ${only}.`, unless },
});

/** Fields that PostHog has and that would have no effect here. */
export const refusedEventFields = {
  ...unsupported('post_to_slack', 'false', false),
  ...unsupported('default_columns', 'an empty list', [], null),
  ...unsupported('enforcement_mode', '"allow"', 'allow'),
  ...unsupported('primary_property', 'null', null, ''),
};

/** What users send. Null means the default, as in PostHog. */
const edits = {
  description: Type.Optional(
    orNull(Type.String({ maxLength: 10_000 }), 'What the name stands for, at most 10,000 characters.'),
  ),
  tags: Type.Optional(tagList),
  verified: Type.Optional(Type.Boolean({ description: 'Whether it is verified. Setting it to true clears `hidden`.' })),
  hidden: Type.Optional(
    orNull(
      Type.Boolean(),
      'Whether lists with `exclude_hidden=true` leave it out. Setting it to true clears `verified`.',
    ),
  ),
};

const eventEdits = {
  ...edits,
  owner: Type.Optional(
    orNull(
      Type.Integer({ 'x-reference': true }),
      'Number of the user who is responsible for the event, a member of the organization.',
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
    name: Type.Optional(Type.String({ description: 'Cannot be changed: another name is refused with 400.' })),
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
      description: 'Id of the definition, made of the project, the type and the name.',
    }),
    name: Type.String({ description: 'Name of the property.' }),
    ...shownEdits,
    is_numerical: Type.Boolean({ description: 'Whether its values are numbers.' }),
    property_type: orNull(
      Type.String(),
      '`String`, `Numeric`, `Boolean` or `DateTime`, as its first telling value was, or what a user has set; null while unknown.',
    ),
    is_seen_on_filtered_events: orNull(
      Type.Boolean(),
      'Whether events of `event_names` have it; null without `event_names`.',
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
        'Type of its values. It stays until it is set to null: the next value that tells the type decides then.',
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
