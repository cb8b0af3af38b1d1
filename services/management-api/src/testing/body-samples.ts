import { settingFields } from '@millrace/accounts';
import { type SampleRecords, sampleExport, sampleQuery, sampleSubscription } from './sample-records.ts';

/** Sample requests that show whether PostHog's documented body fields have an effect. */
export interface BodySample {
  /**
   * Path of a collection. If set, each request creates a new record there. By default, requests change an existing
   * sample record.
   */
  creates?: string;
  /** Fields that a new record requires. A function returns different values for each record. */
  needed?: Record<string, unknown> | (() => Record<string, unknown>);
  /** Fields that PUT requires. Tests send the record's current values. */
  repeated?: string[];
  /** Fields that must be saved in the record. A single request sends all of them. */
  stored?: Record<string, unknown>;
  /** Valid values for fields without effect. A route that declares such a field still validates its value. */
  harmless?: Record<string, unknown>;
  /** The values that responses must contain, if they differ from the values in the request. */
  shown?: Record<string, unknown>;
  /**
   * Like `stored`, for fields that must be sent separately, each to a new record. A function returns a different value
   * each time.
   */
  alone?: Record<string, unknown>;
  refused?: Record<string, unknown>;
  /**
   * Fields whose effect is not visible in the record, and the test that covers each of them, as a path under `src/`.
   */
  proven?: Record<string, string>;
}

let serial = 0;
const unique = (word: string) => `${word}${++serial}`;
const provenBy = (file: string, ...names: string[]) => Object.fromEntries(names.map((name) => [name, file]));

function settingExamples(isEnvironment: boolean) {
  const fields = Object.entries(settingFields).filter(([, field]) => isEnvironment || !field.isEnvironmentOnly);
  const {
    is_demo: _,
    primary_dashboard: __,
    ...examples
  } = Object.fromEntries(fields.map(([name, { example }]) => [name, example]));
  return { name: 'Renamed', ...examples };
}

/** Returns samples by route path prefix. The longest matching prefix applies. */
export function bodySamples(records: SampleRecords): Record<string, BodySample> {
  return {
    ...ofOrganizations(records),
    ...ofExports(records),
    ...ofInsights(records),
    ...ofFlags(records),
    ...ofDefinitions(records),
    ...ofUsers,
  };
}

function ofOrganizations({ organizationId, projectId }: SampleRecords): Record<string, BodySample> {
  const project = `/api/projects/${projectId}`;
  const organization = `/api/organizations/${organizationId}`;
  const settings = {
    needed: { name: 'New' },
    shown: { session_recording_sample_rate: '0.40' },
    proven: {
      is_demo: 'identity/environments/demo-limits.test.ts',
      primary_dashboard: 'identity/environments/contract-walk.test.ts',
    },
  };
  return {
    '/api/organizations': {
      creates: '/api/organizations',
      needed: () => ({ name: unique('Organization') }),
      stored: {
        name: 'Renamed',
        allow_publicly_shared_resources: false,
        default_anonymize_ips: true,
        enforce_2fa: true,
        is_member_join_email_enabled: false,
        members_can_invite: false,
        members_can_use_personal_api_keys: false,
      },
      refused: { logo_media_id: '0193f0c5-7a4e-7000-8000-000000000001' },
    },
    '/api/organizations/{}/domains': {
      creates: `${organization}/domains`,
      needed: () => ({ domain: `${unique('d')}.example` }),
      alone: { domain: () => `${unique('other')}.example` },
      harmless: { jit_provisioning_enabled: true, sso_enforcement: 'saml' },
      refused: { scim_enabled: true },
      proven: {
        ...provenBy('identity/domains/owner-domains.test.ts', 'saml_acs_url', 'saml_entity_id', 'saml_x509_cert'),
        ...provenBy('identity/domains/domain-routes.test.ts', 'jit_provisioning_enabled', 'sso_enforcement'),
      },
    },
    '/api/organizations/{}/invites': {
      creates: `${organization}/invites`,
      needed: () => ({ target_email: `${unique('i')}@x.example` }),
      stored: { first_name: 'Ada', level: 8, message: 'Hello', send_email: false, combine_pending_invites: true },
      alone: { target_email: 'other@x.example' },
      proven: { private_project_access: 'identity/invites/invite-routes.test.ts' },
    },
    '/api/organizations/{}/invites/bulk': {
      proven: provenBy(
        'identity/invites/invite-routes.test.ts',
        ...['combine_pending_invites', 'first_name', 'level', 'message', 'private_project_access', 'send_email'],
        'target_email',
      ),
    },
    '/api/organizations/{}/members': { stored: { level: 8 } },
    '/api/organizations/{}/roles': {
      creates: `${organization}/roles`,
      needed: () => ({ name: unique('Role') }),
      alone: { name: () => unique('Renamed') },
    },
    '/api/organizations/{}/roles/{}/role_memberships': { proven: { user_uuid: 'identity/roles/roles.test.ts' } },
    '/api/organizations/{}/projects': {
      ...settings,
      creates: `${organization}/projects`,
      stored: { ...settingExamples(false), product_description: 'Shoes' },
    },
    '/api/projects/{}/environments': {
      ...settings,
      creates: `${project}/environments`,
      stored: settingExamples(true),
    },
  };
}

