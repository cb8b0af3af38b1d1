// Parameters and fields that PostHog clients send and Millrace accepts without effect. The request pipeline, the
// OpenAPI document, docs/compatibility.md (`npm run docs`) and the tests use this table.

import type { Route } from '@millrace/http';
import { allOtherFields, toRouteKey } from './route-key.ts';

export interface WithoutEffect {
  /** Route keys in the format of `toRouteKey`. */
  routes: readonly string[];
  query?: readonly string[];
  /** `allOtherFields` means all fields that the route does not declare. */
  body?: readonly string[] | typeof allOtherFields;
  /** The reason why clients work even if the parameter or field has no effect, in Markdown. */
  reason: string;
}

const project = '/api/projects/{}';
const written = (path: string) => [`POST ${project}${path}`, `PATCH ${project}${path}/{}`, `PUT ${project}${path}/{}`];
const organizationProjects = '/api/organizations/{}/projects';
const addressed = [`${organizationProjects}/{}`, `${project}/environments/{}`, project];
const items = [...addressed, '/api/environments/{}'];
const exports = [project, '/api/organizations/{}'].map((base) => `${base}/batch_exports`);

/**
 * Contains only parameters and fields that do not change what is delivered, counted or exported. All others must either
 * work or be rejected by name (`refusedQuery` and `refusedBody` of the route).
 */
