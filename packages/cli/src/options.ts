import { getUser } from '@millrace/accounts';
import { isPlanName, type PlanName, planNames } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { InvalidArgumentError, Option } from 'commander';
import { UsageError } from './failures.ts';

/** `--plan free|full`. */
export function planOption(): Option {
  return new Option('--plan <plan>', `organization plan: ${planNames.join(' or ')}`).argParser((text): PlanName => {
    if (!isPlanName(text)) throw new InvalidArgumentError(`Must be ${planNames.join(' or ')}.`);
    return text;
  });
}

/** One id. */
export function parseId(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('Must be a number.');
  return Number(text);
}

/** A user's id from the number or the e-mail address a person wrote. @throws AppError `not_found`. */
export async function resolveUserId(sql: Sql, text: string): Promise<number> {
  const user = await getUser(sql, text.includes('@') ? { email: text } : { id: Number(text) });
  return user.id;
}

/** Asks for the option `--yes` before something is deleted for good. @throws UsageError saying what it is. */
export function requireYes(isConfirmed: boolean | undefined, what: string): void {
  if (isConfirmed === true) return;
  throw new UsageError(`--yes: This deletes ${what}. It cannot be undone. Pass --yes to confirm.`);
}

/**
 * The address of a server, without the slash at its end, so that paths can be put behind it.
 * @throws UsageError naming the option.
 */
export function requireAddress(
  text: string | undefined,
  { option, missing, example }: { option: string; missing: string; example: string },
): string {
  if (!text) throw new UsageError(`${option}: ${missing}`);
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new UsageError(`${option}: Must be a URL such as ${example}.`);
  }
  return text.replace(/\/+$/, '');
}
