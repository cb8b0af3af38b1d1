// Written by `npm run docs`: the settings of an environment, as their table has them.
// biome-ignore-all format: a line is an entry
export const effects = {
  app_urls: {
    does: 'stored only',
    effect: 'Nothing is refused by its origin.',
  },
  slack_incoming_webhook: {
    does: 'acts',
    effect: 'Reports for a Slack channel are sent through it, including those that are already waiting. Only administrators of the project change it. Members, and keys that may not change it, see its mask.',
  },
  anonymize_ips: {
    does: 'acts',
    effect: 'The address of an event, and the property `$ip`, are not stored. Visitors without cookies are told apart all the same.',
  },
  completed_snippet_onboarding: {
    does: 'stored only',
    effect: 'Whether an application in front has shown its snippet.',
  },
  test_account_filters: {
    does: 'acts',
    effect: 'Insights and the Live view can leave out events that do not match all of these filters. A new environment starts with a filter by the email domains of its members. A filter that insights cannot read is refused, and so is a cohort that the user may not see.',
  },
  test_account_filters_default_checked: {
    does: 'stored only',
    effect: 'Whether an application in front filters by them at first.',
  },
  path_cleaning_filters: {
    does: 'stored only',
    effect: 'Rules that shorten paths for display.',
  },
  is_demo: {
    does: 'acts',
    effect: "Who may make it, and how it counts in the plan's limits; one that is made so has no default `test_account_filters`.",
  },
  timezone: {
    does: 'acts',
    effect: "Dates of reports and in conditions of flags, days of a flag's exposures, intervals of a batch export (as it is when the export is made), days of visitors without cookies who send no `$timezone`.",
  },
  data_attributes: {
    does: 'stored only',
    effect: 'Attributes of HTML that name elements; interactions are captured with the same ones whatever stands here.',
  },
  person_display_name_properties: {
    does: 'stored only',
    effect: 'Names of persons in lists are `email`, `name` or `username`, else the distinct id.',
  },
  correlation_config: {
    does: 'stored only',
    effect: 'Settings of an analysis that is not made here.',
  },
  autocapture_opt_out: {
    does: 'acts',
    effect: 'Browsers are told whether to capture interactions by themselves.',
  },
  autocapture_exceptions_opt_in: {
    does: 'acts',
    effect: 'Pages with our library and mobile applications are told whether to capture exceptions; `posthog-js` is not.',
  },
  autocapture_web_vitals_opt_in: {
    does: 'acts',
    effect: 'Pages with our library are told whether to capture web vitals; `posthog-js` is not.',
  },
  autocapture_web_vitals_allowed_metrics: {
    does: 'acts',
    effect: 'Which web vitals these pages capture; null stands for all four.',
  },
  autocapture_exceptions_errors_to_ignore: {
    does: 'stored only',
    effect: 'No list of exceptions to leave out is sent to browsers.',
  },
  capture_console_log_opt_in: {
    does: 'off',
    effect: 'Part of recordings.',
  },
  capture_performance_opt_in: {
    does: 'off',
    effect: 'Part of recordings: clients are told `network_timing: false`.',
  },
  session_recording_opt_in: {
    does: 'off',
    effect: 'Clients are told that sessions are not recorded; what they send all the same is not kept, and they are told to pause.',
  },
  session_recording_sample_rate: {
    does: 'off',
    effect: 'Part of recordings.',
  },
  session_recording_minimum_duration_milliseconds: {
    does: 'off',
    effect: 'Part of recordings.',
  },
  session_recording_linked_flag: {
    does: 'off',
    effect: 'Part of recordings.',
  },
  session_recording_network_payload_capture_config: {
    does: 'off',
    effect: 'Part of recordings.',
  },
  session_recording_url_trigger_config: {
    does: 'off',
    effect: 'Part of recordings.',
  },
  session_recording_url_blocklist_config: {
    does: 'off',
    effect: 'Part of recordings.',
  },
  session_recording_event_trigger_config: {
    does: 'off',
    effect: 'Part of recordings.',
  },
  session_replay_config: {
    does: 'off',
    effect: 'Part of recordings.',
  },
  survey_config: {
    does: 'off',
    effect: 'Part of surveys.',
  },
  access_control: {
    does: 'acts',
    effect: 'The environment is private to some members, where the plan has that.',
  },
  week_start_day: {
    does: 'acts',
    effect: 'Insights by week and ranges such as `wStart` begin on this day.',
  },
  primary_dashboard: {
    does: 'acts',
    effect: 'The list of dashboards in the console marks this dashboard. Deleting the dashboard clears this setting.',
  },
  live_events_columns: {
    does: 'stored only',
    effect: 'Columns of a list in an application in front.',
  },
  recording_domains: {
    does: 'off',
    effect: 'Part of recordings.',
  },
  cookieless_server_hash_mode: {
    does: 'acts',
    effect: 'With 1 each visitor whose events have `$cookieless_mode` gets an id of the day, with 0 such events are dropped with a warning. 2, the stateful mode, is refused.',
  },
  human_friendly_comparison_periods: {
    does: 'acts',
    effect: 'Where insights compare with a time some months or years ago, a month counts as four weeks and a year as 52.',
  },
  inject_web_apps: {
    does: 'off',
    effect: 'Browsers are told that there are no apps.',
  },
  extra_settings: {
    does: 'stored only',
    effect: 'Anything.',
  },
  modifiers: {
    does: 'acts',
    effect: '`personsOnEventsMode` decides whether insights look at the properties of persons as they are now or as they were stored with the event; other keys have no effect.',
  },
  has_completed_onboarding_for: {
    does: 'stored only',
    effect: 'Products whose introduction is over.',
  },
  surveys_opt_in: {
    does: 'off',
    effect: 'Browsers are not told of surveys, so that they do not fetch the script; the list of surveys is empty.',
  },
  heatmaps_opt_in: {
    does: 'off',
    effect: 'Our library collects no heatmaps, and `posthog-js` is told that they are off: nothing here shows them.',
  },
  flags_persistence_default: {
    does: 'stored only',
    effect: 'A default for the form in which flags are made.',
  },
  capture_dead_clicks: {
    does: 'off',
    effect: 'Clients are told that clicks without effect are not captured.',
  },
  default_data_theme: {
    does: 'stored only',
    effect: 'A number of another system.',
  },
} as const;
