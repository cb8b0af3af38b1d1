import { AppError } from '@millrace/errors';
import { checkText } from '../input/account-input.ts';
import { checkSettings } from './check-settings.ts';

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
