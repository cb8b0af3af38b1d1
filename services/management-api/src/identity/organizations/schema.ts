import { membershipLevels } from '@millrace/contracts';
import { formatDateTime } from '@millrace/http';
import { Type } from 'typebox';
import type { Caller } from '../../access/caller.ts';
import type { OrganizationRow } from './store.ts';

/** An environment summary, with fields in the order of PostHog's API (docs/api/README.md#routes-and-fields). */
const environmentSummary = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the environment.' }),
    uuid: Type.String({ format: 'uuid', description: 'UUID of the environment.' }),
    organization: Type.String({ format: 'uuid', description: 'ID of the organization.' }),
    project_id: Type.Integer({ description: 'ID of the project that the environment belongs to.' }),
    api_token: Type.String({ description: 'Project API key that SDKs send with events.' }),
    name: Type.String({ description: 'Name of the environment.' }),
    completed_snippet_onboarding: Type.Boolean({
      description: 'Whether the snippet installation was completed.',
    }),
    has_completed_onboarding_for: Type.Unknown({ description: 'Products for which onboarding was completed.' }),
    ingested_event: Type.Boolean({ description: 'Whether at least one event has been stored.' }),
    is_demo: Type.Boolean({ description: 'Whether the environment contains demo data.' }),
    timezone: Type.String({ description: 'Project time zone, as an IANA name such as `Europe/Berlin`.' }),
    access_control: Type.Boolean({
      description: 'Whether the environment is private, so that only some members have access.',
    }),
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
  'Whether members must use two-factor authentication to sign in. Does not apply to API keys, or to sign-ins ' +
  'through an identity ' +
  'provider.';

const nullable = (schema: ReturnType<typeof Type.String> | ReturnType<typeof Type.Boolean>, description: string) =>
  Type.Union([schema, Type.Null()], { description });

const flags = {
  members_can_invite: Type.Boolean({
    description: 'Whether members below administrator level can invite people. Defaults to true.',
  }),
  members_can_use_personal_api_keys: Type.Boolean({
    description:
      'Whether members below administrator level can access the organization with personal API keys. Defaults to true.',
  }),
  allow_publicly_shared_resources: Type.Boolean({
    description:
      'Whether insights and dashboards can be shared by public links, and the images in reports can be loaded without signing in, ' +
      'which Slack requires. Defaults to true.',
  }),
  default_anonymize_ips: Type.Boolean({
    description: 'Whether `anonymize_ips` is turned on in new projects and environments. Defaults to false.',
  }),
};

/** An organization as its members see it (docs/api/organizations.md). */
export const organization = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'ID of the organization.' }),
    name: Type.String({ description: 'Name of the organization.' }),
    slug: Type.String({ description: 'Unique short form of the name, for use in URLs.' }),
    logo_media_id: nullable(Type.String({ format: 'uuid' }), 'Always null, because logos are not supported.'),
    created_at: Type.String({ format: 'date-time', description: 'When the organization was created.' }),
    updated_at: Type.String({ format: 'date-time', description: 'When the organization was last changed.' }),
    membership_level: Type.Integer({
      description: 'Membership level of the caller: 1 (member), 8 (administrator) or 15 (owner).',
    }),
    plugins_access_level: Type.Integer({ description: 'Always 3, because plugins are not supported.' }),
    teams: Type.Array(environmentSummary, {
      description: 'Environments of the organization that the caller can access, ordered by ID.',
    }),
    projects: Type.Array(
      Type.Object({ id: Type.Integer(), organization_id: Type.String({ format: 'uuid' }), name: Type.String() }),
      { description: 'Projects of the organization that the caller can access, ordered by ID.' },
    ),
    available_product_features: Type.Array(Type.Unknown(), {
      description: 'Features that the plan includes, as `{key, name}`.',
    }),
    is_member_join_email_enabled: Type.Boolean({
      description: 'Whether administrators and owners receive an email when a person joins.',
    }),
    metadata: Type.Object({ instance_tag: Type.String() }, { description: 'Information about the installation.' }),
    customer_id: nullable(Type.String(), 'Always null, because billing is not supported.'),
    enforce_2fa: nullable(Type.Boolean(), secondFactorRule),
    ...flags,
    member_count: Type.Integer({ description: 'Number of active members.' }),
  },
  { title: 'Organization' },
);

const name = Type.String({ minLength: 1, maxLength: 64, description: 'Name of the organization.' });
const settings = {
  logo_media_id: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: 'Not supported: any value other than null is rejected with 400.',
    }),
  ),
  is_member_join_email_enabled: Type.Optional(
    Type.Boolean({ description: 'Whether administrators and owners receive an email when a person joins.' }),
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

/**
 * Fields of PostHog features that Millrace does not implement. Millrace accepts only their default values, which turn
 * the features off.
 */
export const refusedOrganizationFields = {
  default_role_id: {
    detail: 'Millrace does not assign a default role to new members. Leave out `default_role_id`, or send null.',
    unless: [null],
  },
  default_experiment_stats_method: {
    detail: 'Millrace does not include experiments. Leave `default_experiment_stats_method` out, or send `bayesian`.',
    unless: [null, 'bayesian'],
  },
  is_ai_data_processing_approved: {
    detail:
      'Millrace sends no data to AI providers, so there is nothing to approve. Leave ' +
      '`is_ai_data_processing_approved` out, or send false.',
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

export function toOrganization(row: OrganizationRow, caller: Caller) {
  const membership = caller.memberships.find((candidate) => candidate.organizationId === row.id);
  return {
    ...row,
    created_at: formatDateTime(row.created_at),
    updated_at: formatDateTime(row.updated_at),
    // The fallback is never used, because the query reads only organizations that the caller is a member of.
    membership_level: membership?.level ?? 0,
    plugins_access_level: 3,
    metadata: { instance_tag: 'none' },
    customer_id: null,
  };
}
