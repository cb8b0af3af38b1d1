import type { CaptureResult, FlagValue, JsonValue, Properties, Property } from './values.ts';

export interface AutocaptureOptions {
  url_allowlist?: (string | RegExp)[];
  url_ignorelist?: (string | RegExp)[];
  dom_event_allowlist?: ('click' | 'change' | 'submit')[];
  element_allowlist?: string[];
  css_selector_allowlist?: string[];
  css_selector_ignorelist?: string[];
  element_attribute_ignorelist?: string[];
  capture_copied_text?: boolean;
}

/**
 * Values that the client uses until the service responds. Null has the same meaning as undefined, because
 * server-generated JSON may contain null.
 */
export interface Bootstrap {
  distinctID?: string | null;
  isIdentifiedID?: boolean | null;
  sessionID?: string | null;
  featureFlags?: Record<string, FlagValue> | null;
  featureFlagPayloads?: Record<string, JsonValue> | null;
}

export type BeforeSend = (event: CaptureResult) => CaptureResult | null;

/** The kinds of uncaught errors to capture. Only the kinds set to true are captured. */
export interface ExceptionOptions {
  capture_unhandled_errors?: boolean;
  capture_unhandled_rejections?: boolean;
  /** This option has no effect, because console output is never captured. */
  capture_console_errors?: boolean;
}

export interface PerformanceOptions {
  web_vitals?: boolean;
  web_vitals_allowed_metrics?: string[];
  /** This option has no effect, because only session replay displays these values. */
  network_timing?: boolean;
}

/** The options whose values are plain data. `Options` adds the options that are functions. */
export interface OptionValues {
  /**
   * URL of the ingest host. Required for the npm package. The script that the gateway serves can derive the URL from
   * its own address.
   */
  api_host: string;
  ui_host: string | null;
  flags_api_host: string | null;
  asset_host: string | null;
  name: string;
  token: string;
  defaults: string;
  autocapture: boolean | AutocaptureOptions;
  rageclick: boolean | { css_selector_ignorelist?: string[] };
  capture_pageview: boolean | 'history_change';
  capture_pageleave: boolean | 'if_capture_pageview';
  /** The errors to capture. If this option is not set, the environment's settings decide. */
  capture_exceptions: boolean | ExceptionOptions | undefined;
  capture_performance: boolean | PerformanceOptions | undefined;
  persistence: 'localStorage+cookie' | 'cookie' | 'localStorage' | 'sessionStorage' | 'memory';
  persistence_name: string;
  cookie_expiration: number;
  cross_subdomain_cookie: boolean;
  secure_cookie: boolean;
  disable_persistence: boolean;
  opt_out_persistence_by_default: boolean;
  opt_out_capturing_by_default: boolean;
  opt_out_capturing_persistence_type: 'localStorage' | 'cookie';
  respect_dnt: boolean;
  opt_out_useragent_filter: boolean;
  person_profiles: 'identified_only' | 'always' | 'never';
  bootstrap: Bootstrap;
  advanced_disable_flags: boolean;
  advanced_disable_feature_flags: boolean;
  advanced_disable_feature_flags_on_first_load: boolean;
  feature_flag_request_timeout_ms: number;
  feature_flag_request_max_retries: number;
  /** Number of queued events at which they are sent immediately. */
  flushAt: number;
  request_batching: boolean;
  request_queue_config: { flush_interval_ms?: number };
  request_headers: Record<string, string>;
  disable_compression: boolean;
  session_idle_timeout_seconds: number;
  save_campaign_params: boolean;
  save_referrer: boolean;
  custom_campaign_params: string[];
  mask_all_text: boolean;
  mask_all_element_attributes: boolean;
  mask_personal_data_properties: boolean;
  property_denylist: string[];
  properties_string_max_length: number;
  before_send: BeforeSend | BeforeSend[] | undefined;
  /** The predecessor of `before_send`. Unlike `before_send`, it can only change properties. */
  sanitize_properties: ((properties: Properties, event: string) => Properties) | null | undefined;
  get_device_id: (id: string) => string;
  disable_session_recording: boolean;
  disable_surveys: boolean;
  remote_config_refresh_interval_ms: number;
  rate_limiting: { events_per_second?: number; events_burst_limit?: number };
  debug: boolean;
}

/**
 * Options for features that Millrace does not have (session replay, surveys, heatmaps, product tours, …). The options
 * have no effect. The client accepts them so that applications written for PostHog's library compile. In debug mode,
 * the client logs a message about them.
 */
export interface AbsentOptions {
  advanced_disable_toolbar_metrics?: boolean;
  advanced_enable_surveys?: boolean;
  advanced_only_evaluate_survey_feature_flags?: boolean;
  capture_dead_clicks?: boolean | object;
  capture_heatmaps?: boolean | object;
  conversations?: object;
  disable_conversations?: boolean;
  disable_product_tours?: boolean;
  disable_surveys_automatic_display?: boolean;
  disable_web_experiments?: boolean;
  enable_heatmaps?: boolean;
  enable_recording_console_log?: boolean;
  logs?: object;
  opt_in_site_apps?: boolean;
  session_recording?: SessionRecordingOptions;
  surveys?: object;
  surveys_request_timeout_ms?: number;
}

type Mask = ((text: string, element?: HTMLElement) => string) | null;

interface SessionRecordingOptions {
  maskInputFn?: Mask;
  maskTextFn?: Mask;
  maskAttributeFn?: ((name: string, value: string, element?: Element) => string) | null;
  maskCapturedNetworkRequestFn?: ((request: Property) => Property) | null;
  maskNetworkRequestFn?: ((request: Property) => Property) | null;
  [name: string]: Property;
}
