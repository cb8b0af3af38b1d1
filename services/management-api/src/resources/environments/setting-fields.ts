import { freeFormObject } from '@millrace/http';
import { type TSchema, Type } from 'typebox';

/** One setting of an environment: how a request may set it and how an answer shows it. */
export interface SettingField {
  request: TSchema;
  response: TSchema;
  /** The API has it on environments and not on projects. */
  isEnvironmentOnly?: true;
}

const nullable = (schema: TSchema, description: string) => Type.Union([schema, Type.Null()], { description });
const int32 = { minimum: -2_147_483_648, maximum: 2_147_483_647 };

/** The same schema both ways. */
const plain = (schema: TSchema): SettingField => ({ request: schema, response: schema });
const flag = (description: string) => plain(Type.Boolean({ description }));
const nullableFlag = (description: string) => plain(nullable(Type.Boolean(), description));
/** Any JSON, null included. */
const anyJson = (description: string) => plain(Type.Unknown({ description }));
/** Any JSON except null. */
const someJson = (description: string): SettingField => ({
  request: Type.Unsafe({ type: ['object', 'array', 'string', 'number', 'boolean'], items: {}, description }),
  response: Type.Unknown({ description }),
});
/** Elements that are null or empty are left out (docs/api-rules.md#settings). */
const texts = (description: string, maxLength?: number) => ({
  request: Type.Array(nullable(Type.String(maxLength === undefined ? {} : { maxLength }), ''), { description }),
  response: Type.Array(Type.String(), { description }),
});
const nullableTexts = (description: string, maxLength?: number): SettingField => {
  const { request, response } = texts(description, maxLength);
  return { request: nullable(request, description), response: nullable(response, description) };
};
const environmentOnly = (field: SettingField): SettingField => ({ ...field, isEnvironmentOnly: true });

/**
 * Every setting of an environment, in the order of PostHog's API; what only environments
 * have stands beside its like. Names are those of the database columns. Rules of docs/api-rules.md#settings; those
 * a schema cannot say, and which are stored as JSON, are in `@millrace/accounts`.
 */
export const settingFields: Record<string, SettingField> = {
  app_urls: texts('Addresses of the application.', 200),
  slack_incoming_webhook: plain(
    nullable(
      Type.String({ maxLength: 500 }),
      'Incoming webhook of Slack through which reports for a channel are sent. Shown to administrators whose key may change it; to others as `https://hooks.slack.com/********`, which changes nothing when it is sent back.',
    ),
  ),
  anonymize_ips: flag('Whether the IP address of events is discarded.'),
  completed_snippet_onboarding: flag('Whether the snippet was installed once.'),
  test_account_filters: someJson('Filters that tell internal traffic: a list of `{key, value, operator, type}`.'),
  test_account_filters_default_checked: nullableFlag('Whether internal traffic is filtered out by default.'),
  path_cleaning_filters: anyJson('Rules that shorten paths: a list of `{alias, regex}`.'),
  is_demo: flag('Whether the data is made up.'),
  timezone: plain(Type.String({ description: 'IANA name of the time zone reports use, e.g. `Europe/Berlin`.' })),
  data_attributes: someJson('HTML attributes that name elements.'),
  person_display_name_properties: nullableTexts('Person properties that may serve as a name, in order.', 400),
  correlation_config: anyJson('Settings of correlation analysis.'),
  autocapture_opt_out: nullableFlag('Whether SDKs capture no interactions by themselves.'),
  autocapture_exceptions_opt_in: nullableFlag('Whether SDKs capture exceptions.'),
  autocapture_web_vitals_opt_in: nullableFlag('Whether SDKs capture web vitals.'),
  autocapture_web_vitals_allowed_metrics: anyJson('Web vitals to capture, of CLS, FCP, INP and LCP.'),
  autocapture_exceptions_errors_to_ignore: anyJson('Names of exceptions that are not captured: a list of strings.'),
  capture_console_log_opt_in: nullableFlag('Whether recordings hold the console.'),
  capture_performance_opt_in: nullableFlag('Whether recordings hold network timing.'),
  session_recording_opt_in: flag('Whether sessions are recorded.'),
  session_recording_sample_rate: {
    request: Type.Unsafe({
      type: ['string', 'number', 'null'],
      description: 'Part of the sessions that is recorded: 0 to 1 with two decimals.',
    }),
    response: nullable(Type.String(), 'Part of the sessions that is recorded, e.g. `"0.40"`; null for all.'),
  },
  session_recording_minimum_duration_milliseconds: plain(
    nullable(Type.Integer({ minimum: 0, maximum: 30_000 }), 'Shorter sessions are not recorded; milliseconds.'),
  ),
  session_recording_linked_flag: anyJson('Feature flag that starts recording: `{id, key}` or `{id, key, variant}`.'),
  session_recording_network_payload_capture_config: anyJson(
    'Parts of network requests that are recorded: `recordHeaders`, `recordBody`.',
  ),
  session_recording_url_trigger_config: environmentOnly(
    plain(nullable(Type.Array(Type.Unknown()), 'Addresses that start recording: `{url, matching}`.')),
  ),
  session_recording_url_blocklist_config: environmentOnly(
    plain(nullable(Type.Array(Type.Unknown()), 'Addresses that are not recorded: `{url, matching}`.')),
  ),
  session_recording_event_trigger_config: environmentOnly(nullableTexts('Events that start recording.')),
  session_replay_config: anyJson('Settings of replay: `record_canvas`, `ai_config`; merged with what is set.'),
  survey_config: plain(nullable(freeFormObject(), 'Settings of surveys; merged with what is set.')),
  access_control: flag('Whether it is private to some members; administrators of the organization change it.'),
  week_start_day: plain(nullable(Type.Enum([0, 1]), '0 Sunday, 1 Monday, null unknown.')),
  primary_dashboard: plain(nullable(Type.Integer(int32), 'Id of the dashboard shown first, in another system.')),
  live_events_columns: nullableTexts('Columns of the list of live events.'),
  recording_domains: nullableTexts('Where sessions may be recorded; null for everywhere.', 200),
  cookieless_server_hash_mode: environmentOnly(
    plain(
      nullable(Type.Enum([0, 1, 2]), 'Ids for visitors without cookies: 0 off, 1 stateless. 2 (stateful) is refused.'),
    ),
  ),
  human_friendly_comparison_periods: environmentOnly(nullableFlag('Whether periods are compared by calendar.')),
  inject_web_apps: nullableFlag('Whether apps are injected into web pages.'),
  extra_settings: anyJson('Free settings.'),
  modifiers: anyJson('Modifiers of queries.'),
  has_completed_onboarding_for: anyJson('Products the onboarding was completed for; 2000 characters at most as JSON.'),
  surveys_opt_in: nullableFlag('Whether surveys are shown.'),
  heatmaps_opt_in: nullableFlag('Whether heatmaps are captured.'),
  flags_persistence_default: nullableFlag('Whether new flags persist across sign-in.'),
  capture_dead_clicks: environmentOnly(nullableFlag('Whether clicks without effect are captured.')),
  default_data_theme: environmentOnly(plain(nullable(Type.Integer(int32), 'Id of the color theme of charts.'))),
};
