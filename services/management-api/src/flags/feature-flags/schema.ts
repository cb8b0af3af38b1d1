import { freeFormObject, orNull } from '@millrace/http';
import { Type } from 'typebox';
import { embeddedUser, embeddedUserExample } from '../../identity/embedded-users/embedded-user.ts';

const largest = 2_147_483_647;
const oneOf = <const T extends readonly string[]>(words: T, description: string) =>
  orNull(Type.Unsafe<T[number]>({ type: 'string', enum: [...words] }), description);
const labels = (description: string) => Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100, description });

const key = Type.String({
  minLength: 1,
  maxLength: 400,
  description:
    'Identifier that SDKs use for the flag. May contain letters, digits, `-` and `_`, and must be unique among the flags that are ' +
    'not deleted.',
});
const filters = freeFormObject({
  description:
    'Release conditions, variants and payloads of the flag: `groups` (condition sets, at least one of which must match), ' +
    '`multivariate`, `payloads`, `aggregation_group_type_index`, `holdout`, `feature_enrollment` and `early_exit`. In an ' +
    'update, omitted keys keep their values.',
});
const fields = {
  name: Type.String({ maxLength: 10_000, description: 'Description of the flag.' }),
  active: Type.Boolean({ description: 'Whether the flag is enabled.' }),
  deleted: Type.Boolean({ description: 'Whether the flag is deleted. Set it to false to restore the flag.' }),
  archived: Type.Boolean({ description: 'Whether the flag is archived. An archived flag cannot be active.' }),
  tags: labels('Tags for organizing flags. They do not affect evaluation.'),
  evaluation_contexts: labels(
    'Contexts in which the flag is evaluated. Requests that specify only other contexts do not receive the flag.',
  ),
  ensure_experience_continuity: orNull(
    Type.Boolean(),
    'Whether a person keeps the value that they had before logging in.',
  ),
  evaluation_runtime: oneOf(
    ['all', 'client', 'server'],
    'SDKs that receive the flag: client-side, server-side, or all. Null means `all`.',
  ),
  bucketing_identifier: oneOf(
    ['distinct_id', 'device_id'],
    'Identifier on which rollout and variants are based. Null means `distinct_id`.',
  ),
  is_remote_configuration: orNull(
    Type.Boolean(),
    'Whether the flag is a remote configuration: a payload that everyone receives.',
  ),
  has_encrypted_payloads: orNull(
    Type.Boolean(),
    'Whether payloads are stored encrypted. Only for remote configuration. Encrypted payloads are redacted in lists and in the activity ' +
      'log.',
  ),
  has_enriched_analytics: orNull(Type.Boolean(), 'Stored, but has no effect.'),
  rollback_conditions: Type.Unknown({ description: 'Stored, but has no effect.' }),
  performed_rollback: orNull(Type.Boolean(), 'Stored, and reset to false when `active` is set to true.'),
};

const writable = {
  filters: Type.Optional(filters),
  name: Type.Optional(orNull(fields.name, 'Description of the flag.')),
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
        'Version of the flag that you edited. Together with `original_flag`, it prevents you from overwriting changes that others ' +
        'have made in the meantime. -1 turns this check off.',
    }),
  ),
  original_flag: Type.Optional(orNull(freeFormObject(), 'The flag as you read it before editing it.')),
};

export const newFlag = Type.Object({ key, ...writable }, { title: 'FeatureFlagToCreate' });
export const refusedFlagFields = {
  analytics_dashboards: {
    detail: 'Dashboards cannot be linked to a flag. Leave `analytics_dashboards` out, or send an empty list.',
    unless: [null, []],
  },
};
export const flagChanges = Type.Object({ key: Type.Optional(key), ...writable }, { title: 'FeatureFlagChanges' });

const time = Type.String({ format: 'date-time' });
const emptyList = (description: string) => Type.Array(Type.Unknown(), { description });

