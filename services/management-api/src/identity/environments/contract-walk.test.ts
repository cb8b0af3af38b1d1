import { type SettingField, settingFields } from '@millrace/accounts';
import { isObject } from '@millrace/contracts';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';

/**
 * Compares the fields of projects and environments with PostHog's API (docs/api/README.md#routes-and-fields). Fails for
 * a field that is missing, has the wrong type, or is not in PostHog's API. `?` marks fields that are null if they are
 * not set.
 */
const projectSummary = `id integer, uuid UUID, organization UUID, api_token string, name string,
  completed_snippet_onboarding boolean, has_completed_onboarding_for any, ingested_event boolean, is_demo boolean,
  timezone string, access_control boolean`;

const environmentSummary = `${projectSummary}, project_id integer`;

const shared = `id integer, uuid UUID, organization UUID, name string, created_at timestamp, updated_at timestamp,
  effective_membership_level integer, has_group_types boolean, live_events_token string, api_token string,
  app_urls strings, slack_incoming_webhook string?, anonymize_ips boolean, completed_snippet_onboarding boolean,
  ingested_event boolean, test_account_filters any, test_account_filters_default_checked boolean?,
  path_cleaning_filters any, is_demo boolean, timezone string, data_attributes any,
  person_display_name_properties strings?, correlation_config any, autocapture_opt_out boolean?,
  autocapture_exceptions_opt_in boolean?, autocapture_web_vitals_opt_in boolean?,
  autocapture_web_vitals_allowed_metrics any, autocapture_exceptions_errors_to_ignore any,
  capture_console_log_opt_in boolean?, capture_performance_opt_in boolean?, session_recording_opt_in boolean,
  session_recording_sample_rate string?, session_recording_minimum_duration_milliseconds integer?,
  session_recording_linked_flag any, session_recording_network_payload_capture_config any, session_replay_config any,
  survey_config any, access_control boolean, week_start_day integer?, primary_dashboard integer?,
  live_events_columns strings?, recording_domains strings?, inject_web_apps boolean?, extra_settings any,
  modifiers any, has_completed_onboarding_for any, surveys_opt_in boolean?, heatmaps_opt_in boolean?,
  product_intents string, flags_persistence_default boolean?`;

const projectFull = `${shared}, product_description string?, person_on_events_querying_enabled string,
  default_modifiers string`;

const environmentFull = `${shared}, project_id integer, person_on_events_querying_enabled boolean,
  default_modifiers object, session_recording_url_trigger_config array, session_recording_url_blocklist_config array,
  session_recording_event_trigger_config strings, cookieless_server_hash_mode integer?,
  human_friendly_comparison_periods boolean?, capture_dead_clicks boolean?, user_access_level string?,
  default_data_theme integer?`;

const filledOf = (isShown: (field: SettingField) => boolean) =>
  Object.fromEntries(
    Object.entries(settingFields).flatMap(([field, setting]) => (isShown(setting) ? [[field, setting.example]] : [])),
  );
const common = { name: 'Filled', session_recording_sample_rate: '0.5' };
const filledProject: Record<string, unknown> = {
  ...filledOf(({ isEnvironmentOnly }) => isEnvironmentOnly !== true),
  ...common,
  product_description: 'It sells shoes.',
};
const filledEnvironment: Record<string, unknown> = { ...filledOf(() => true), ...common };
const withoutDashboard = ({ primary_dashboard: _, ...fields }: Record<string, unknown>) => fields;
const stored = (sent: Record<string, unknown>) => ({ ...sent, session_recording_sample_rate: '0.50' });

const isStrings = (value: unknown) => Array.isArray(value) && value.every((element) => typeof element === 'string');
const checks: Record<string, (value: unknown) => boolean> = {
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  string: (value) => typeof value === 'string',
  UUID: (value) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(String(value)),
  timestamp: (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/.test(String(value)),
  strings: isStrings,
  array: Array.isArray,
  object: isObject,
  any: (value) => value !== undefined,
};

function problems(table: string, record: Record<string, unknown>): string[] {
  const fields = new Map(table.split(',').map((line) => line.trim().split(' ') as [string, string]));
  const unknown = Object.keys(record).filter((field) => !fields.has(field));
  const wrong = [...fields].flatMap(([field, type]) => {
    if (!(field in record)) return [`${field} is missing`];
    const value = record[field];
    const fits = (value === null && type.endsWith('?')) || checks[type.replace('?', '')]?.(value);
    return fits ? [] : [`${field} is no ${type}: ${JSON.stringify(value)}`];
  });
  return [...wrong, ...unknown.map((field) => `${field} is not in the API`)];
}

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
  tenant = await createTestTenant(api.database);
});
afterAll(() => api.stop());

