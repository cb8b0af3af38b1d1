// Table of all settings of an environment. Validation, storage, tests, the API schema, docs/settings.md and the
// console's table are derived from it. `npm run docs` generates the last two.

import { type TSchema, Type } from 'typebox';
import {
  checkCookielessMode,
  checkErrorsToIgnore,
  checkLinkedFlag,
  checkNetworkPayload,
  checkOnboarding,
  checkReplayConfig,
  checkSampleRate,
  checkTimeZone,
  checkWebhook,
  removeEmptyElements,
} from './setting-checks.ts';

export interface SettingField {
  request: TSchema;
  response: TSchema;
  isJson?: true;
  /**
   * `acts`: the setting changes what Millrace does. `stored only`: Millrace only stores and returns the setting, for an
   * application that uses the API. `off`: Millrace stores and returns the setting, but reports the feature as disabled
   * to clients, because Millrace does not implement the feature.
   */
  does: 'acts' | 'stored only' | 'off';
  /** The setting's effect as Markdown sentences, for docs/settings.md and the console. */
  effect: string;
  /** Whether only project administrators can change the setting, because it determines where data is sent. */
  isForAdministrators?: true;
  /** Whether the setting is part of the environment API but not the project API. */
  isEnvironmentOnly?: true;
  /** How many levels of an object in a request are merged with the stored object. Deeper values are replaced. */
  mergeDepth?: number;
  /**
   * Checks rules that the schema cannot express (docs/api/projects.md#settings).
   * @returns the value to store
   * @throws AppError `invalid`
   */
  check?: (value: unknown) => unknown;
  /** A value other than the default, for tests. */
  example: unknown;
}

type Kind = Pick<SettingField, 'request' | 'response' | 'isJson'>;

const nullable = (schema: TSchema, description: string) => Type.Union([schema, Type.Null()], { description });
const int32 = { minimum: -2_147_483_648, maximum: 2_147_483_647 };
const anyObject = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true });

const plain = (schema: TSchema): Kind => ({ request: schema, response: schema });
const flag = (description: string) => plain(Type.Boolean({ description }));
const nullableFlag = (description: string) => plain(nullable(Type.Boolean(), description));
const json = (schema: TSchema): Kind => ({ request: schema, response: schema, isJson: true });
/** A setting that can be any JSON value, including null. */
const anyJson = (description: string) => json(Type.Unknown({ description }));
/** A setting that can be any JSON value except null. */
const someJson = (description: string): Kind => ({
  request: Type.Unsafe({ type: ['object', 'array', 'string', 'number', 'boolean'], items: {}, description }),
  response: Type.Unknown({ description }),
  isJson: true,
});
/** A setting that is a list of strings. Null and empty elements are removed (docs/api/projects.md#settings). */
const texts = (description: string, maxLength?: number): Kind => ({
  request: Type.Array(nullable(Type.String(maxLength === undefined ? {} : { maxLength }), ''), { description }),
  response: Type.Array(Type.String(), { description }),
  isJson: true,
});
const nullableTexts = (description: string, maxLength?: number): Kind => {
  const { request, response } = texts(description, maxLength);
  return { request: nullable(request, description), response: nullable(response, description), isJson: true };
};

const partOfReplay = { does: 'off', effect: 'Part of session replay.' } as const;

/**
 * All settings by column name, in the order of PostHog's API. A setting that only environments have is placed after a
 * similar setting.
 */