function ofExports({ ids, projectId }: SampleRecords): Record<string, BodySample> {
  const project = `/api/projects/${projectId}`;
  const insight = Number(ids.insights);
  const dashboard = Number(ids.dashboards);
  const { destination } = sampleExport;
  const exported: BodySample = {
    creates: `${project}/batch_exports`,
    needed: sampleExport,
    stored: {
      name: 'Other',
      interval: 'week',
      timezone: 'Europe/Berlin',
      offset_day: 2,
      offset_hour: 5,
      paused: true,
      start_at: '2026-11-01T00:00:00Z',
      end_at: '2027-11-01T00:00:00Z',
      filters: [{ type: 'event', key: 'plan', operator: 'exact', value: ['pro'] }],
      destination: { type: 'Postgres', config: { ...destination.config, table_name: 'other' } },
    },
    shown: { destination: { type: 'Postgres', config: expect.objectContaining({ table_name: 'other' }) } },
    alone: { model: 'persons' },
    proven: { hogql_query: 'deliveries/batch-exports/batch-export-routes.test.ts' },
  };
  return {
    '/api/organizations/{}/batch_exports': exported,
    '/api/projects/{}/batch_exports': exported,
    '/api/organizations/{}/batch_exports/{}/backfill': {
      proven: provenBy('deliveries/batch-exports/batch-export-routes.test.ts', 'start_at', 'end_at'),
    },
    '/api/projects/{}/batch_exports/{}/backfill': {
      proven: provenBy('deliveries/batch-exports/batch-export-routes.test.ts', 'start_at', 'end_at'),
    },
    '/api/projects/{}/subscriptions': {
      creates: `${project}/subscriptions`,
      needed: { ...sampleSubscription, send_test_now: false },
      stored: {
        frequency: 'monthly',
        byweekday: ['tuesday'],
        bysetpos: 2,
        count: 5,
        interval: 2,
        start_date: '2026-11-03T09:00:00Z',
        until_date: '2027-11-03T09:00:00Z',
        target_type: 'webhook',
        target_value: 'https://hooks.example.com/a',
        title: 'Title',
        insight,
      },
      alone: { dashboard, deleted: true },
      proven: provenBy(
        'deliveries/subscriptions/subscription-routes.test.ts',
        'dashboard_export_insights',
        'invite_message',
      ),
    },
  };
}

function ofInsights({ ids, projectId }: SampleRecords): Record<string, BodySample> {
  const project = `/api/projects/${projectId}`;
  const insight = Number(ids.insights);
  const dashboard = Number(ids.dashboards);
  return {
    '/api/projects/{}/annotations': {
      creates: `${project}/annotations`,
      needed: { content: 'Text', scope: 'project' },
      stored: { content: 'Other', creation_type: 'GIT', date_marker: '2026-11-01T00:00:00Z', scope: 'organization' },
      alone: { dashboard_item: insight, dashboard_id: dashboard, deleted: true },
    },
    '/api/projects/{}/cohorts': {
      creates: `${project}/cohorts`,
      needed: { name: 'Cohort' },
      stored: {
        name: 'Other',
        description: 'Text',
        groups: [{ properties: [{ key: 'a', value: 'b', type: 'person' }] }],
      },
      alone: {
        deleted: true,
        filters: { properties: { type: 'OR', values: [{ type: 'person', key: 'a', operator: 'exact', value: 'b' }] } },
      },
      shown: { filters: expect.objectContaining({ properties: expect.anything() }) },
      refused: { query: { kind: 'ActorsQuery' } },
    },
    '/api/projects/{}/cohorts/{}/add_persons_to_static_cohort': {
      proven: { person_ids: 'analytics/cohorts/members.test.ts' },
    },
    '/api/projects/{}/cohorts/{}/remove_person_from_static_cohort': {
      proven: { person_id: 'analytics/cohorts/members.test.ts' },
    },
    '/api/projects/{}/dashboards': {
      creates: `${project}/dashboards`,
      stored: {
        name: 'Board',
        description: 'Text',
        pinned: true,
        breakdown_colors: [{ a: 1 }],
        data_color_theme_id: 3,
        quick_filter_ids: ['a'],
        restriction_level: 37,
        tags: ['a'],
      },
      alone: { deleted: true },
      refused: { use_template: 'Template' },
      proven: provenBy('analytics/dashboards/routes.test.ts', 'use_dashboard', 'delete_insights'),
    },
    '/api/projects/{}/dashboards/{}/copy_tile': {
      proven: provenBy('analytics/dashboards/routes.test.ts', 'fromDashboardId', 'tileId'),
    },
    '/api/projects/{}/dashboards/{}/reorder_tiles': { proven: { tile_order: 'analytics/dashboards/routes.test.ts' } },
    '/api/projects/{}/insight_variables': {
      creates: `${project}/insight_variables`,
      needed: () => ({ name: unique('Variable'), type: 'List', values: ['a'] }),
      stored: { name: 'Other variable', values: ['b', 'c'], default_value: 'c' },
      proven: { type: 'analytics/insight-variables/routes.test.ts' },
    },
    '/api/projects/{}/insights': {
      creates: `${project}/insights`,
      needed: { query: sampleQuery },
      stored: {
        name: 'Insight',
        derived_name: 'Derived',
        description: 'Text',
        favorited: true,
        order: 3,
        query: { ...sampleQuery, interval: 'week' },
        tags: ['a'],
      },
      alone: { dashboards: [dashboard], deleted: true },
    },
    '/api/projects/{}/query': {
      proven: {
        ...provenBy(
          'analytics/query/query-routes.test.ts',
          ...['async', 'client_query_id', 'filters_override', 'query', 'refresh'],
        ),
        variables_override: 'analytics/insight-variables/routes.test.ts',
      },
    },
  };
}