const send = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown) =>
  api.send(method, path, { key: tenant.personalApiKey, ...(body !== undefined && { body }) });

describe('fields of project responses', () => {
  const list = () => `/api/organizations/${tenant.organizationId}/projects/`;

  test.each([
    ['with nothing', {}],
    ['with everything', withoutDashboard(filledProject)],
  ])(
    'row 17 and row 18: a project created %s has all fields in the response to its creation and when it is read',
    async (_what, sent) => {
      const created = await send('POST', list(), sent);
      expect(created.status).toBe(201);
      expect(problems(projectFull, created.body)).toEqual([]);
      if (Object.keys(sent).length > 0) expect(created.body).toMatchObject(stored(sent));
      const read = await send('GET', `${list()}${created.body.id}/`);
      expect(problems(projectFull, read.body)).toEqual([]);
      expect({ ...read.body, live_events_token: '' }).toEqual({ ...created.body, live_events_token: '' });
    },
  );

  test('row 16: lists projects with all summary fields', async () => {
    const { body } = await send('GET', list());
    expect(Object.keys(body)).toEqual(['count', 'next', 'previous', 'results']);
    for (const project of body.results) expect(problems(projectSummary, project)).toEqual([]);
  });

  test("returns projects' object-valued fields as JSON strings", async () => {
    await send('PATCH', `/api/projects/${tenant.projectId}/add_product_intent/`, { product_type: 'surveys' });
    const { body } = await send('GET', `/api/projects/${tenant.projectId}/`);
    expect(JSON.parse(body.person_on_events_querying_enabled)).toBe(true);
    expect(JSON.parse(body.default_modifiers)).toMatchObject({ inCohortVia: 'auto', optimizeJoinedFilters: false });
    expect(JSON.parse(body.product_intents)).toMatchObject([
      { product_type: 'surveys', onboarding_completed_at: null },
    ]);
  });

  test('changes each writable project field separately', async () => {
    const { body: created } = await send('POST', list(), {});
    const { body: dashboard } = await send('POST', `/api/projects/${created.id}/dashboards/`, { name: 'Home' });
    for (const [field, value] of Object.entries({ ...filledProject, primary_dashboard: dashboard.id })) {
      const before = (await send('GET', `/api/projects/${created.id}/`)).body;
      const { body } = await send('PATCH', `/api/projects/${created.id}/`, { [field]: value });
      const expected = field === 'session_recording_sample_rate' ? '0.50' : value;
      const volatile = { updated_at: '', live_events_token: '' };
      expect({ ...body, ...volatile }).toEqual({ ...before, [field]: expected, ...volatile });
    }
  });
});

describe('fields of environment responses', () => {
  const list = () => `/api/projects/${tenant.projectId}/environments/`;

  test.each([
    ['with nothing', {}],
    ['with everything', withoutDashboard(filledEnvironment)],
  ])(
    'row 24 to row 28: an environment created %s has all fields in every response, including access controls',
    async (_what, sent) => {
      const created = await send('POST', list(), sent);
      expect(created.status).toBe(201);
      expect(problems(environmentFull, created.body)).toEqual([]);
      if (Object.keys(sent).length > 0) expect(created.body).toMatchObject(stored(sent));
      const path = `${list()}${created.body.id}/`;
      for (const response of [
        await send('GET', path),
        await send('PATCH', path, {}),
        await send('GET', `${path}access_controls/`),
      ]) {
        expect([response.status, problems(environmentFull, response.body)]).toEqual([200, []]);
        expect({ ...response.body, live_events_token: '' }).toEqual({ ...created.body, live_events_token: '' });
      }
    },
  );

  test('row 23: lists environments with all summary fields', async () => {
    const { body } = await send('GET', list());
    expect(body.count).toBeGreaterThan(1);
    for (const environment of body.results) expect(problems(environmentSummary, environment)).toEqual([]);
  });

  test('row 27, row 29, row 30: deletions, activity and product intents have the documented fields', async () => {
    const { body: created } = await send('POST', list(), {});
    const path = `${list()}${created.id}/`;
    const activity = await send('GET', `${path}activity/`);
    expect([activity.status, activity.body, activity.headers.get('content-length')]).toEqual([200, undefined, '0']);
    const intent = await send('PATCH', `${path}add_product_intent/`, { product_type: 'surveys', name: 'Renamed' });
    expect([intent.status, problems(environmentFull, intent.body), intent.body.name]).toEqual([201, [], 'Renamed']);
    const removed = await api.send('DELETE', path, { key: tenant.personalApiKey });
    expect([removed.status, removed.body]).toEqual([204, undefined]);
  });
});