export const settingFields: Record<string, SettingField> = {
  app_urls: {
    ...texts('URLs of your application.', 200),
    does: 'stored only',
    effect: 'Millrace accepts events from every origin, regardless of this setting.',
    check: removeEmptyElements,
    example: ['https://example.com'],
  },
  slack_incoming_webhook: {
    ...plain(
      nullable(
        Type.String({ maxLength: 500 }),
        'Slack incoming webhook for reports that are sent to Slack channels. Only project administrators can change this setting. The URL is shown only to administrators whose key can change the setting. Other callers see `https://hooks.slack.com/********`. If you send this mask back, the URL does not change.',
      ),
    ),
    does: 'acts',
    effect:
      'Reports for Slack channels are sent through this webhook. A change also applies to reports that are already queued. Only project administrators can change this setting. Members and API keys without permission to change the setting get a [masked URL](api/README.md#secrets-in-responses).',
    isForAdministrators: true,
    check: checkWebhook,
    example: 'https://hooks.slack.com/services/T0/B0/x',
  },
  anonymize_ips: {
    ...flag('Whether to discard client IP addresses.'),
    does: 'acts',
    effect:
      'If true, client IP addresses and the event property `$ip` are not stored. Millrace can still distinguish cookieless visitors.',
    example: true,
  },
  completed_snippet_onboarding: {
    ...flag('Whether the snippet has been installed.'),
    does: 'stored only',
    effect: 'Other applications can use this setting to record that the snippet was installed.',
    example: true,
  },
  test_account_filters: {
    ...someJson('Filters that exclude internal and test users: a list of `{key, value, operator, type}`.'),
    does: 'acts',
    effect:
      'Insights and the Live view can leave out events that do not match all of these filters. A new environment starts with a filter for the email domain of its members. Filters that insights cannot evaluate are rejected, and so are [cohorts that the user cannot access](api/access.md#access-to-records).',
    example: [{ key: 'email', value: '@example.com', operator: 'not_icontains', type: 'person' }],
  },
  test_account_filters_default_checked: {
    ...nullableFlag('Whether internal and test users are excluded by default.'),
    does: 'stored only',
    effect: 'Other applications can use this setting as the default for excluding internal and test users.',
    example: true,
  },
  path_cleaning_filters: {
    ...anyJson('Rules that shorten URL paths: a list of `{alias, regex}`.'),
    does: 'stored only',
    effect: 'Other applications can use these rules to shorten URL paths for display.',
    example: [{ alias: 'a', regex: 'b' }],
  },
  is_demo: {
    ...flag('Whether the environment contains demo data.'),
    does: 'acts',
    effect:
      'The first demo project of an organization, and the first demo environment of a project, do not count toward the plan limits. Users cannot create a second demo project or demo environment. A new demo environment has no default `test_account_filters`.',
    example: false,
  },
  timezone: {
    ...plain(Type.String({ description: 'Project time zone, as an IANA name such as `Europe/Berlin`.' })),
    does: 'acts',
    effect:
      'Insights, reports, release conditions and flag exposures use this time zone. Cookieless visitors who send no `$timezone` get a new ID at midnight in this time zone. By default, a batch export keeps the time zone that was set when it was created.',
    check: checkTimeZone,
    example: 'Europe/Berlin',
  },
  data_attributes: {
    ...someJson('HTML attributes that identify elements.'),
    does: 'stored only',
    effect: 'Millrace uses its own list of attributes to capture interactions, regardless of this setting.',
    example: ['data-attr', 'data-test'],
  },
  person_display_name_properties: {
    ...nullableTexts('Person properties to use as the display name, in order of preference.', 400),
    does: 'stored only',
    effect: 'Lists show persons by `email`, `name`, `username` or distinct ID, regardless of this setting.',
    check: removeEmptyElements,
    example: ['email'],
  },
  correlation_config: {
    ...anyJson('Correlation analysis settings.'),
    does: 'stored only',
    effect: 'Millrace does not include correlation analysis.',
    example: { a: 1 },
  },
  autocapture_opt_out: {
    ...nullableFlag('Whether autocapture is turned off in SDKs.'),
    does: 'acts',
    effect: 'Turns autocapture in browsers on or off.',
    example: true,
  },
  autocapture_exceptions_opt_in: {
    ...nullableFlag('Whether SDKs capture exceptions.'),
    does: 'acts',
    effect:
      'Turns exception capture on or off in the Millrace browser library and in mobile apps, but [not in `posthog-js`](#features-that-stay-off-in-posthog-js).',
    example: true,
  },
  autocapture_web_vitals_opt_in: {
    ...nullableFlag('Whether SDKs capture web vitals.'),
    does: 'acts',
    effect:
      'Turns web vitals capture on or off in the Millrace browser library, but [not in `posthog-js`](#features-that-stay-off-in-posthog-js).',
    example: true,
  },
  autocapture_web_vitals_allowed_metrics: {
    ...anyJson('Web vitals to capture: a list of CLS, FCP, INP and LCP.'),
    does: 'acts',
    effect: 'The Millrace browser library captures these web vitals. Null means all four.',
    example: ['CLS'],
  },
  autocapture_exceptions_errors_to_ignore: {
    ...anyJson('Names of exceptions that are not captured: a list of strings.'),
    does: 'stored only',
    effect: 'Millrace does not send this list to browsers, so the list has no effect.',
    check: checkErrorsToIgnore,
    example: ['E'],
  },
  capture_console_log_opt_in: {
    ...nullableFlag('Whether session recordings include the browser console.'),
    ...partOfReplay,
    example: false,
  },
  capture_performance_opt_in: {
    ...nullableFlag('Whether session recordings include network timing.'),
    does: 'off',
    effect: 'Part of session replay. Clients receive `network_timing: false`.',
    example: false,
  },
  session_recording_opt_in: {
    ...flag('Whether sessions are recorded.'),
    does: 'off',
    effect:
      'The configuration that clients receive turns recording off. Recordings that clients send anyway are not stored, and the response asks the client to pause.',
    example: true,
  },
  session_recording_sample_rate: {
    request: Type.Unsafe({
      type: ['string', 'number', 'null'],
      description: 'Share of sessions to record, from 0 to 1 with at most two decimal places.',
    }),
    response: nullable(Type.String(), 'Share of sessions to record, for example `"0.40"`. Null means all.'),
    ...partOfReplay,
    check: checkSampleRate,
    example: '0.40',
  },
  session_recording_minimum_duration_milliseconds: {
    ...plain(
      nullable(Type.Integer({ minimum: 0, maximum: 30_000 }), 'Minimum duration of a recording, in milliseconds.'),
    ),
    ...partOfReplay,
    example: 2000,
  },
  session_recording_linked_flag: {
    ...anyJson('Feature flag that starts a recording: `{id, key}` or `{id, key, variant}`.'),
    ...partOfReplay,
    check: checkLinkedFlag,
    example: { id: 1, key: 'k' },
  },
  session_recording_network_payload_capture_config: {
    ...anyJson('Parts of network requests to record: `recordHeaders`, `recordBody`.'),
    ...partOfReplay,
    check: checkNetworkPayload,
    example: { recordBody: true },
  },
  session_recording_url_trigger_config: {
    ...json(nullable(Type.Array(Type.Unknown()), 'URLs that start a recording: a list of `{url, matching}`.')),
    ...partOfReplay,
    isEnvironmentOnly: true,
    example: [{ url: 'a', matching: 'regex' }],
  },
  session_recording_url_blocklist_config: {
    ...json(nullable(Type.Array(Type.Unknown()), 'URLs that are not recorded: a list of `{url, matching}`.')),
    ...partOfReplay,
    isEnvironmentOnly: true,
    example: [{ url: 'a', matching: 'regex' }],
  },
  session_recording_event_trigger_config: {
    ...nullableTexts('Events that start a recording.'),
    ...partOfReplay,
    isEnvironmentOnly: true,
    check: removeEmptyElements,
    example: ['e'],
  },
  session_replay_config: {
    ...anyJson('Session replay settings: `record_canvas`, `ai_config`. A change is merged with the stored settings.'),
    ...partOfReplay,
    mergeDepth: 2,
    check: checkReplayConfig,
    example: { record_canvas: true },
  },
  survey_config: {
    ...json(nullable(anyObject, 'Survey settings. A change is merged with the stored settings.')),
    does: 'off',
    effect: 'Part of surveys.',
    mergeDepth: 1,
    example: { a: 1 },
  },
  access_control: {
    ...flag(
      'Whether only some members have access to the environment. Organization administrators can change this setting.',
    ),
    does: 'acts',
    effect: 'If true, only some members have access to the environment. The plan must include project permissions.',
    example: true,
  },
  week_start_day: {
    ...plain(
      nullable(
        Type.Enum([0, 1, 2, 3, 4, 5, 6]),
        'First day of the week, from 0 (Sunday) to 6 (Saturday). Null means Sunday.',
      ),
    ),
    does: 'acts',
    effect: 'Weeks in insights, and date ranges such as `wStart`, begin on this day.',
    example: 1,
  },
  primary_dashboard: {
    ...plain(nullable(Type.Integer(int32), 'ID of the primary dashboard.')),
    does: 'acts',
    effect: 'The console marks this dashboard in the dashboard list. Deleting the dashboard clears this setting.',
    example: 7,
  },
  live_events_columns: {
    ...nullableTexts('Columns of the live events list.'),
    does: 'stored only',
    effect: 'Other applications can use this setting for the columns of an event list.',
    check: removeEmptyElements,
    example: ['a'],
  },
  recording_domains: {
    ...nullableTexts('Domains on which sessions can be recorded. Null means all domains.', 200),
    ...partOfReplay,
    check: removeEmptyElements,
    example: ['https://example.com'],
  },
  cookieless_server_hash_mode: {
    ...plain(
      nullable(Type.Enum([0, 1, 2]), 'Cookieless tracking mode: 0 (off) or 1 (stateless). 2 (stateful) is rejected.'),
    ),
    does: 'acts',
    effect:
      'With 1, each visitor who sends events with `$cookieless_mode` gets [an ID that is valid for one day](#cookieless-visitors). With 0, Millrace drops such events with a warning. 2 (stateful) is rejected.',
    isEnvironmentOnly: true,
    check: checkCookielessMode,
    example: 1,
  },
  human_friendly_comparison_periods: {
    ...nullableFlag('Whether comparisons with earlier periods align the days of the week.'),
    does: 'acts',
    effect: 'In comparisons with earlier months or years, a month counts as 4 weeks and a year as 52 weeks.',
    isEnvironmentOnly: true,
    example: true,
  },
  inject_web_apps: {
    ...nullableFlag('Whether site apps are injected into web pages.'),
    does: 'off',
    effect: 'The configuration that browsers receive contains no site apps.',
    example: true,
  },
  extra_settings: {
    ...anyJson('Additional settings, in any format.'),
    does: 'stored only',
    effect: 'Other applications can store any settings here.',
    example: { a: 1 },
  },
  modifiers: {
    ...anyJson('Query modifiers.'),
    does: 'acts',
    effect:
      '`personsOnEventsMode` determines whether insights use the current person properties or those that were stored with the event. Other keys have no effect.',
    example: { a: 1 },
  },
  has_completed_onboarding_for: {
    ...anyJson('Products whose onboarding has been completed. At most 2000 characters as JSON.'),
    does: 'stored only',
    effect: 'Other applications can use this setting to record which onboarding has been completed.',
    check: checkOnboarding,
    example: { product_analytics: true },
  },
  surveys_opt_in: {
    ...nullableFlag('Whether surveys are shown.'),
    does: 'off',
    effect:
      'The configuration that browsers receive contains no surveys, so browsers do not load the survey script. The list of surveys is empty.',
    example: true,
  },
  heatmaps_opt_in: {
    ...nullableFlag('Whether heatmaps are captured.'),
    does: 'off',
    effect:
      'The Millrace browser library does not collect heatmaps, and the configuration for `posthog-js` turns them off. Millrace cannot show heatmaps.',
    example: true,
  },
  flags_persistence_default: {
    ...nullableFlag('Whether new flags persist across authentication steps by default.'),
    does: 'stored only',
    effect: 'Other applications can use this setting as a default in their form for new flags.',
    example: true,
  },
  capture_dead_clicks: {
    ...nullableFlag('Whether dead clicks are captured.'),
    does: 'off',
    effect: 'Dead click capture is turned off in the configuration sent to clients.',
    isEnvironmentOnly: true,
    example: true,
  },
  default_data_theme: {
    ...plain(nullable(Type.Integer(int32), 'ID of the color theme for charts.')),
    does: 'stored only',
    effect: 'Other applications can store the ID of a color theme here.',
    isEnvironmentOnly: true,
    example: 3,
  },
};
