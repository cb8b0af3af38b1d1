// Organizations as requests and answers have them.

import { membershipLevels } from '@millrace/contracts';
import { formatDateTime } from '@millrace/http';
import { Type } from 'typebox';
import type { Caller } from '../../access/caller.ts';
import type { OrganizationRow } from './store.ts';

/** Environment summary, its fields in the order of PostHog's API (docs/api/README.md#routes-and-fields). */
const environmentSummary = Type.Object(
  {
    id: Type.Integer({ description: 'Id of the environment.' }),
    uuid: Type.String({ format: 'uuid', description: 'UUID of the environment.' }),
    organization: Type.String({ format: 'uuid', description: 'Id of the organization.' }),
    project_id: Type.Integer({ description: 'Id of its project.' }),
    api_token: Type.String({ description: 'The project API key SDKs send.' }),
    name: Type.String({ description: 'Name of the environment.' }),
    completed_snippet_onboarding: Type.Boolean({ description: 'Whether the snippet was installed once.' }),
    has_completed_onboarding_for: Type.Unknown({ description: 'Products the onboarding was completed for.' }),
    ingested_event: Type.Boolean({ description: 'Whether an event was ever stored.' }),
    is_demo: Type.Boolean({ description: 'Whether the data is made up.' }),
    timezone: Type.String({ description: 'IANA name of the time zone reports use.' }),
    access_control: Type.Boolean({ description: 'Whether it is private to some members.' }),
  },
  { title: 'EnvironmentSummary' },
);

const environmentSummaryExample = {
  id: 1,
  uuid: '0193f0c5-7a4e-7000-8000-000000000001',
  organization: '0193f0c5-7a4e-7000-8000-0000000000aa',
  project_id: 1,
  api_token: 'phc_exampleexampleexampleexampleexampleexample',
  name: 'Default project',
  completed_snippet_onboarding: false,
  has_completed_onboarding_for: null,
  ingested_event: true,
  is_demo: false,
  timezone: 'UTC',
  access_control: false,
};

const secondFactorRule =
  'Whether members must have a second factor to sign in. API keys are exempt, and sessions that began at an identity provider.';

const nullable = (schema: ReturnType<typeof Type.String> | ReturnType<typeof Type.Boolean>, description: string) =>
  Type.Union([schema, Type.Null()], { description });

const flags = {
  members_can_invite: Type.Boolean({
    description: 'Whether members who are neither administrators nor owners can invite people. True by default.',
  }),
  members_can_use_personal_api_keys: Type.Boolean({
    description:
      'Whether personal API keys of members who are neither administrators nor owners reach the organization. True by default.',
  }),
  allow_publicly_shared_resources: Type.Boolean({
    description: 'Whether pictures of reports can be loaded without signing in, as Slack does. True by default.',
  }),
  default_anonymize_ips: Type.Boolean({
    description: 'Whether new projects and environments start with `anonymize_ips`. False by default.',
  }),
};

/** An organization as one of its members sees it (docs/api/organizations.md). */
export const organization = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the organization.' }),
    name: Type.String({ description: 'Name of the organization.' }),
    slug: Type.String({ description: 'Its name as a part of addresses; unique.' }),
    logo_media_id: nullable(Type.String({ format: 'uuid' }), 'Id of its logo; there are none so far.'),
    created_at: Type.String({ format: 'date-time', description: 'When it was created.' }),
    updated_at: Type.String({ format: 'date-time', description: 'When it was last changed.' }),
    membership_level: Type.Integer({ description: "The caller's level: 1 member, 8 administrator, 15 owner." }),
    plugins_access_level: Type.Integer({ description: 'There are no plugins: always 3.' }),
    teams: Type.Array(environmentSummary, { description: 'Its environments the caller can see, by id.' }),
    projects: Type.Array(
      Type.Object({ id: Type.Integer(), organization_id: Type.String({ format: 'uuid' }), name: Type.String() }),
      { description: 'Its projects the caller can see, by id.' },
    ),
    available_product_features: Type.Array(Type.Unknown(), {
      description: 'What the plan includes, as `{key, name}`.',
    }),
    is_member_join_email_enabled: Type.Boolean({ description: 'Whether members get a mail when a person joins.' }),
    metadata: Type.Object({ instance_tag: Type.String() }, { description: 'About the installation.' }),
    customer_id: nullable(Type.String(), 'There is no billing: always null.'),
    enforce_2fa: nullable(Type.Boolean(), secondFactorRule),
    ...flags,
    member_count: Type.Integer({ description: 'Number of active members.' }),
  },
  { title: 'Organization' },
);

