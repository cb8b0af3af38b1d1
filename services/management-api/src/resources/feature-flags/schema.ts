import { freeFormObject, orNull } from '@millrace/http';
import { Type } from 'typebox';
import { embeddedUser, embeddedUserExample } from '../embedded-users/embedded-user.ts';

const largest = 2_147_483_647;
const oneOf = <const T extends readonly string[]>(words: T, description: string) =>
  orNull(Type.Unsafe<T[number]>({ type: 'string', enum: [...words] }), description);
const labels = (description: string) => Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100, description });

const key = Type.String({
  minLength: 1,
  maxLength: 400,
  description:
    'Name by which SDKs ask for it: letters, digits, `-` and `_`. Unique among the flags that are not deleted.',
});
const filters = freeFormObject({
  description:
    'Who gets the flag, and what: `groups` (condition sets; one that matches is enough), `multivariate`, `payloads`, `aggregation_group_type_index`, `holdout`, `feature_enrollment`, `early_exit`. On a change, keys that are not sent stay as they are.',
});
const fields = {
  name: Type.String({ maxLength: 10_000, description: 'What the flag is for.' }),
  active: Type.Boolean({ description: 'Whether it is on for anybody.' }),
  deleted: Type.Boolean({ description: 'Whether it is deleted; `false` restores it.' }),
  archived: Type.Boolean({ description: 'Whether it was put away. An archived flag is not active.' }),
  tags: labels('Free labels, without effect.'),
  evaluation_contexts: labels('Where the flag is for: kept from requests that name other contexts.'),
  ensure_experience_continuity: orNull(Type.Boolean(), 'Whether a person keeps what they got before logging in.'),
  evaluation_runtime: oneOf(['all', 'client', 'server'], 'Kind of SDK it is for; null is `all`.'),
  bucketing_identifier: oneOf(['distinct_id', 'device_id'], 'What a rollout goes by; null is `distinct_id`.'),
  is_remote_configuration: orNull(Type.Boolean(), 'Whether it is only a payload, which everybody gets.'),
  has_encrypted_payloads: orNull(
    Type.Boolean(),
    'Whether the payload is kept encrypted; for remote configuration only. Lists and the activity log do not show it.',
  ),
  has_enriched_analytics: orNull(Type.Boolean(), 'Kept, without effect.'),
  rollback_conditions: Type.Unknown({ description: 'Kept, without effect.' }),
  performed_rollback: orNull(Type.Boolean(), 'Kept; false when the flag is turned on.'),
};

const writable = {
  filters: Type.Optional(filters),
  name: Type.Optional(orNull(fields.name, 'What the flag is for.')),
  active: Type.Optional(fields.active),
  deleted: Type.Optional(fields.deleted),
  archived: Type.Optional(fields.archived),
  tags: Type.Optional(fields.tags),
  evaluation_contexts: Type.Optional(fields.evaluation_contexts),
  evaluation_tags: Type.Optional(labels('Older name of `evaluation_contexts`.')),
  ensure_experience_continuity: Type.Optional(fields.ensure_experience_continuity),
  evaluation_runtime: Type.Optional(fields.evaluation_runtime),
  bucketing_identifier: Type.Optional(fields.bucketing_identifier),
  is_remote_configuration: Type.Optional(fields.is_remote_configuration),
  has_encrypted_payloads: Type.Optional(fields.has_encrypted_payloads),
  has_enriched_analytics: Type.Optional(fields.has_enriched_analytics),
  rollback_conditions: Type.Optional(fields.rollback_conditions),
  performed_rollback: Type.Optional(fields.performed_rollback),
  version: Type.Optional(
    Type.Integer({
      minimum: -1,
      maximum: largest,
      description:
        'The version the change was made from; with `original_flag`, what others changed meanwhile is refused. With -1 nothing is checked.',
    }),
  ),
  original_flag: Type.Optional(orNull(freeFormObject(), 'The flag as it was read before the change.')),
};

/** For POST and PUT. */
export const newFlag = Type.Object({ key, ...writable }, { title: 'FeatureFlagToCreate' });
export const refusedFlagFields = {
  analytics_dashboards: {
    detail: 'Dashboards cannot be linked to a flag. Leave `analytics_dashboards` out, or send an empty list.',
    unless: [null, []],
  },
};
/** For PATCH. */
export const flagChanges = Type.Object({ key: Type.Optional(key), ...writable }, { title: 'FeatureFlagChanges' });

const time = Type.String({ format: 'date-time' });
const emptyList = (description: string) => Type.Array(Type.Unknown(), { description });

