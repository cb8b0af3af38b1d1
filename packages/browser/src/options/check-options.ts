import type { Options } from '../client/client.ts';
import { getDefaultOptions, type ReadOptions, readUncheckedOptions } from './default-options.ts';

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Former names of options, with their current names. */
const formerNames: Record<string, string> = {
  process_person: 'person_profiles',
  xhr_headers: 'request_headers',
  cookie_name: 'persistence_name',
  disable_cookie: 'disable_persistence',
  store_google: 'save_campaign_params',
  verbose: 'debug',
  property_blacklist: 'property_denylist',
};

/** Options that also accept values whose type differs from their default's type. */
const allowed: { [Name in keyof Options]?: (value: unknown) => boolean } = {
  autocapture: isObject,
  rageclick: isObject,
  capture_exceptions: (value) => typeof value === 'boolean' || isObject(value),
  capture_performance: (value) => typeof value === 'boolean' || isObject(value),
  sanitize_properties: (value) => typeof value === 'function',
  before_send: (value) => [value].flat().every((one) => typeof one === 'function'),
};

/** The allowed values of options that accept only a fixed set of values. */
const words: { [Name in keyof Options]?: unknown[] } = {
  capture_pageview: [true, false, 'history_change'],
  capture_pageleave: [true, false, 'if_capture_pageview'],
  persistence: ['localStorage+cookie', 'cookie', 'localStorage', 'sessionStorage', 'memory'],
  opt_out_capturing_persistence_type: ['localStorage', 'cookie'],
  person_profiles: ['identified_only', 'always', 'never'],
};

/** Replaces former option names with current ones. Logs and drops invalid options. */
export const readValidatedOptions: ReadOptions = (given, log) => {
  if (given !== undefined && given !== null && !isObject(given)) log.error('The options must be an object');
  const taken: Record<string, unknown> = readUncheckedOptions(given, log);
  const known: Record<string, unknown> = { ...getFullBuildDefaults(undefined), ...getDefaultOptions() };
  const used: Record<string, unknown> = {};
  for (const [usedName, value] of Object.entries(taken)) {
    const name = formerNames[usedName] ?? usedName;
    const one = name as keyof Options;
    if (name !== usedName && name in taken) continue;
    if (!(name in known)) log.debug(`The option ${name} has no effect`);
    else if (isUsable(one, value, known[name])) used[name] = value;
    else log.error(`Invalid option ${name}:`, value, words[one] ? `Use one of ${words[one].join(', ')}` : '');
  }
  return used;
};

function isUsable(name: keyof Options, value: unknown, normal: unknown): boolean {
  const one = words[name];
  if (one) return one.includes(value);
  const also = allowed[name];
  if (also?.(value)) return true;
  // A default determines the type of an option's values. Options without a default, such as hosts, therefore need a
  // separate rule.
  if (normal === undefined || normal === null) return value === null || (normal === null && typeof value === 'string');
  if (value === null) return false;
  if (Array.isArray(normal) !== Array.isArray(value) || typeof value !== typeof normal) return false;
  return typeof value !== 'number' || value >= 0;
}

/**
 * Returns the defaults of options that exist only in the full build.
 * @param defaults a date; only changes to the defaults up to this date apply
 */
export function getFullBuildDefaults(defaults: string | undefined): Partial<Options> {
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
