// The settings of an environment, each with all that is known of it. The schema of the API, docs/settings.md (`npm run docs`), what is
// checked, how it is stored and the tests are made from this table.

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
  withoutEmpty,
} from './setting-checks.ts';

/** One setting of an environment. */
export interface SettingField {
  /** How a request may set it. */
  request: TSchema;
  /** How an answer shows it. */
  response: TSchema;
  /** The column is JSON, and not of a type of its own. */
  isJson?: true;
  /**
   * `acts`: changes what Millrace does. `stored only`: kept and shown as it was written, for an application in front. `off`: kept and
   * shown, but clients are told that the feature is off, which Millrace does not have.
   */
  does: 'acts' | 'stored only' | 'off';
  /** What it does, in Markdown, for docs/settings.md. */
  effect: string;
  /** It says where data is sent, so only administrators of the project change it. */
  isForAdministrators?: true;
  /** The API has it on environments and not on projects. */
  isEnvironmentOnly?: true;
  /** What is sent is merged with the stored object to this depth; everything else replaces. */
  mergeDepth?: number;
  /** What the schema cannot say (docs/api-rules.md#settings). @returns the value as it is stored. @throws AppError `invalid`. */
  check?: (value: unknown) => unknown;
  /** Another value than that of a new environment. */
  example: unknown;
}

type Kind = Pick<SettingField, 'request' | 'response' | 'isJson'>;

const nullable = (schema: TSchema, description: string) => Type.Union([schema, Type.Null()], { description });
const int32 = { minimum: -2_147_483_648, maximum: 2_147_483_647 };
const anyObject = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true });

/** The same schema both ways. */
const plain = (schema: TSchema): Kind => ({ request: schema, response: schema });
const flag = (description: string) => plain(Type.Boolean({ description }));
const nullableFlag = (description: string) => plain(nullable(Type.Boolean(), description));
const json = (schema: TSchema): Kind => ({ request: schema, response: schema, isJson: true });
/** Any JSON, null included. */
const anyJson = (description: string) => json(Type.Unknown({ description }));
/** Any JSON except null. */
const someJson = (description: string): Kind => ({
  request: Type.Unsafe({ type: ['object', 'array', 'string', 'number', 'boolean'], items: {}, description }),
  response: Type.Unknown({ description }),
  isJson: true,
});
/** Elements that are null or empty are left out (docs/api-rules.md#settings). */
const texts = (description: string, maxLength?: number): Kind => ({
  request: Type.Array(nullable(Type.String(maxLength === undefined ? {} : { maxLength }), ''), { description }),
  response: Type.Array(Type.String(), { description }),
  isJson: true,
});
const nullableTexts = (description: string, maxLength?: number): Kind => {
  const { request, response } = texts(description, maxLength);
  return { request: nullable(request, description), response: nullable(response, description), isJson: true };
};

