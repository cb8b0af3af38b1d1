import type { Options } from '../client/client.ts';

/**
 * What each option may be: `b` boolean, `s` text, `n` number, `o` object, `a` list, `f` function, `u` unset, a text of
 * several is any of them; a list is of the words it may be.
 */
export const optionKinds: Record<keyof Options, string | readonly unknown[]> = {
  api_host: 's',
  ui_host: 'su',
  flags_api_host: 'su',
  asset_host: 'su',
  name: 's',
  token: 's',
  defaults: 's',
  autocapture: 'bo',
  rageclick: 'bo',
  capture_pageview: [true, false, 'history_change'],
  capture_pageleave: [true, false, 'if_capture_pageview'],
  capture_exceptions: 'bou',
  capture_performance: 'bou',
  persistence: ['localStorage+cookie', 'cookie', 'localStorage', 'sessionStorage', 'memory'],
  persistence_name: 's',
  cookie_expiration: 'n',
  cross_subdomain_cookie: 'b',
  secure_cookie: 'b',
  disable_persistence: 'b',
  opt_out_persistence_by_default: 'b',
  opt_out_capturing_by_default: 'b',
  opt_out_capturing_persistence_type: ['localStorage', 'cookie'],
  respect_dnt: 'b',
  opt_out_useragent_filter: 'b',
  person_profiles: ['identified_only', 'always', 'never'],
  bootstrap: 'o',
  advanced_disable_flags: 'b',
  advanced_disable_feature_flags: 'b',
  advanced_disable_feature_flags_on_first_load: 'b',
  feature_flag_request_timeout_ms: 'n',
  feature_flag_request_max_retries: 'n',
  flushAt: 'n',
  request_batching: 'b',
  request_queue_config: 'o',
  request_headers: 'o',
  disable_compression: 'b',
  session_idle_timeout_seconds: 'n',
  save_campaign_params: 'b',
  save_referrer: 'b',
  custom_campaign_params: 'a',
  mask_all_text: 'b',
  mask_all_element_attributes: 'b',
  mask_personal_data_properties: 'b',
  property_denylist: 'a',
  properties_string_max_length: 'n',
  before_send: 'fau',
  get_device_id: 'f',
  disable_session_recording: 'b',
  disable_surveys: 'b',
  remote_config_refresh_interval_ms: 'n',
  rate_limiting: 'o',
  debug: 'b',
  loaded: 'f',
};

const tests: Record<string, (value: unknown) => boolean> = {
  b: (value) => typeof value === 'boolean',
  s: (value) => typeof value === 'string',
  n: (value) => typeof value === 'number' && value >= 0,
  o: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  a: Array.isArray,
  f: (value) => typeof value === 'function',
  u: (value) => value === undefined || value === null,
};

export function isOfKind(value: unknown, kind: string | readonly unknown[]): boolean {
  return typeof kind === 'string' ? [...kind].some((one) => tests[one]?.(value)) : kind.includes(value);
}