export const featureFlag = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the flag.' }),
    name: fields.name,
    key,
    filters: freeFormObject({
      description:
        'Release conditions, variants and payloads. Every condition set contains its group type index, or null for persons.',
    }),
    deleted: fields.deleted,
    active: fields.active,
    archived: fields.archived,
    created_by: orNull(embeddedUser, 'User who created the flag, or null if that user was deleted.'),
    created_at: Type.String({ format: 'date-time', description: 'When the flag was created.' }),
    updated_at: Type.String({ format: 'date-time', description: 'When the flag was last changed.' }),
    last_modified_by: orNull(embeddedUser, 'User who last changed the flag.'),
    version: Type.Integer({ description: 'Version of the flag, which increases by one with every change.' }),
    last_called_at: orNull(time, 'Approximate time when an SDK last evaluated the flag.'),
    is_simple_flag: Type.Boolean({
      description: 'Whether the flag has a single condition set without filters, and no variants.',
    }),
    rollout_percentage: orNull(Type.Number(), 'Rollout percentage of a simple flag. Null for other flags.'),
    ensure_experience_continuity: fields.ensure_experience_continuity,
    evaluation_runtime: orNull(Type.String(), 'SDKs that receive the flag: `all`, `client` or `server`.'),
    bucketing_identifier: orNull(
      Type.String(),
      'Identifier on which rollout and variants are based: `distinct_id` or `device_id`.',
    ),
    evaluation_contexts: Type.Array(Type.String(), { description: 'Contexts in which the flag is evaluated.' }),
    evaluation_tags: Type.Array(Type.String(), { description: 'Older name of `evaluation_contexts`.' }),
    tags: Type.Array(Type.String(), { description: 'Tags for organizing flags.' }),
    is_remote_configuration: fields.is_remote_configuration,
    has_encrypted_payloads: fields.has_encrypted_payloads,
    has_enriched_analytics: fields.has_enriched_analytics,
    rollback_conditions: Type.Unknown({ description: 'The stored value, which has no effect.' }),
    performed_rollback: fields.performed_rollback,
    status: Type.String({ description: '`ACTIVE`, `STALE`, `ARCHIVED` or `DELETED`.' }),
    can_edit: Type.Boolean({ description: 'Whether the caller can edit the flag.' }),
    user_access_level: Type.String({ description: 'Access level of the caller: `editor` or `viewer`.' }),
    usage_dashboard: Type.Null({ description: 'Always null.' }),
    analytics_dashboards: emptyList('Always empty.'),
    experiment_set: emptyList('Always empty.'),
    surveys: emptyList('Always empty.'),
    features: emptyList('Always empty.'),
    sdk_warnings: Type.Array(Type.String(), {
      description: 'Warnings about SDKs that evaluate this flag locally with a different result than the server.',
    }),
  },
  { title: 'FeatureFlag' },
);

export const minimalFlag = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the flag.' }),
    team_id: Type.Integer({ description: 'ID of the environment of the flag.' }),
    name: fields.name,
    key,
    filters: freeFormObject({ description: 'Release conditions, variants and payloads.' }),
    deleted: fields.deleted,
    active: fields.active,
    ensure_experience_continuity: fields.ensure_experience_continuity,
    has_encrypted_payloads: fields.has_encrypted_payloads,
    version: Type.Integer({ description: 'Version of the flag, which increases by one with every change.' }),
    evaluation_runtime: orNull(Type.String(), 'SDKs that receive the flag: `all`, `client` or `server`.'),
    bucketing_identifier: orNull(Type.String(), 'Identifier on which rollout and variants are based.'),
    evaluation_contexts: Type.Array(Type.String(), { description: 'Contexts in which the flag is evaluated.' }),
    evaluation_tags: Type.Array(Type.String(), { description: 'Older name of `evaluation_contexts`.' }),
  },
  { title: 'MinimalFeatureFlag', description: 'The most important fields of a feature flag.' },
);

export const newFlagExample = {
  key: 'new-checkout',
  name: 'One-step checkout',
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
  name: 'One-step checkout',
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
    'posthog-go before 1.5.6 ignores the rollout of a condition with filters: everyone who matches the filters gets the flag.',
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
  id: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'ID of the flag.' }),
});