export const withoutEffect: readonly WithoutEffect[] = [
  {
    routes: [`GET ${project}/events`],
    query: ['include_person'],
    reason: 'Every event includes its person.',
  },
  {
    routes: [`POST ${project}/query`],
    body: ['name'],
    reason: '`name` only labels the query in server logs.',
  },
  {
    routes: [`GET ${project}/cohorts`],
    query: ['hide_behavioral_cohorts'],
    reason: 'Millrace has no behavioral cohorts.',
  },
  {
    routes: ['/dashboards', '/insights', '/feature_flags']
      .flatMap(written)
      .concat(`POST ${project}/early_access_feature`),
    body: ['_create_in_folder'],
    reason: 'The field selects the folder in which PostHog lists the new record. Millrace has no folders.',
  },
  {
    routes: written('/dashboards'),
    body: ['last_accessed_at', 'last_refresh'],
    reason: 'Millrace sets these times.',
  },
  {
    routes: exports.flatMap((path) => [`POST ${path}`, `PATCH ${path}/{}`, `PUT ${path}/{}`]),
    body: ['last_paused_at'],
    reason: 'Millrace sets this time.',
  },
  {
    routes: written('/feature_flags'),
    body: ['created_at', 'last_called_at', 'creation_context'],
    reason: 'Millrace sets these times. `creation_context` says on which PostHog page a flag was created.',
  },
  {
    routes: written('/feature_flags'),
    body: ['_should_create_usage_dashboard'],
    reason: 'Millrace does not create usage dashboards. Clients send true for every flag.',
  },
  {
    routes: written('/cohorts'),
    body: ['cohort_type'],
    reason: 'The cohort type follows from `is_static` and `filters`. Responses include it.',
  },
  {
    routes: ['bulk_delete', '{}/update_property', '{}/delete_property'].map((end) => `POST ${project}/persons/${end}`),
    body: ['properties'],
    reason: 'The PostHog API document contains this field by mistake. PostHog ignores it as well.',
  },
  {
    routes: ['PATCH', 'PUT'].map((method) => `${method} ${project}/property_definitions/{}`),
    body: ['is_numerical'],
    reason: 'The value follows from `property_type`. Responses include it.',
  },
  {
    routes: [`PATCH ${project}/groups_types/update_metadata`],
    body: ['created_at'],
    reason: 'Millrace sets this time.',
  },
  {
    routes: ['PATCH /api/users/@me'],
    body: ['events_column_config', 'has_seen_product_intro_for', 'theme_mode', 'toolbar_mode'],
    reason: 'These fields only control how the PostHog interface looks to the user.',
  },
  {
    routes: ['POST /api/organizations/{}/domains'],
    body: ['jit_provisioning_enabled', 'sso_enforcement'],
    reason:
      'A new domain is not verified yet. As in PostHog, send these fields with PATCH once the domain is verified.',
  },
  {
    routes: [
      `POST ${organizationProjects}`,
      'POST /api/projects',
      `POST ${project}/environments`,
      ...items.flatMap((path) => ['PATCH', 'PUT'].map((method) => `${method} ${path}`)),
      ...addressed.map((path) => `PATCH ${path}/add_product_intent`),
    ],
    body: [
      'base_currency',
      'business_model',
      'conversations_settings',
      'experiment_recalculation_time',
      'feature_flag_confirmation_message',
      'marketing_analytics_config',
      'onboarding_tasks',
      'revenue_analytics_config',
      'session_recording_masking_config',
      'session_recording_retention_period',
      'session_recording_trigger_groups',
      'session_recording_trigger_match_type_config',
      'web_analytics_pre_aggregated_tables_enabled',
    ],
    reason:
      'These fields configure parts of PostHog that Millrace does not include: session replay, experiments, ' +
      'conversations, onboarding, and web, marketing and revenue analytics.',
  },
  {
    routes: exports.flatMap((path) => [`POST ${path}/{}/pause`, `POST ${path}/{}/unpause`]),
    body: [
      'destination',
      'end_at',
      'filters',
      'hogql_query',
      'interval',
      'last_paused_at',
      'model',
      'name',
      'offset_day',
      'offset_hour',
      'paused',
      'start_at',
      'timezone',
    ],
    reason:
      'Pausing and unpausing change nothing else. Clients generated from the PostHog API document send all export fields.',
  },
  {
    routes: [
      ...exports.flatMap((path) => [
        `POST ${path}/{}/backfill`,
        `POST ${path}/{}/backfills/{}/cancel`,
        `POST ${path}/{}/runs/{}/cancel`,
        `POST ${path}/{}/runs/{}/retry`,
      ]),
      `PATCH ${project}/dashboards/{}/move_tile`,
      ...['dashboards', 'insights'].map((name) => `POST ${project}/${name}/{}/sharing/refresh`),
      `POST ${project}/insights/cancel`,
      `POST ${project}/insights/viewed`,
      ...['bulk_keys', 'user_blast_radius'].map((action) => `POST ${project}/feature_flags/${action}`),
      ...['create_static_cohort_for_flag', 'dashboard', 'enrich_usage_dashboard'].map(
        (action) => `POST ${project}/feature_flags/{}/${action}`,
      ),
      ...addressed.flatMap((path) =>
        ['delete_secret_token_backup', 'reset_token', 'rotate_secret_token'].map((action) => `PATCH ${path}/${action}`),
      ),
      'POST /api/organizations/{}/domains/{}/verify',
      'PATCH /api/users/cancel_email_change_request',
      ...['request_email_verification', 'verify_email'].map((action) => `POST /api/users/${action}`),
      ...['two_factor_backup_codes', 'two_factor_disable', 'two_factor_validate'].map(
        (action) => `POST /api/users/@me/${action}`,
      ),
    ],
    body: allOtherFields,
    reason:
      'The route performs one action on a record. In the PostHog API document it accepts all fields of the record, so ' +
      'generated clients send them. Like PostHog, Millrace reads only the fields that the action needs.',
  },
];

/**
 * Makes routes accept the table's query parameters. Body fields need no change, because routes ignore fields that they
 * do not declare.
 */
export function acceptWithoutEffect<Caller>(routes: readonly Route<Caller>[]): Route<Caller>[] {
  return routes.map((route) => {
    const key = toRouteKey(route);
    const accepted = withoutEffect.flatMap(({ routes: keys, query = [], reason }) =>
      keys.includes(key) ? query.map((name) => [name, reason] as const) : [],
    );
    return accepted.length === 0 ? route : { ...route, queryWithoutEffect: Object.fromEntries(accepted) };
  });
}