const name = Type.String({ minLength: 1, maxLength: 64, description: 'Name of the organization.' });
const settings = {
  logo_media_id: Type.Optional(
    Type.Union([Type.String(), Type.Null()], { description: 'There are no logos so far: only null is accepted.' }),
  ),
  is_member_join_email_enabled: Type.Optional(
    Type.Boolean({ description: 'Whether members get a mail when a person joins.' }),
  ),
  enforce_2fa: Type.Optional(Type.Union([Type.Boolean(), Type.Null()], { description: secondFactorRule })),
  members_can_invite: Type.Optional(flags.members_can_invite),
  members_can_use_personal_api_keys: Type.Optional(flags.members_can_use_personal_api_keys),
  allow_publicly_shared_resources: Type.Optional(flags.allow_publicly_shared_resources),
  default_anonymize_ips: Type.Optional(flags.default_anonymize_ips),
};
export const newOrganization = Type.Object({ name, ...settings }, { title: 'OrganizationToCreate' });
export const organizationChanges = Type.Object(
  { name: Type.Optional(name), ...settings },
  { title: 'OrganizationChanges' },
);

/** Parts of PostHog that Millrace does not have. Their defaults ask for nothing. */
export const refusedOrganizationFields = {
  default_role_id: {
    detail: 'Millrace gives no role to new members. Leave `default_role_id` out, or send null.',
    unless: [null],
  },
  default_experiment_stats_method: {
    detail: 'Millrace does not include experiments. Leave `default_experiment_stats_method` out, or send `bayesian`.',
    unless: [null, 'bayesian'],
  },
  is_ai_data_processing_approved: {
    detail:
      'Millrace sends no data to AI providers, so there is nothing to approve. Leave `is_ai_data_processing_approved` out, or send false.',
    unless: [null, false],
  },
};

export const organizationExample = {
  id: '0193f0c5-7a4e-7000-8000-0000000000aa',
  name: 'Example Ltd',
  slug: 'example-ltd',
  logo_media_id: null,
  created_at: '2026-11-01T09:00:00Z',
  updated_at: '2026-11-01T09:00:00Z',
  membership_level: membershipLevels.owner,
  plugins_access_level: 3,
  teams: [environmentSummaryExample],
  projects: [{ id: 1, organization_id: '0193f0c5-7a4e-7000-8000-0000000000aa', name: 'Default project' }],
  available_product_features: [],
  is_member_join_email_enabled: true,
  metadata: { instance_tag: 'none' },
  customer_id: null,
  enforce_2fa: null,
  members_can_invite: true,
  members_can_use_personal_api_keys: true,
  allow_publicly_shared_resources: true,
  default_anonymize_ips: false,
  member_count: 2,
};

/** An organization as one of its members sees it. */
export function toOrganization(row: OrganizationRow, caller: Caller) {
  const membership = caller.memberships.find((candidate) => candidate.organizationId === row.id);
  return {
    ...row,
    created_at: formatDateTime(row.created_at),
    updated_at: formatDateTime(row.updated_at),
    // Rows are only ever read by the caller's memberships.
    membership_level: membership?.level ?? 0,
    plugins_access_level: 3,
    metadata: { instance_tag: 'none' },
    customer_id: null,
  };
}
