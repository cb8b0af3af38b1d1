// Schemas for environment requests and responses, with examples. A table in packages/accounts defines the settings.

import { type SettingField, settingFields } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import { freeFormObject } from '@millrace/http';
import { type TObject, type TSchema, Type } from 'typebox';

const time = (description: string) => Type.String({ format: 'date-time', description });
const level = Type.Union([Type.Integer(), Type.Null()], {
  description: 'Your membership level in the project: 1 (member), 8 (administrator) or 15 (owner).',
});
export const nameOf = (what: string) =>
  Type.String({ minLength: 1, maxLength: 200, description: `Name of the ${what}.` });
export const identity = {
  id: Type.Integer({ description: 'Numeric ID. A project and its first environment have the same ID.' }),
  uuid: Type.String({
    format: 'uuid',
    description: 'UUID of the environment; for a project, the UUID of its first environment.',
  }),
  organization: Type.String({ format: 'uuid', description: 'ID of the organization.' }),
};
const projectId = { project_id: Type.Integer({ description: 'ID of the project.' }) };

const apiToken = Type.String({
  description:
    'Project API key that SDKs send with events. `reset_token` replaces it. The old key is rejected within a second, ' +
    'but events already accepted with it are still stored.',
});
const ingestedEvent = Type.Boolean({ description: 'Whether at least one event has been stored.' });

export const base = {
  created_at: time('When the record was created.'),
  updated_at: time('When the record was last changed.'),
  effective_membership_level: level,
  has_group_types: Type.Boolean({ description: 'Whether at least one group type exists.' }),
  live_events_token: Type.Union([Type.String(), Type.Null()], {
    description:
      'Signed token for reading live events. It is valid for seven days, but expires no later than the API key. Null for ' +
      'keys without the scope `event:read`.',
  }),
  api_token: apiToken,
  ingested_event: ingestedEvent,
};

/** Read-only response fields. In a project response, they are strings, with objects as JSON. */
export const projectComputed = {
  person_on_events_querying_enabled: Type.String({ description: '`true` or `false`, as a string.' }),
  default_modifiers: Type.String({ description: 'Default query modifiers: an object, as a JSON string.' }),
  product_intents: Type.String({ description: 'Products that users are interested in: a list, as a JSON string.' }),
};
const environmentComputed = {
  ...projectComputed,
  person_on_events_querying_enabled: Type.Boolean({
    description: 'Whether queries use the person data that is stored with each event.',
  }),
  default_modifiers: freeFormObject({ description: 'Default query modifiers.' }),
  user_access_level: Type.Union([Type.String(), Type.Null()], {
    description: 'Your access level: `admin`, `member` or null.',
  }),
};

export function settingResponseSchemas(isShown: (field: SettingField) => boolean): Record<string, TSchema> {
  const settings = Object.entries(settingFields).filter(([, setting]) => isShown(setting));
  return Object.fromEntries(settings.map(([field, { response }]) => [field, response]));
}

export const environment = Type.Object<Record<string, TSchema>>(
  {
    ...identity,
    ...projectId,
    name: nameOf('environment'),
    ...base,
    ...environmentComputed,
    ...settingResponseSchemas(() => true),
  },
  { title: 'Environment' },
);

const summary = {
  api_token: apiToken,
  name: nameOf('project or environment'),
  completed_snippet_onboarding: Type.Boolean({ description: 'Whether the snippet installation was completed.' }),
  has_completed_onboarding_for: Type.Unknown({ description: 'Products for which onboarding was completed.' }),
  ingested_event: ingestedEvent,
  is_demo: Type.Boolean({ description: 'Whether the project contains demo data.' }),
  timezone: Type.String({ description: 'IANA time zone used in insights, for example `Europe/Lisbon`.' }),
  access_control: Type.Boolean({
    description: 'Whether the project is private, so that only some members have access.',
  }),
};

/** An environment summary, with fields in the order of PostHog's API (docs/api/README.md#routes-and-fields). */
export const environmentListItem = Type.Object(
  { ...identity, ...projectId, ...summary },
  { title: 'EnvironmentListItem' },
);

/** Returns the settings' schemas for a request body. All settings are optional and have no default. */
export function writableSettingSchemas(isShown: (field: SettingField) => boolean) {
  const settings = Object.entries(settingFields).filter(([, setting]) => isShown(setting));
  return Object.fromEntries(settings.map(([field, { request }]) => [field, Type.Optional(request)]));
}

