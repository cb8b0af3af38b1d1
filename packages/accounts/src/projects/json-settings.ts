/** Settings of an environment that are stored as JSON; the others have columns of their own type. */
const jsonSettings = new Set([
  'app_urls',
  'test_account_filters',
  'path_cleaning_filters',
  'data_attributes',
  'person_display_name_properties',
  'correlation_config',
  'autocapture_web_vitals_allowed_metrics',
  'autocapture_exceptions_errors_to_ignore',
  'session_recording_linked_flag',
  'session_recording_network_payload_capture_config',
  'session_recording_url_trigger_config',
  'session_recording_url_blocklist_config',
  'session_recording_event_trigger_config',
  'session_replay_config',
  'survey_config',
  'live_events_columns',
  'recording_domains',
  'extra_settings',
  'modifiers',
  'has_completed_onboarding_for',
]);

/** `$3::jsonb` for settings stored as JSON: the driver would write an array as an array of PostgreSQL. */
export function placeholder(field: string, index: number): string {
  return jsonSettings.has(field) ? `$${index}::jsonb` : `$${index}`;
}

export function stored(field: string, value: unknown): unknown {
  return jsonSettings.has(field) && value !== null ? JSON.stringify(value) : value;
}
