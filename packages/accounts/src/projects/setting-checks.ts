// Checks settings against rules that a schema cannot express (docs/api/projects.md#settings). Each function returns the
// value to store, or throws AppError `invalid` naming the field.

import { isMasked, isObject } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import { isTimeZone } from '@millrace/schedule';

/** Maximum length of settings in list responses. A list response can contain a thousand environments. */
const maxListedLength = 2000;

export function checkWebhook(value: unknown): unknown {
  if (typeof value !== 'string' || !isMasked(value)) return value;
  throw invalid('slack_incoming_webhook', 'This URL is masked. Send the complete URL, or leave the field out.');
}

export function checkTimeZone(value: unknown): unknown {
  if (isTimeZone(String(value))) return value;
  throw invalid(
    'timezone',
    `"${String(value).slice(0, 100)}" is not a valid choice. Use an IANA time zone name such as Europe/Berlin.`,
    'invalid_choice',
  );
}

export function checkNetworkPayload(value: unknown): unknown {
  return checkKeys(
    'session_recording_network_payload_capture_config',
    value,
    ['recordHeaders', 'recordBody'],
    "Must provide a dictionary with only 'recordHeaders' and/or 'recordBody' keys.",
  );
}

export function checkCookielessMode(value: unknown): unknown {
  if (value !== 2) return value;
  throw invalid(
    'cookieless_server_hash_mode',
    'Mode 2 (stateful) is not supported. Use 0 (off) or 1 (stateless).',
    'invalid_choice',
  );
}

export function checkOnboarding(value: unknown): unknown {
  if (JSON.stringify(value).length <= maxListedLength) return value;
  throw invalid(
    'has_completed_onboarding_for',
    `Ensure this field has no more than ${maxListedLength} characters as JSON.`,
    'max_length',
  );
}

export function removeEmptyElements(value: unknown): unknown {
  return Array.isArray(value) ? value.filter((element) => element !== null && element !== '') : value;
}

const ignoredErrors = 'autocapture_exceptions_errors_to_ignore';

export function checkErrorsToIgnore(value: unknown): unknown {
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

/**
 * Accepts a decimal number with at most one digit before and two digits after the decimal point. Returns the number
 * with exactly two decimals.
 */
export function checkSampleRate(value: unknown): string | null {
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

export function checkLinkedFlag(value: unknown): unknown {
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

export function checkReplayConfig(value: unknown): unknown {
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
