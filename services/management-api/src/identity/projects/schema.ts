import type { SettingField } from '@millrace/accounts';
import { formatDateTime } from '@millrace/http';
import { type Static, type TSchema, Type } from 'typebox';
import {
  base,
  defaultModifiers,
  identity,
  identityExample,
  nameOf,
  projectComputed,
  settingResponseSchemas,
  settingsExample,
  writableSettingSchemas,
} from '../environments/schema.ts';
import { type Showing, toEnvironment } from '../environments/show.ts';
import type { EnvironmentRow } from '../environments/store.ts';

const productDescription = Type.Union([Type.String({ maxLength: 1000 }), Type.Null()], {
  description: 'Description of your product.',
});

const isProjectField = ({ isEnvironmentOnly }: SettingField) => isEnvironmentOnly !== true;

export const project = Type.Object<Record<string, TSchema>>(
  {
    ...identity,
    name: nameOf('project'),
    product_description: productDescription,
    ...base,
    ...projectComputed,
    ...settingResponseSchemas(isProjectField),
  },
  { title: 'Project' },
);

/** Fields of a project that a request can set. The settings are the same as for an environment. */
export const projectChanges = Type.Object(
  {
    name: Type.Optional(nameOf('project')),
    product_description: Type.Optional(productDescription),
    ...writableSettingSchemas(isProjectField),
  },
  { title: 'ProjectChanges' },
);
export type ProjectChanges = Static<typeof projectChanges>;

export const projectFullExample = {
  ...identityExample,
  product_description: null,
  ...settingsExample,
  person_on_events_querying_enabled: 'true',
  default_modifiers: JSON.stringify(defaultModifiers),
};

/** A project summary, with fields in the order of PostHog's API (docs/api/README.md#routes-and-fields). */
export const projectSummary = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the project, which is also the ID of its first environment.' }),
    uuid: Type.String({ format: 'uuid', description: 'UUID of the first environment.' }),
    organization: Type.String({ format: 'uuid', description: 'ID of the organization.' }),
    api_token: Type.String({ description: 'Project API key that SDKs send with events.' }),
    name: Type.String({ description: 'Name of the project.' }),
    completed_snippet_onboarding: Type.Boolean({
      description: 'Whether the snippet installation was completed.',
    }),
    has_completed_onboarding_for: Type.Unknown({ description: 'Products for which onboarding was completed.' }),
    ingested_event: Type.Boolean({ description: 'Whether at least one event has been stored.' }),
    is_demo: Type.Boolean({ description: 'Whether the project contains demo data.' }),
    timezone: Type.String({ description: 'Project time zone, as an IANA name such as `Europe/Berlin`.' }),
    access_control: Type.Boolean({
      description: 'Whether the project is private, so that only some members have access.',
    }),
  },
  { title: 'ProjectSummary' },
);

export const projectExample = {
  id: 1,
  uuid: '0193f0c5-7a4e-7000-8000-000000000001',
  organization: '0193f0c5-7a4e-7000-8000-0000000000aa',
  api_token: 'phc_exampleexampleexampleexampleexampleexample',
  name: 'Default project',
  completed_snippet_onboarding: false,
  has_completed_onboarding_for: null,
  ingested_event: true,
  is_demo: false,
  timezone: 'UTC',
  access_control: false,
};

/**
 * Converts a project to an API response (docs/api/projects.md#projects). The name, description and dates are those of
 * the project, and all other fields are those of its first environment.
 */
export function toProject(row: EnvironmentRow, showing: Showing): Record<string, unknown> {
  return {
    ...toEnvironment(row, showing),
    id: row.project_id,
    name: row.project_name,
    created_at: formatDateTime(row.project_created_at),
    updated_at: formatDateTime(later(row.updated_at, row.project_updated_at)),
    person_on_events_querying_enabled: 'true',
    default_modifiers: JSON.stringify(defaultModifiers),
  };
}

function later(one: Date, other: Date): Date {
  return new Date(Math.max(one.getTime(), other.getTime()));
}
