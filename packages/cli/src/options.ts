// Command line options and arguments that several commands share.

import { getUser } from '@millrace/accounts';
import { isPlanName, type PlanName, planNames } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { InvalidArgumentError, Option } from 'commander';
import { UsageError } from './failures.ts';

export function planOption(): Option {
  return new Option('--plan <plan>', `organization plan: ${planNames.join(' or ')}`).argParser((text): PlanName => {
    if (!isPlanName(text)) throw new InvalidArgumentError(`Must be ${planNames.join(' or ')}.`);
    return text;
  });
}

export function parseId(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('Must be a number.');
  return Number(text);
}

/** Finds a user by ID or email address. @throws AppError `not_found` if the user does not exist */
export async function resolveUserId(sql: Sql, text: string): Promise<number> {
  const user = await getUser(sql, text.includes('@') ? { email: text } : { id: Number(text) });
  return user.id;
}

/** Requires the option `--yes` before a permanent deletion. @throws UsageError that says what would be deleted */
export function requireConfirmation(isConfirmed: boolean | undefined, what: string): void {
  if (isConfirmed === true) return;
  throw new UsageError(`--yes: This deletes ${what}. It cannot be undone. Pass --yes to confirm.`);
}

/**
 * Validates a server URL and removes its trailing slash, so that paths can be appended.
 * @throws UsageError that names the option
 */
export function requireServerUrl(
  text: string | undefined,
  { option, missing, example }: { option: string; missing: string; example: string },
): string {
  if (!text) throw new UsageError(`${option}: ${missing}`);
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new UsageError(`${option}: Must be a URL such as ${example}.`);
  }
  return text.replace(/\/+$/, '');
}
