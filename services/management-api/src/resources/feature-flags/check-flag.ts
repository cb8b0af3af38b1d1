import { AppError } from '@millrace/errors';
import type { FlagFields } from './flag-row.ts';

/**
 * The rules that look at a flag alone, and at what it was before.
 * @throws AppError `invalid`, naming what does not go together.
 */
export function checkFlag(fields: FlagFields, before: FlagFields | null): void {
  if (!/^[\w-]+$/.test(fields.key) && fields.key !== before?.key) {
    throw new AppError('invalid', 'Only letters, numbers, hyphens (-) & underscores (_) are allowed.', {
      code: 'invalid_key',
      attr: 'key',
    });
  }
  if (fields.bucketing_identifier === 'device_id' && fields.ensure_experience_continuity === true) {
    throw refusal(
      "Cannot enable 'persist across authentication steps' when using device ID bucketing. These features are incompatible.",
    );
  }
  if (fields.has_encrypted_payloads === true && fields.is_remote_configuration !== true) {
    throw refusal('Encrypted payloads require the flag to be a remote configuration.');
  }
  if (fields.archived && fields.active) {
    throw refusal(
      before?.archived === true
        ? 'Cannot enable an archived feature flag. Unarchive it first.'
        : 'Cannot archive an enabled feature flag. Disable it first.',
    );
  }
}

export function refusal(detail: string): AppError {
  return new AppError('invalid', detail, { code: 'invalid_input' });
}
