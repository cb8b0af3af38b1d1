import { freeFormObject } from '@millrace/http';
import { type TSchema, Type } from 'typebox';
import { type SettingField, settingFields } from './setting-fields.ts';

const time = (description: string) => Type.String({ format: 'date-time', description });
const level = Type.Union([Type.Integer(), Type.Null()], {
  description: 'Membership level of the caller here: 1, 8 or 15.',
});
const name = (what: string) => Type.String({ minLength: 1, maxLength: 200, description: `Name of the ${what}.` });
const productDescription = Type.Union([Type.String({ maxLength: 1000 }), Type.Null()], {
  description: 'What the product does.',
});

const identity = {
  id: Type.Integer({ description: 'Id; a project and its first environment share one.' }),
  uuid: Type.String({ format: 'uuid', description: 'UUID of the environment, of a project’s first one.' }),
  organization: Type.String({ format: 'uuid', description: 'Id of the organization.' }),
};
const projectId = { project_id: Type.Integer({ description: 'Id of the project.' }) };

const apiToken = Type.String({ description: 'The project API key SDKs send.' });
const ingestedEvent = Type.Boolean({ description: 'Whether an event was ever stored.' });

const base = {
  created_at: time('When it was made.'),
  updated_at: time('When it was changed last.'),
  effective_membership_level: level,
  has_group_types: Type.Boolean({ description: 'Whether groups were ever sent.' }),
  live_events_token: Type.String({ description: 'Signed token for reading live events, for seven days.' }),
  api_token: apiToken,
};

/** Response-only fields whose type the contract gives as text on projects: objects are JSON text. */
const projectComputed = {
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

/** Settings and computed fields in the order of the contract's table. */
function inContractOrder(computed: Record<string, TSchema>, isShown: (field: SettingField) => boolean) {
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

const isProjectField = ({ isEnvironmentOnly }: SettingField) => isEnvironmentOnly !== true;

/** Environment, with all its fields (docs/api-rules.md#ordered-routes). */
export const environment = Type.Object<Record<string, TSchema>>(
  {
    ...identity,
    ...projectId,
    name: name('environment'),
    ...base,
    ...inContractOrder(environmentComputed, () => true),
  },
  { title: 'Environment' },
);

/** Project, with all its fields (docs/api-rules.md#ordered-routes). */
export const project = Type.Object<Record<string, TSchema>>(
  {
    ...identity,
    name: name('project'),
    product_description: productDescription,
    ...base,
    ...inContractOrder(projectComputed, isProjectField),
  },
  { title: 'Project' },
);

const summary = {
  api_token: apiToken,
  name: name('project or environment'),
  completed_snippet_onboarding: Type.Boolean({ description: 'Whether the snippet was installed once.' }),
  has_completed_onboarding_for: Type.Unknown({ description: 'Products the onboarding was completed for.' }),
  ingested_event: ingestedEvent,
  is_demo: Type.Boolean({ description: 'Whether the data is made up.' }),
  timezone: Type.String({ description: 'IANA name of the time zone reports use.' }),
  access_control: Type.Boolean({ description: 'Whether it is private to some members.' }),
};

/** Environment summary, its fields in the order that was asked for (docs/api-rules.md#ordered-routes). */
export const environmentListItem = Type.Object(
  { ...identity, ...projectId, ...summary },
  { title: 'EnvironmentListItem' },
);

function writable(own: Record<string, TSchema>, isShown: (field: SettingField) => boolean) {
  const settings = Object.entries(settingFields).filter(([, setting]) => isShown(setting));
  const fields = { ...own, ...Object.fromEntries(settings.map(([field, { request }]) => [field, request])) };
  return Type.Object<Record<string, TSchema>>(
    Object.fromEntries(Object.entries(fields).map(([field, schema]) => [field, Type.Optional(schema)])),
  );
}

/** What may be sent when an environment is made or changed: nothing is required, nothing has a default. */
export const environmentChanges = writable({ name: name('environment') }, () => true);
export const projectChanges = writable(
  { name: name('project'), product_description: productDescription },
  isProjectField,
);
