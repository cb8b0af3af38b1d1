/** Validates an environment's settings, and merges them with the stored settings. */

import { isObject } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import { checkName, checkText } from '../input.ts';
import { settingFields } from './setting-fields.ts';

/**
 * Checks settings against the rules of docs/api/projects.md#settings that a schema cannot express, in the order of the
 * fields.
 * @returns the values to store
 * @throws AppError `invalid` naming the field
 */
export function checkSettings(given: Record<string, unknown>): Record<string, unknown> {
  const settings = { ...given };
  for (const [field, { check }] of Object.entries(settingFields)) {
    if (check && settings[field] !== undefined) settings[field] = check(settings[field]);
  }
  return settings;
}

export interface NewSettings extends Record<string, unknown> {
  name: string;
}

/** @throws AppError `invalid` naming the field */
export function checkNewSettings(given: Record<string, unknown>): NewSettings {
  if (given.primary_dashboard !== undefined && given.primary_dashboard !== null) {
    throw new AppError('invalid', 'Primary dashboard cannot be set on project creation.', {
      attr: 'primary_dashboard',
    });
  }
  const { name = 'Default project', ...settings } = checkSettings(given);
  return { ...settings, name: checkName('name', name as string, { maxLength: 200 }) };
}

/** @throws AppError `invalid` naming `product_description` */
export function checkProjectDescription(text: string | null | undefined): string | null {
  return text == null ? null : checkText('product_description', text, { maxLength: 1000, isBlankAllowed: true });
}

/**
 * Computes the settings to store (docs/api/projects.md#settings). Merges some objects by key, and replaces all other
 * values. Null clears a setting.
 */
export function mergeSettings(stored: Record<string, unknown>, sent: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...sent };
  for (const [field, { mergeDepth }] of Object.entries(settingFields)) {
    if (mergeDepth && Object.hasOwn(sent, field)) merged[field] = merge(stored[field], sent[field], mergeDepth);
  }
  return merged;
}

function merge(stored: unknown, sent: unknown, depth: number): unknown {
  if (depth === 0 || !isObject(stored) || !isObject(sent)) return sent;
  const merged = { ...stored };
  for (const [key, value] of Object.entries(sent)) merged[key] = merge(stored[key], value, depth - 1);
  return merged;
}