/** In the order of PostHog's API; what only environments have stands beside its like. Names are those of the columns. */
export const settingFields: Record<string, SettingField> = {
  app_urls: {
    ...texts('Addresses of the application.', 200),
    does: 'stored only',
    effect: 'nothing is refused by its origin',
    check: withoutEmpty,
    example: ['https://example.com'],
  },
  slack_incoming_webhook: {
    ...plain(
      nullable(
        Type.String({ maxLength: 500 }),
        'Incoming webhook of Slack through which reports for a channel are sent. Only administrators of the project may change it. Shown to administrators whose key may change it; to others as `https://hooks.slack.com/********`, which changes nothing when it is sent back.',
      ),
    ),
    does: 'acts',
    effect:
      'reports for a Slack channel are sent through it, including those that are already waiting. Only administrators of the project change it. Members, and keys that may not change it, see [its mask](api-rules.md#secrets-in-answers)',
    isForAdministrators: true,
    check: checkWebhook,
    example: 'https://hooks.slack.com/services/T0/B0/x',
  },
  anonymize_ips: {
    ...flag('Whether the IP address of events is discarded.'),
    does: 'acts',
    effect:
      'the address of an event, and the property `$ip`, are not stored. Visitors without cookies are told apart all the same',
    example: true,
  },
  completed_snippet_onboarding: {
    ...flag('Whether the snippet was installed once.'),
    does: 'stored only',
    effect: 'whether an application in front has shown its snippet',
    example: true,
  },
  test_account_filters: {
    ...someJson('Filters that tell internal traffic: a list of `{key, value, operator, type}`.'),
    does: 'acts',
    effect:
      'insights and the Live view can leave out events that do not match all of these filters. A new environment starts with a filter by the email domains of its members. A filter that insights cannot read is refused, and so is a [cohort that the user may not see](api-rules.md#access-to-records)',
    example: [{ key: 'email', value: '@example.com', operator: 'not_icontains', type: 'person' }],
  },
  test_account_filters_default_checked: {
    ...nullableFlag('Whether internal traffic is filtered out by default.'),
    does: 'stored only',
    effect: 'whether an application in front filters by them at first',
    example: true,
  },
  path_cleaning_filters: {
    ...anyJson('Rules that shorten paths: a list of `{alias, regex}`.'),
    does: 'stored only',
    effect: 'rules that shorten paths for display',
    example: [{ alias: 'a', regex: 'b' }],
  },
  is_demo: {
    ...flag('Whether the data is made up.'),
    does: 'acts',
    effect:
      "who may make it, and how it counts in the plan's limits; one that is made so has no default `test_account_filters`",
    example: false,
  },
  timezone: {
    ...plain(Type.String({ description: 'IANA name of the time zone reports use, e.g. `Europe/Berlin`.' })),
    does: 'acts',
    effect:
      "dates of reports and in conditions of flags, days of a flag's exposures, intervals of a batch export (as it is when the export is made), days of visitors without cookies who send no `$timezone`",
    check: checkTimeZone,
    example: 'Europe/Berlin',
  },
  data_attributes: {
    ...someJson('HTML attributes that name elements.'),
    does: 'stored only',
    effect: 'attributes of HTML that name elements; interactions are captured with the same ones whatever stands here',
    example: ['data-attr', 'data-test'],
  },
  person_display_name_properties: {
    ...nullableTexts('Person properties that may serve as a name, in order.', 400),
    does: 'stored only',
    effect: 'names of persons in lists are `email`, `name` or `username`, else the distinct id',
    check: withoutEmpty,
    example: ['email'],
  },
  correlation_config: {
    ...anyJson('Settings of correlation analysis.'),
    does: 'stored only',
    effect: 'settings of an analysis that is not made here',
    example: { a: 1 },
  },
  autocapture_opt_out: {
    ...nullableFlag('Whether SDKs capture no interactions by themselves.'),
    does: 'acts',
    effect: 'browsers are told whether to capture interactions by themselves',
    example: true,
  },
  autocapture_exceptions_opt_in: {
    ...nullableFlag('Whether SDKs capture exceptions.'),
    does: 'acts',
    effect:
      'pages with our library and mobile applications are told whether to capture exceptions; `posthog-js` [is not](#what-posthog-js-is-told)',
    example: true,
  },
  autocapture_web_vitals_opt_in: {
    ...nullableFlag('Whether SDKs capture web vitals.'),
    does: 'acts',
    effect:
      'pages with our library are told whether to capture web vitals; `posthog-js` [is not](#what-posthog-js-is-told)',
    example: true,
  },
  autocapture_web_vitals_allowed_metrics: {
    ...anyJson('Web vitals to capture, of CLS, FCP, INP and LCP.'),
    does: 'acts',
    effect: 'which web vitals these pages capture; null stands for all four',
    example: ['CLS'],
  },
  autocapture_exceptions_errors_to_ignore: {
    ...anyJson('Names of exceptions that are not captured: a list of strings.'),
    does: 'stored only',
    effect: 'no list of exceptions to leave out is sent to browsers',
    check: checkErrorsToIgnore,
    example: ['E'],
  },
  capture_console_log_opt_in: {
    ...nullableFlag('Whether recordings hold the console.'),
    does: 'off',
    effect: 'part of recordings',
    example: false,
  },
  capture_performance_opt_in: {
    ...nullableFlag('Whether recordings hold network timing.'),
    does: 'off',
    effect: 'part of recordings: clients are told `network_timing: false`',
    example: false,
  },
  session_recording_opt_in: {
    ...flag('Whether sessions are recorded.'),
    does: 'off',
    effect:
      'clients are told that sessions are not recorded; what they send all the same is not kept, and they are told to pause',
    example: true,
  },
  session_recording_sample_rate: {
    request: Type.Unsafe({
      type: ['string', 'number', 'null'],
      description: 'Part of the sessions that is recorded: 0 to 1 with two decimals.',
    }),
    response: nullable(Type.String(), 'Part of the sessions that is recorded, e.g. `"0.40"`; null for all.'),
    does: 'off',
    effect: 'part of recordings',
    check: checkSampleRate,
    example: '0.40',
  },
  session_recording_minimum_duration_milliseconds: {
    ...plain(
      nullable(Type.Integer({ minimum: 0, maximum: 30_000 }), 'Shorter sessions are not recorded; milliseconds.'),
    ),
    does: 'off',
    effect: 'part of recordings',
    example: 2000,
  },
  session_recording_linked_flag: {
    ...anyJson('Feature flag that starts recording: `{id, key}` or `{id, key, variant}`.'),
    does: 'off',
    effect: 'part of recordings',
    check: checkLinkedFlag,
    example: { id: 1, key: 'k' },
  },
  session_recording_network_payload_capture_config: {
    ...anyJson('Parts of network requests that are recorded: `recordHeaders`, `recordBody`.'),
    does: 'off',
    effect: 'part of recordings',
    check: checkNetworkPayload,
    example: { recordBody: true },
  },
  session_recording_url_trigger_config: {
    ...json(nullable(Type.Array(Type.Unknown()), 'Addresses that start recording: `{url, matching}`.')),
    does: 'off',
    effect: 'part of recordings',
    isEnvironmentOnly: true,
    example: [{ url: 'a', matching: 'regex' }],
  },
  session_recording_url_blocklist_config: {
    ...json(nullable(Type.Array(Type.Unknown()), 'Addresses that are not recorded: `{url, matching}`.')),
    does: 'off',
    effect: 'part of recordings',
    isEnvironmentOnly: true,
    example: [{ url: 'a', matching: 'regex' }],
  },
  session_recording_event_trigger_config: {
    ...nullableTexts('Events that start recording.'),
    does: 'off',
    effect: 'part of recordings',
    isEnvironmentOnly: true,
    check: withoutEmpty,
    example: ['e'],
  },
  session_replay_config: {
    ...anyJson('Settings of replay: `record_canvas`, `ai_config`; merged with what is set.'),
    does: 'off',
    effect: 'part of recordings',
    mergeDepth: 2,
    check: checkReplayConfig,
    example: { record_canvas: true },
  },
  survey_config: {
    ...json(nullable(anyObject, 'Settings of surveys; merged with what is set.')),
    does: 'off',
    effect: 'part of surveys',
    mergeDepth: 1,
    example: { a: 1 },
  },
  access_control: {
    ...flag('Whether it is private to some members; administrators of the organization change it.'),
    does: 'acts',
    effect: 'the environment is private to some members, where the plan has that',
    example: true,
  },
  week_start_day: {
    ...plain(
      nullable(
        Type.Enum([0, 1, 2, 3, 4, 5, 6]),
        'The day on which weeks begin, from 0 Sunday to 6 Saturday. Null: Sunday.',
      ),
    ),
    does: 'acts',
    effect: 'insights by week and ranges such as `wStart` begin on this day',
    example: 1,
  },
  primary_dashboard: {
    ...plain(nullable(Type.Integer(int32), 'Id of the dashboard that is shown first.')),
    does: 'acts',
    effect: 'the list of dashboards in the console marks this dashboard. Deleting the dashboard clears this setting',
    example: 7,
  },
  live_events_columns: {
    ...nullableTexts('Columns of the list of live events.'),
    does: 'stored only',
    effect: 'columns of a list in an application in front',
    check: withoutEmpty,
    example: ['a'],
  },
  recording_domains: {
    ...nullableTexts('Where sessions may be recorded; null for everywhere.', 200),
    does: 'off',
    effect: 'part of recordings',
    check: withoutEmpty,
    example: ['https://example.com'],
  },
  cookieless_server_hash_mode: {
    ...plain(
      nullable(Type.Enum([0, 1, 2]), 'Ids for visitors without cookies: 0 off, 1 stateless. 2 (stateful) is refused.'),
    ),
    does: 'acts',
    effect:
      'with 1 each visitor whose events have `$cookieless_mode` gets [an id of the day](#visitors-without-cookies), with 0 such events are dropped with a warning. 2, the stateful mode, is refused',
    isEnvironmentOnly: true,
    check: checkCookielessMode,
    example: 1,
  },
  human_friendly_comparison_periods: {
    ...nullableFlag('Whether comparisons keep the days of the week.'),
    does: 'acts',
    effect:
      'where insights compare with a time some months or years ago, a month counts as four weeks and a year as 52',
    isEnvironmentOnly: true,
    example: true,
  },
  inject_web_apps: {
    ...nullableFlag('Whether apps are injected into web pages.'),
    does: 'off',
    effect: 'browsers are told that there are no apps',
    example: true,
  },
  extra_settings: {
    ...anyJson('Free settings.'),
    does: 'stored only',
    effect: 'anything',
    example: { a: 1 },
  },
  modifiers: {
    ...anyJson('Modifiers of queries.'),
    does: 'acts',
    effect:
      '`personsOnEventsMode` decides whether insights look at the properties of persons as they are now or as they were stored with the event; other keys have no effect',
    example: { a: 1 },
  },
  has_completed_onboarding_for: {
    ...anyJson('Products the onboarding was completed for; 2000 characters at most as JSON.'),
    does: 'stored only',
    effect: 'products whose introduction is over',
    check: checkOnboarding,
    example: { product_analytics: true },
  },
  surveys_opt_in: {
    ...nullableFlag('Whether surveys are shown.'),
    does: 'off',
    effect: 'browsers are not told of surveys, so that they do not fetch the script; the list of surveys is empty',
    example: true,
  },
  heatmaps_opt_in: {
    ...nullableFlag('Whether heatmaps are captured.'),
    does: 'off',
    effect: 'our library collects no heatmaps, and `posthog-js` is told that they are off: nothing here shows them',
    example: true,
  },
  flags_persistence_default: {
    ...nullableFlag('Whether new flags persist across sign-in.'),
    does: 'stored only',
    effect: 'a default for the form in which flags are made',
    example: true,
  },
  capture_dead_clicks: {
    ...nullableFlag('Whether clicks without effect are captured.'),
    does: 'off',
    effect: 'clients are told that clicks without effect are not captured',
    isEnvironmentOnly: true,
    example: true,
  },
  default_data_theme: {
    ...plain(nullable(Type.Integer(int32), 'Id of the color theme of charts.')),
    does: 'stored only',
    effect: 'a number of another system',
    isEnvironmentOnly: true,
    example: 3,
  },
};
