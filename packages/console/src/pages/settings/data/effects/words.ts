// Written by `npm run docs`: the settings of an environment, as their table has them.
// biome-ignore-all format: a line is an entry
export const effects = {
  app_urls: {
    does: 'stored only',
    effect: 'Millrace accepts events from every origin, whatever URLs are listed here.',
  },
  slack_incoming_webhook: {
    does: 'acts',
    effect: 'Reports for a Slack channel are sent through this webhook, including reports that are already queued. Only administrators of the project can change it. Members, and keys that cannot change it, see a mask.',
  },
  anonymize_ips: {
    does: 'acts',
    effect: 'IP addresses and the event property `$ip` are not stored. Cookieless visitors are still distinguished.',
  },
  completed_snippet_onboarding: {
    does: 'stored only',
    effect: 'Other applications can store here that they have shown the snippet.',
  },
  test_account_filters: {
    does: 'acts',
    effect: 'Insights and the Live view can leave out events that do not match all of these filters. A new environment starts with a filter for the email domain of its members. A filter that insights cannot evaluate is rejected, and so is a cohort that the user cannot access.',
  },
  test_account_filters_default_checked: {
    does: 'stored only',
    effect: 'Other applications can use it as the default for excluding internal and test users.',
  },
  path_cleaning_filters: {
    does: 'stored only',
    effect: 'Other applications can use these rules to shorten URL paths for display.',
  },
  is_demo: {
    does: 'acts',
    effect: 'The first demo project of an organization, and the first demo environment of a project, do not count toward the limits of the plan. Users cannot create a second one. A new demo environment has no default `test_account_filters`.',
  },
  timezone: {
    does: 'acts',
    effect: 'It is the time zone for dates in insights, reports and release conditions, for the days of flag exposures, for the intervals of a batch export (a change affects only exports created later), and for the days of cookieless visitors who send no `$timezone`.',
  },
  data_attributes: {
    does: 'stored only',
    effect: 'Millrace captures interactions with its own list of attributes, whatever is listed here.',
  },
  person_display_name_properties: {
    does: 'stored only',
    effect: 'Lists show persons by `email`, `name`, `username` or distinct ID, whatever is listed here.',
  },
  correlation_config: {
    does: 'stored only',
    effect: 'Millrace does not include correlation analysis.',
  },
  autocapture_opt_out: {
    does: 'acts',
    effect: 'Turns autocapture in browsers on or off.',
  },
  autocapture_exceptions_opt_in: {
    does: 'acts',
    effect: 'Turns exception capture on or off in the Millrace browser library and in mobile apps, but not in `posthog-js`.',
  },
  autocapture_web_vitals_opt_in: {
    does: 'acts',
    effect: 'Turns the capture of web vitals on or off in the Millrace browser library, but not in `posthog-js`.',
  },
  autocapture_web_vitals_allowed_metrics: {
    does: 'acts',
    effect: 'The Millrace browser library captures these web vitals. Null means all four.',
  },
  autocapture_exceptions_errors_to_ignore: {
    does: 'stored only',
    effect: 'Millrace does not send this list to browsers, so it does not suppress any exceptions.',
  },
  capture_console_log_opt_in: {
    does: 'off',
    effect: 'Part of session replay.',
  },
  capture_performance_opt_in: {
    does: 'off',
    effect: 'Part of session replay. Clients receive `network_timing: false`.',
  },
  session_recording_opt_in: {
    does: 'off',
    effect: 'The configuration that clients receive turns recording off. Recordings that clients send anyway are not stored, and the response asks the client to pause.',
  },
  session_recording_sample_rate: {
    does: 'off',
    effect: 'Part of session replay.',
  },
  session_recording_minimum_duration_milliseconds: {
    does: 'off',
    effect: 'Part of session replay.',
  },
  session_recording_linked_flag: {
    does: 'off',
    effect: 'Part of session replay.',
  },
  session_recording_network_payload_capture_config: {
    does: 'off',
    effect: 'Part of session replay.',
  },
  session_recording_url_trigger_config: {
    does: 'off',
    effect: 'Part of session replay.',
  },
  session_recording_url_blocklist_config: {
    does: 'off',
    effect: 'Part of session replay.',
  },
  session_recording_event_trigger_config: {
    does: 'off',
    effect: 'Part of session replay.',
  },
  session_replay_config: {
    does: 'off',
    effect: 'Part of session replay.',
  },
  survey_config: {
    does: 'off',
    effect: 'Part of surveys.',
  },
  access_control: {
    does: 'acts',
    effect: 'If true, the environment is private to some members. The plan must include project permissions.',
  },
  week_start_day: {
    does: 'acts',
    effect: 'Weeks in insights, and date ranges such as `wStart`, begin on this day.',
  },
  primary_dashboard: {
    does: 'acts',
    effect: 'The list of dashboards in the console marks this dashboard. Deleting the dashboard clears this setting.',
  },
  live_events_columns: {
    does: 'stored only',
    effect: 'Other applications can use it for the columns of a list of events.',
  },
  recording_domains: {
    does: 'off',
    effect: 'Part of session replay.',
  },
  cookieless_server_hash_mode: {
    does: 'acts',
    effect: 'With 1, each visitor whose events have `$cookieless_mode` gets an ID that is valid for one day. With 0, such events are dropped with a warning. 2, the stateful mode, is rejected.',
  },
  human_friendly_comparison_periods: {
    does: 'acts',
    effect: 'In comparisons with earlier months or years, a month counts as 4 weeks and a year as 52 weeks.',
  },
  inject_web_apps: {
    does: 'off',
    effect: 'The configuration that browsers receive contains no site apps.',
  },
  extra_settings: {
    does: 'stored only',
    effect: 'Other applications can store any settings here.',
  },
  modifiers: {
    does: 'acts',
    effect: '`personsOnEventsMode` decides whether insights use the current person properties or those that were stored with the event. Other keys have no effect.',
  },
  has_completed_onboarding_for: {
    does: 'stored only',
    effect: 'Other applications can store here which onboarding has been completed.',
  },
  surveys_opt_in: {
    does: 'off',
    effect: 'The configuration that browsers receive contains no surveys, so browsers do not load the survey script. The list of surveys is empty.',
  },
  heatmaps_opt_in: {
    does: 'off',
    effect: 'The Millrace browser library does not collect heatmaps, and the configuration for `posthog-js` turns them off. Millrace cannot show heatmaps.',
  },
  flags_persistence_default: {
    does: 'stored only',
    effect: 'Other applications can use it as a default in their form for new flags.',
  },
  capture_dead_clicks: {
    does: 'off',
    effect: 'The configuration that clients receive turns off the capture of dead clicks.',
  },
  default_data_theme: {
    does: 'stored only',
    effect: 'Other applications can store the ID of a color theme here.',
  },
} as const;
