import { targetsOf } from '@millrace/contracts';
import { AppError } from '@millrace/errors';
import type { SubscriptionFields } from './subscription-fields.ts';

/** What a 32-bit number column holds. */
const largestId = 2_147_483_647;
const maxAddresses = 100;

/**
 * The rules that look at several fields (docs/api-rules.md#subscriptions).
 *
 * Neither dashboard nor insight is needed and both may be given: the contract's example has neither, and the reference's
 * own check never takes effect. Whether they exist cannot be asked here.
 *
 * @throws AppError `invalid` naming the field.
 */
export function checkSubscription(fields: SubscriptionFields): void {
  for (const name of ['dashboard', 'insight'] as const) {
    const id = fields[name];
    if (id === null || (id > 0 && id <= largestId)) continue;
    throw new AppError('invalid', `Invalid pk "${id}" - object does not exist.`, {
      code: 'does_not_exist',
      attr: name,
    });
  }
  checkTarget(fields);
  const { bysetpos, byweekday } = fields;
  if (byweekday?.length && bysetpos !== null && (bysetpos === 0 || Math.abs(bysetpos) > 366)) {
    throw new AppError('invalid', 'Must be between 1 and 366 or between -366 and -1.', {
      code: 'invalid_input',
      attr: 'bysetpos',
    });
  }
}

/** A report nobody can get is refused here: later nobody would notice that it never comes. */
function checkTarget(fields: SubscriptionFields): void {
  const refuse = (detail: string) => new AppError('invalid', detail, { code: 'invalid_input', attr: 'target_value' });
  if (fields.target_type === 'email') {
    const addresses = targetsOf(fields);
    if (addresses.length === 0 || addresses.some((address) => !/^[^\s@<>]+@[^\s@<>]+$/.test(address))) {
      throw refuse('Enter a valid email address.');
    }
    if (addresses.length > maxAddresses) throw refuse(`Enter at most ${maxAddresses} email addresses.`);
  }
  if (fields.target_type === 'webhook' && !isWebAddress(fields.target_value)) throw refuse('Enter a valid URL.');
}

function isWebAddress(text: string): boolean {
  try {
    return ['http:', 'https:'].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}