/** A flag. */
export const featureFlag = Type.Object(
  {
    id: Type.Integer({ description: 'Number of the flag.' }),
    name: fields.name,
    key,
    filters: freeFormObject({ description: 'Who gets the flag, and what, with the group type of every condition.' }),
    deleted: fields.deleted,
    active: fields.active,
    archived: fields.archived,
    created_by: orNull(embeddedUser, 'Who made it; null when the user was deleted.'),
    created_at: Type.String({ format: 'date-time', description: 'When it was made.' }),
    updated_at: Type.String({ format: 'date-time', description: 'When it was last changed.' }),
    last_modified_by: orNull(embeddedUser, 'Who changed it last.'),
    version: Type.Integer({ description: 'Grows by one with every change.' }),
    last_called_at: orNull(time, 'About when an SDK last asked for it.'),
    is_simple_flag: Type.Boolean({ description: 'Whether it has one condition without filters, and no variants.' }),
    rollout_percentage: orNull(Type.Number(), 'Rollout of a simple flag, null otherwise.'),
    ensure_experience_continuity: fields.ensure_experience_continuity,
    evaluation_runtime: orNull(Type.String(), 'Kind of SDK it is for: `all`, `client` or `server`.'),
    bucketing_identifier: orNull(Type.String(), 'What a rollout goes by: `distinct_id` or `device_id`.'),
    evaluation_contexts: Type.Array(Type.String(), { description: 'Where the flag is for.' }),
    evaluation_tags: Type.Array(Type.String(), { description: 'Older name of `evaluation_contexts`.' }),
    tags: Type.Array(Type.String(), { description: 'Free labels.' }),
    is_remote_configuration: fields.is_remote_configuration,
    has_encrypted_payloads: fields.has_encrypted_payloads,
    has_enriched_analytics: fields.has_enriched_analytics,
    rollback_conditions: Type.Unknown({ description: 'As it was sent.' }),
    performed_rollback: fields.performed_rollback,
    status: Type.String({ description: '`ACTIVE`, `STALE`, `ARCHIVED` or `DELETED`.' }),
    can_edit: Type.Boolean({ description: 'Whether the caller may change it.' }),
    user_access_level: Type.String({ description: 'What the caller may do with it.' }),
    usage_dashboard: Type.Null({ description: 'Always null.' }),
    analytics_dashboards: emptyList('Always empty.'),
    experiment_set: emptyList('Always empty.'),
    surveys: emptyList('Always empty.'),
    features: emptyList('Always empty.'),
    sdk_warnings: Type.Array(Type.String(), {
      description: 'SDKs that evaluate this flag by themselves in another way than the server, a sentence each.',
    }),
  },
  { title: 'FeatureFlag' },
);

/** A flag as others refer to it. */
export const minimalFlag = Type.Object(
  {
    id: Type.Integer({ description: 'Number of the flag.' }),
    team_id: Type.Integer({ description: 'Id of its environment.' }),
    name: fields.name,
    key,
    filters: freeFormObject({ description: 'Who gets the flag, and what.' }),
    deleted: fields.deleted,
    active: fields.active,
    ensure_experience_continuity: fields.ensure_experience_continuity,
    has_encrypted_payloads: fields.has_encrypted_payloads,
    version: Type.Integer({ description: 'Grows by one with every change.' }),
    evaluation_runtime: orNull(Type.String(), 'Kind of SDK it is for.'),
    bucketing_identifier: orNull(Type.String(), 'What a rollout goes by.'),
    evaluation_contexts: Type.Array(Type.String(), { description: 'Where the flag is for.' }),
    evaluation_tags: Type.Array(Type.String(), { description: 'Older name of `evaluation_contexts`.' }),
  },
  { title: 'MinimalFeatureFlag', description: 'The flag, as others refer to it.' },
);

export const newFlagExample = {
  key: 'new-checkout',
  name: 'The checkout in one step',
  filters: {
    groups: [
      { properties: [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }], rollout_percentage: 50 },
    ],
    payloads: { true: '{"color": "green"}' },
  },
  tags: ['checkout'],
};

export const featureFlagExample = {
  id: 1,
  name: 'The checkout in one step',
  key: 'new-checkout',
  filters: {
    groups: [
      {
        properties: [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }],
        rollout_percentage: 50,
        aggregation_group_type_index: null,
      },
    ],
    payloads: { true: '{"color": "green"}' },
    aggregation_group_type_index: null,
  },
  deleted: false,
  active: true,
  archived: false,
  created_by: embeddedUserExample,
  created_at: '2026-11-21T12:00:00Z',
  updated_at: '2026-11-21T12:00:00Z',
  last_modified_by: embeddedUserExample,
  version: 1,
  last_called_at: null,
  is_simple_flag: false,
  rollout_percentage: null,
  ensure_experience_continuity: false,
  evaluation_runtime: 'all',
  bucketing_identifier: null,
  evaluation_contexts: [],
  evaluation_tags: [],
  tags: ['checkout'],
  is_remote_configuration: false,
  has_encrypted_payloads: false,
  has_enriched_analytics: false,
  rollback_conditions: [],
  performed_rollback: false,
  status: 'ACTIVE',
  can_edit: true,
  user_access_level: 'editor',
  usage_dashboard: null,
  analytics_dashboards: [],
  experiment_set: [],
  surveys: [],
  features: [],
  sdk_warnings: [
    'posthog-go before 1.5.6 gives it to everybody who passes the filters of a condition, whatever its rollout.',
  ],
};

export const minimalFlagExample = {
  id: 1,
  team_id: 1,
  name: featureFlagExample.name,
  key: featureFlagExample.key,
  filters: featureFlagExample.filters,
  deleted: false,
  active: true,
  ensure_experience_continuity: false,
  has_encrypted_payloads: false,
  version: 1,
  evaluation_runtime: 'all',
  bucketing_identifier: null,
  evaluation_contexts: [],
  evaluation_tags: [],
};

export const flagsPath = '/feature_flags';

export const flagTags: [string] = ['feature_flags'];

export const flagParams = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Number of the flag.' }),
});
