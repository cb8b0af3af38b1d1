import { Type } from 'typebox';

const nullableTime = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description });
const count = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description });
const volume = {
  volume_30_day: count(
    'Events with it in the last 30 days, with `volumes=true`; null otherwise, and for persons and groups.',
  ),
  volume_is_estimated: Type.Boolean({
    description:
      'Whether that is no count: a property was looked for in the latest 50,000 events, which stand for all.',
  }),
  query_usage_30_day: count(
    'Insights that name it and were opened or changed in the last 30 days, with `volumes=true`; null otherwise.',
  ),
};
const noVolume = { volume_30_day: null, volume_is_estimated: false, query_usage_30_day: null };
const tags = Type.Array(Type.String(), { description: 'Always empty.' });

/** Fields that are always the same are there for generated clients, which require them. */
export const eventDefinition = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the definition, made of the project and the name.' }),
    name: Type.String({ description: 'Name of the event.' }),
    created_at: nullableTime('When an event of this name was first noticed.'),
    last_seen_at: nullableTime('When one was last noticed; exact to the hour.'),
    last_updated_at: nullableTime('The same as `last_seen_at`.'),
    tags,
    is_action: Type.Boolean({ description: 'Always false.' }),
    action_id: Type.Null({ description: 'Always null.' }),
    is_calculating: Type.Boolean({ description: 'Always false.' }),
    last_calculated_at: Type.Null({ description: 'Always null.' }),
    created_by: Type.Null({ description: 'Always null.' }),
    post_to_slack: Type.Boolean({ description: 'Always false.' }),
    ...volume,
  },
  { title: 'EventDefinition' },
);

export const eventDefinitionExample = {
  id: '0193f0c5-7a4e-8000-8000-000000000007',
  name: 'checkout',
  created_at: '2026-11-20T08:15:00Z',
  last_seen_at: '2026-11-21T09:00:00Z',
  last_updated_at: '2026-11-21T09:00:00Z',
  tags: [],
  is_action: false,
  action_id: null,
  is_calculating: false,
  last_calculated_at: null,
  created_by: null,
  post_to_slack: false,
  ...noVolume,
};

export const propertyDefinition = Type.Object(
  {
    id: Type.String({
      format: 'uuid',
      description: 'Id of the definition, made of the project, the type and the name.',
    }),
    name: Type.String({ description: 'Name of the property.' }),
    is_numerical: Type.Boolean({ description: 'Whether its values are numbers.' }),
    property_type: Type.Union([Type.String(), Type.Null()], {
      description: '`String`, `Numeric`, `Boolean` or `DateTime`, as its first telling value was; null while unknown.',
    }),
    tags,
    is_seen_on_filtered_events: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'Whether events of `event_names` have it; null without `event_names`.',
    }),
    ...volume,
  },
  { title: 'PropertyDefinition' },
);

export const propertyDefinitionExample = {
  id: '0193f0c5-7a4e-8000-8000-000000000009',
  name: 'amount',
  is_numerical: true,
  property_type: 'Numeric',
  tags: [],
  is_seen_on_filtered_events: null,
  ...noVolume,
};
