// Environments as requests and answers have them, with examples. Their settings are a table of packages/accounts.

import { type SettingField, settingFields } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import { freeFormObject } from '@millrace/http';
import { type TObject, type TSchema, Type } from 'typebox';

const time = (description: string) => Type.String({ format: 'date-time', description });
const level = Type.Union([Type.Integer(), Type.Null()], {
  description: 'Membership level of the caller here: 1, 8 or 15.',
});
export const nameOf = (what: string) =>
  Type.String({ minLength: 1, maxLength: 200, description: `Name of the ${what}.` });
export const identity = {
  id: Type.Integer({ description: 'Id; a project and its first environment share one.' }),
  uuid: Type.String({ format: 'uuid', description: 'UUID of the environment, of a project’s first one.' }),
  organization: Type.String({ format: 'uuid', description: 'Id of the organization.' }),
};
const projectId = { project_id: Type.Integer({ description: 'Id of the project.' }) };

const apiToken = Type.String({
  description:
    'The project API key SDKs send. `reset_token` makes another one; the old one is refused within a second, and what was taken with it is stored.',
});
const ingestedEvent = Type.Boolean({ description: 'Whether an event was ever stored.' });

export const base = {
  created_at: time('When it was made.'),
  updated_at: time('When it was changed last.'),
  effective_membership_level: level,
  has_group_types: Type.Boolean({ description: 'Whether groups were ever sent.' }),
  live_events_token: Type.Union([Type.String(), Type.Null()], {
    description:
      'Signed token for reading live events, for seven days and no longer than the key; null for keys without `event:read`.',
  }),
  api_token: apiToken,
};

/** Response-only fields whose type the API gives as text on projects: objects are JSON text. */
export const projectComputed = {
  person_on_events_querying_enabled: Type.String({ description: '`true` or `false`.' }),
  default_modifiers: Type.String({ description: 'Default query modifiers, an object as JSON text.' }),
  product_intents: Type.String({ description: 'Products people want to use, a list as JSON text.' }),
};
const environmentComputed = {
  ...projectComputed,
  person_on_events_querying_enabled: Type.Boolean({ description: 'Whether queries use the person of each event.' }),
  default_modifiers: freeFormObject({ description: 'Default query modifiers.' }),
  user_access_level: Type.Union([Type.String(), Type.Null()], {
    description: 'What the caller may do here: `admin`, `member` or null.',
  }),
};

/** Settings and computed fields in the order of the API's table. */
export function inContractOrder(computed: Record<string, TSchema>, isShown: (field: SettingField) => boolean) {
  const fields: Record<string, TSchema> = {};
  for (const [field, setting] of Object.entries(settingFields)) {
    if (field === 'inject_web_apps') {
      fields.person_on_events_querying_enabled = computed.person_on_events_querying_enabled ?? Type.Unknown();
    }
    if (field === 'has_completed_onboarding_for')
      fields.default_modifiers = computed.default_modifiers ?? Type.Unknown();
    if (field === 'flags_persistence_default') fields.product_intents = computed.product_intents ?? Type.Unknown();
    if (field === 'test_account_filters') fields.ingested_event = ingestedEvent;
    if (isShown(setting)) fields[field] = setting.response;
  }
  if (computed.user_access_level) fields.user_access_level = computed.user_access_level;
  return fields;
}

/** Environment, with all its fields (docs/api/README.md#routes-and-fields). */
export const environment = Type.Object<Record<string, TSchema>>(
  {
    ...identity,
    ...projectId,
    name: nameOf('environment'),
    ...base,
    ...inContractOrder(environmentComputed, () => true),
  },
  { title: 'Environment' },
);

const summary = {
  api_token: apiToken,
  name: nameOf('project or environment'),
  completed_snippet_onboarding: Type.Boolean({ description: 'Whether the snippet was installed once.' }),
  has_completed_onboarding_for: Type.Unknown({ description: 'Products the onboarding was completed for.' }),
  ingested_event: ingestedEvent,
  is_demo: Type.Boolean({ description: 'Whether the data is made up.' }),
  timezone: Type.String({ description: 'IANA name of the time zone reports use.' }),
  access_control: Type.Boolean({ description: 'Whether it is private to some members.' }),
};

/** Environment summary, its fields in the order of PostHog's API (docs/api/README.md#routes-and-fields). */
export const environmentListItem = Type.Object(
  { ...identity, ...projectId, ...summary },
  { title: 'EnvironmentListItem' },
);

/** The settings a request may hold: none is required, none has a default. */
export function writableSettings(isShown: (field: SettingField) => boolean) {
  const settings = Object.entries(settingFields).filter(([, setting]) => isShown(setting));
  return Object.fromEntries(settings.map(([field, { request }]) => [field, Type.Optional(request)]));
}

const onlyOff = [null, false];

/** Settings of PostHog that would change something and that Millrace does not have (docs/compatibility.md). */
export const refusedSettings = {
  conversations_enabled: {
    detail: 'Millrace does not include conversations. Leave `conversations_enabled` out, or send false.',
    unless: onlyOff,
  },
  default_evaluation_environments_enabled: {
    detail:
      'Millrace gives no evaluation contexts to new flags. Leave `default_evaluation_environments_enabled` out, or send false.',
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

/** What may be sent when an environment is made or changed. */
export const environmentChanges = Type.Object(
  {
    name: Type.Optional(nameOf('environment')),
    ...writableSettings(() => true),
  },
  { title: 'EnvironmentChanges' },
);

/** What queries go by where an environment says nothing (docs/api/projects.md#environments). */
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

/** The settings and computed fields that environments and projects share. */
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
    description: 'The secret key, in the answer that makes it and nowhere else; later its mask, like `phs_...1234`.',
  }),
  secret_api_token_backup: Type.Union([Type.String(), Type.Null()], {
    description: 'Mask of the former secret key, which is still valid; null when there is none.',
  }),
};

/** A project or an environment beside its secret keys. */
export const withSecretKeys = (record: TObject, title: string) =>
  Type.Object<Record<string, TSchema>>({ ...record.properties, ...secretFields }, { title });

/** Which secret keys there are, without saying what they are. */
export const secretKeyMasks = Type.Object(
  {
    secret_api_token: Type.Union([Type.String(), Type.Null()], {
      description: 'Mask of the secret key in use, like `phs_...1234`; null when there is none.',
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