const onlyOff = [null, false];

/** PostHog settings that Millrace rejects, because it does not support their effect (docs/compatibility.md). */
export const refusedSettings = {
  conversations_enabled: {
    detail: 'Millrace does not include conversations. Leave `conversations_enabled` out, or send false.',
    unless: onlyOff,
  },
  default_evaluation_environments_enabled: {
    detail:
      'Millrace does not add evaluation contexts to new flags. Leave `default_evaluation_environments_enabled` out, or send false.',
    unless: onlyOff,
  },
  feature_flag_confirmation_enabled: {
    detail:
      'Millrace does not ask for confirmation before a flag changes. Leave `feature_flag_confirmation_enabled` out, or send false.',
    unless: onlyOff,
  },
  proactive_tasks_enabled: {
    detail: 'Millrace does not include proactive tasks. Leave `proactive_tasks_enabled` out, or send false.',
    unless: onlyOff,
  },
};

export const environmentChanges = Type.Object(
  {
    name: Type.Optional(nameOf('environment')),
    ...writableSettingSchemas(() => true),
  },
  { title: 'EnvironmentChanges' },
);

export const defaultModifiers = {
  personsOnEventsMode: 'person_id_override_properties_on_events',
  personsArgMaxVersion: 'auto',
  inCohortVia: 'auto',
  materializationMode: 'legacy_null_as_null',
  optimizeJoinedFilters: false,
  bounceRatePageViewMode: 'count_pageviews',
  sessionTableVersion: 'auto',
  customChannelTypeRules: null,
  dataWarehouseEventsModifiers: null,
  debug: null,
  propertyGroupsMode: null,
  s3TableUseInvalidColumns: null,
} as const;

export const settingsExample = {
  ...examplesOf(({ isEnvironmentOnly }) => isEnvironmentOnly !== true),
  ingested_event: true,
  product_intents: '[]',
};

export const identityExample = {
  id: 1,
  uuid: '0193f0c5-7a4e-7000-8000-000000000001',
  organization: '0193f0c5-7a4e-7000-8000-0000000000aa',
  name: 'Default project',
  created_at: '2026-11-21T12:00:00Z',
  updated_at: '2026-11-21T12:00:00Z',
  effective_membership_level: membershipLevels.owner,
  has_group_types: false,
  live_events_token: 'eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.e30.signature',
  api_token: 'phc_exampleexampleexampleexampleexampleexample',
};

export const environmentExample = {
  ...identityExample,
  project_id: 1,
  ...settingsExample,
  person_on_events_querying_enabled: true,
  default_modifiers: defaultModifiers,
  ...examplesOf(({ isEnvironmentOnly }) => isEnvironmentOnly === true),
  user_access_level: 'admin',
};

export const environmentListExample = {
  id: 1,
  uuid: identityExample.uuid,
  organization: identityExample.organization,
  project_id: 1,
  api_token: identityExample.api_token,
  name: 'Default project',
  completed_snippet_onboarding: false,
  has_completed_onboarding_for: null,
  ingested_event: true,
  is_demo: false,
  timezone: 'Europe/Lisbon',
  access_control: false,
};

const secretFields = {
  secret_api_token: Type.Union([Type.String(), Type.Null()], {
    description:
      'The secret key: in full only in the response that creates it, and masked afterwards, for example `phs_...1234`.',
  }),
  secret_api_token_backup: Type.Union([Type.String(), Type.Null()], {
    description: 'Masked previous secret key, which is still valid. Null if no previous key exists.',
  }),
};

export const withSecretKeys = (record: TObject, title: string) =>
  Type.Object<Record<string, TSchema>>({ ...record.properties, ...secretFields }, { title });

export const secretKeyMasks = Type.Object(
  {
    secret_api_token: Type.Union([Type.String(), Type.Null()], {
      description: 'Masked secret key in use, for example `phs_...1234`. Null if no secret key exists.',
    }),
    secret_api_token_backup: secretFields.secret_api_token_backup,
  },
  { title: 'SecretKeyMasks' },
);

export type SecretFields = Record<keyof typeof secretFields, string | null>;

function examplesOf(isShown: (field: SettingField) => boolean): Record<string, unknown> {
  const shown = Object.entries(settingFields).filter(([, setting]) => isShown(setting));
  return Object.fromEntries(shown.map(([field, { example }]) => [field, example]));
}
