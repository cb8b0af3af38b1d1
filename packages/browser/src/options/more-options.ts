import type { Options } from '../client/client.ts';

/** Of what the full build has besides, and what is off. `defaults` is a date: what was changed by then holds. */
export function moreOptions(defaults: string | undefined): Partial<Options> {
  return {
    api_host: '',
    ui_host: null,
    flags_api_host: null,
    asset_host: null,
    name: 'posthog',
    token: '',
    autocapture: true,
    rageclick: true,
    capture_pageview: isSince(defaults, '2025-05-24') ? 'history_change' : true,
    capture_pageleave: 'if_capture_pageview',
    capture_exceptions: undefined,
    capture_performance: undefined,
    persistence_name: '',
    disable_persistence: false,
    opt_out_persistence_by_default: false,
    opt_out_capturing_by_default: false,
    respect_dnt: false,
    opt_out_useragent_filter: false,
    advanced_disable_flags: false,
    advanced_disable_feature_flags: false,
    advanced_disable_feature_flags_on_first_load: false,
    disable_compression: false,
    save_campaign_params: true,
    save_referrer: true,
    custom_campaign_params: [],
    mask_all_text: false,
    mask_all_element_attributes: false,
    mask_personal_data_properties: false,
    before_send: undefined,
    sanitize_properties: undefined,
    disable_session_recording: false,
    disable_surveys: false,
    rate_limiting: {},
  };
}

function isSince(defaults: string | undefined, date: string): boolean {
  return defaults !== undefined && defaults !== 'unset' && defaults >= date;
}
