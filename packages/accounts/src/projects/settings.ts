/** The settings of an environment: what is refused, how a value is stored, and what is merged with the stored one. */

import { isMasked, isObject } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import { isTimeZone } from '@millrace/schedule';
import { checkText } from '../input.ts';

/** Lists of up to a thousand environments show it. */
const maxListedLength = 2000;

/**
 * The rules of docs/api-rules.md#settings that a schema cannot say, in the order of the fields.
 * @returns the values as they are stored.
 * @throws AppError `invalid` naming the field.
 */
export function checkSettings(given: Record<string, unknown>): Record<string, unknown> {
  const settings = { ...given };
  for (const [field, check] of Object.entries(checks)) {
    if (settings[field] !== undefined) settings[field] = check(settings[field]);
  }
  return settings;
}

const checks: Record<string, (value: unknown) => unknown> = {
  app_urls: withoutEmpty,
  slack_incoming_webhook: (value) => {
    if (typeof value !== 'string' || !isMasked(value)) return value;
    throw invalid('slack_incoming_webhook', 'This address is masked. Send the whole one, or leave it out.');
  },
  timezone: (value) => {
    if (isTimeZone(String(value))) return value;
    throw invalid(
      'timezone',
      `"${String(value).slice(0, 100)}" is not a valid choice. Name a time zone of the IANA database, like Europe/Berlin.`,
      'invalid_choice',
    );
  },
  person_display_name_properties: withoutEmpty,
  autocapture_exceptions_errors_to_ignore: checkErrorsToIgnore,
  session_recording_sample_rate: checkSampleRate,
  session_recording_linked_flag: checkLinkedFlag,
  session_recording_network_payload_capture_config: (value) =>
    checkKeys(
      'session_recording_network_payload_capture_config',
      value,
      ['recordHeaders', 'recordBody'],
      "Must provide a dictionary with only 'recordHeaders' and/or 'recordBody' keys.",
    ),
  session_recording_event_trigger_config: withoutEmpty,
  session_replay_config: checkReplayConfig,
  live_events_columns: withoutEmpty,
  recording_domains: withoutEmpty,
  cookieless_server_hash_mode: (value) => {
    if (value !== 2) return value;
    throw invalid(
      'cookieless_server_hash_mode',
      'Mode 2 (stateful) is not supported: 0 is off, 1 stateless.',
      'invalid_choice',
    );
  },
  has_completed_onboarding_for: (value) => {
    if (JSON.stringify(value).length <= maxListedLength) return value;
    throw invalid(
      'has_completed_onboarding_for',
      `Ensure this field has no more than ${maxListedLength} characters as JSON.`,
      'max_length',
    );
  },
};

function withoutEmpty(value: unknown): unknown {
  return Array.isArray(value) ? value.filter((element) => element !== null && element !== '') : value;
}

const ignoredErrors = 'autocapture_exceptions_errors_to_ignore';

function checkErrorsToIgnore(value: unknown): unknown {
  if (value === null) throw invalid(ignoredErrors, 'This field may not be null.', 'null');
  if (!Array.isArray(value)) throw invalid(null, `Must provide a list for field: ${ignoredErrors}.`);
  if (value.some((element) => typeof element !== 'string')) {
    throw invalid(null, `Must provide a list of strings to field: ${ignoredErrors}.`);
  }
  if (JSON.stringify(value).length > 300) {
    throw invalid(
      null,
      `Field ${ignoredErrors} must be less than 300 characters. Complex config should be provided in millrace-js initialization.`,
    );
  }
  return value;
}