function ofFlags({ projectId }: SampleRecords): Record<string, BodySample> {
  const project = `/api/projects/${projectId}`;
  return {
    '/api/projects/{}/early_access_feature': {
      creates: `${project}/early_access_feature`,
      needed: () => ({ name: unique('Feature'), stage: 'beta' }),
      stored: {
        name: 'Other feature',
        description: 'Text',
        documentation_url: 'https://example.com/',
        payload: { a: 1 },
        stage: 'alpha',
      },
      proven: { feature_flag_id: 'flags/early-access-features/routes.test.ts' },
    },
    '/api/projects/{}/feature_flags': {
      creates: `${project}/feature_flags`,
      needed: () => ({ key: unique('flag') }),
      stored: {
        name: 'Flag',
        active: false,
        ensure_experience_continuity: true,
        evaluation_runtime: 'server',
        evaluation_tags: ['web'],
        filters: { groups: [{ properties: [], rollout_percentage: 50 }] },
        has_enriched_analytics: true,
        performed_rollback: true,
        rollback_conditions: [{ a: 1 }],
        tags: ['a'],
      },
      shown: { filters: expect.objectContaining({ groups: [expect.objectContaining({ rollout_percentage: 50 })] }) },
      alone: {
        key: () => unique('other-key'),
        bucketing_identifier: 'device_id',
        is_remote_configuration: true,
        deleted: true,
      },
      proven: provenBy('flags/feature-flags/routes.test.ts', 'has_encrypted_payloads', 'version'),
    },
    '/api/projects/{}/feature_flags/user_blast_radius': {
      proven: provenBy('flags/feature-flags/evaluation/evaluation.test.ts', 'condition', 'group_type_index'),
    },
    '/api/projects/{}/persons/{}/split': { refused: { properties: { a: 1 } } },
    '/api/projects/{}/persons': {
      proven: provenBy('analytics/persons/property-routes.test.ts', '$unset', 'key', 'value'),
    },
  };
}

function ofDefinitions({ projectId, userId }: SampleRecords): Record<string, BodySample> {
  return {
    '/api/projects/{}/event_definitions': {
      creates: `/api/projects/${projectId}/event_definitions`,
      needed: () => ({ name: unique('event') }),
      repeated: ['name'],
      stored: { description: 'Text', owner: userId, tags: ['a'], verified: true },
      shown: { owner: expect.objectContaining({ id: userId }) },
      alone: { hidden: true },
      refused: { default_columns: ['a'], enforcement_mode: 'reject', post_to_slack: true },
      proven: { name: 'analytics/definitions/edits.test.ts' },
    },
    '/api/projects/{}/property_definitions': {
      proven: provenBy(
        'analytics/definitions/edits.test.ts',
        ...['description', 'hidden', 'property_type', 'tags', 'verified'],
      ),
    },
    '/api/projects/{}/groups': {
      proven: provenBy('analytics/groups/write-routes.test.ts', 'group_key', 'group_properties', 'group_type_index'),
    },
  };
}

const ofUsers: Record<string, BodySample> = {
  '/api/users/@me': {
    stored: { first_name: 'Grace', last_name: 'Hopper', hedgehog_config: { a: 1 }, role_at_organization: 'data' },
    proven: {
      ...provenBy('identity/users/user-write-routes.test.ts', 'set_current_organization', 'set_current_team'),
      ...provenBy('identity/sign-in/credential-changes.test.ts', 'password', 'current_password', 'email'),
    },
  },
};