/** A decimal of at most one digit before and two after the point; what is stored has exactly two. */
function checkSampleRate(value: unknown): string | null {
  const field = 'session_recording_sample_rate';
  if (value === null || value === '') return null;
  const [, sign, whole = '', decimals = ''] = /^([+-]?)(\d*)\.?(\d*)$/.exec(String(value)) ?? [];
  if (sign === undefined || whole + decimals === '') throw invalid(field, 'A valid number is required.');
  const wholeDigits = whole.replace(/^0+/, '');
  if ((wholeDigits + (wholeDigits === '' ? decimals.replace(/^0+/, '') : decimals)).length > 3) {
    throw invalid(field, 'Ensure that there are no more than 3 digits in total.', 'max_digits');
  }
  if (decimals.length > 2) {
    throw invalid(field, 'Ensure that there are no more than 2 decimal places.', 'max_decimal_places');
  }
  if (wholeDigits.length > 1) {
    throw invalid(field, 'Ensure that there are no more than 1 digits before the decimal point.', 'max_whole_digits');
  }
  const number = Number(`${sign}${whole || '0'}.${decimals || '0'}`);
  if (number < 0) throw invalid(field, 'Ensure this value is greater than or equal to 0.', 'min_value');
  if (number > 1) throw invalid(field, 'Ensure this value is less than or equal to 1.', 'max_value');
  return Math.abs(number).toFixed(2);
}

function checkLinkedFlag(value: unknown): unknown {
  const field = 'session_recording_linked_flag';
  if (value === null) return null;
  if (!isObject(value)) throw invalid(field, 'Must provide a dictionary or None.');
  const keys = Object.keys(value).sort().join();
  if (keys === 'id,key' || keys === 'id,key,variant') return value;
  throw invalid(
    field,
    "Must provide a dictionary with only 'id' and 'key' keys. _or_ only 'id', 'key', and 'variant' keys.",
  );
}

const aiKeys = [
  'included_event_properties',
  'opt_in',
  'preferred_events',
  'excluded_events',
  'important_user_properties',
];

function checkReplayConfig(value: unknown): unknown {
  const field = 'session_replay_config';
  checkKeys(
    field,
    value,
    ['record_canvas', 'ai_config'],
    'Must provide a dictionary with only known keys. One or more of record_canvas, ai_config.',
  );
  const aiConfig = isObject(value) ? value.ai_config : undefined;
  if (aiConfig !== undefined) {
    checkKeys(field, aiConfig, aiKeys, `Must provide a dictionary with only allowed keys: ${aiKeys.join(', ')}.`);
  }
  return value;
}

function checkKeys(field: string, value: unknown, allowed: readonly string[], otherwise: string): unknown {
  if (value === null) return null;
  if (!isObject(value)) throw invalid(field, 'Must provide a dictionary or None.');
  if (Object.keys(value).some((key) => !allowed.includes(key))) throw invalid(field, otherwise);
  return value;
}

function invalid(attr: string | null, detail: string, code = 'invalid_input'): AppError {
  return new AppError('invalid', detail, { code, attr });
}

/** What a new environment is given, each value as it is stored. */
export interface NewSettings extends Record<string, unknown> {
  name: string;
}

/** @throws AppError `invalid` naming the field. */
export function checkNewSettings(given: Record<string, unknown>): NewSettings {
  if (given.primary_dashboard !== undefined && given.primary_dashboard !== null) {
    throw new AppError('invalid', 'Primary dashboard cannot be set on project creation.', {
      attr: 'primary_dashboard',
    });
  }
  const { name = 'Default project', ...settings } = checkSettings(given);
  return { ...settings, name: checkText('name', name as string, { maxLength: 200 }) };
}

/** @throws AppError `invalid` naming `product_description`. */
export function checkDescription(text: string | null | undefined): string | null {
  return text == null ? null : checkText('product_description', text, { maxLength: 1000, isBlankAllowed: true });
}

/**
 * What the sent settings mean for what is stored (docs/api-rules.md#settings): `session_replay_config` is merged,
 * objects in it key by key; `survey_config` is merged; everything else replaces. Null clears.
 */
export function mergeSettings(stored: Record<string, unknown>, sent: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...sent };
  for (const [field, depth] of [
    ['session_replay_config', 2],
    ['survey_config', 1],
  ] as const) {
    if (Object.hasOwn(sent, field)) merged[field] = merge(stored[field], sent[field], depth);
  }
  return merged;
}

function merge(stored: unknown, sent: unknown, depth: number): unknown {
  if (depth === 0 || !isObject(stored) || !isObject(sent)) return sent;
  const merged = { ...stored };
  for (const [key, value] of Object.entries(sent)) merged[key] = merge(stored[key], value, depth - 1);
  return merged;
}
