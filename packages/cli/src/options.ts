import { getUser } from '@millrace/accounts';
import {
  isPlanName,
  isRestrictionKind,
  type MembershipLevel,
  membershipLevels,
  type PlanName,
  planNames,
  type RestrictionKind,
  restrictionKinds,
} from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { InvalidArgumentError, Option } from 'commander';
import { UsageError } from './failures.ts';

/** `--plan free|full`. */
export function planOption(): Option {
  return new Option('--plan <plan>', `what the organization may use: ${planNames.join(' or ')}`).argParser(
    (text): PlanName => {
      if (!isPlanName(text)) throw new InvalidArgumentError(`Choose ${planNames.join(' or ')}.`);
      return text;
    },
  );
}

/** `--kind drop_event|force_overflow|skip_person_processing`. */
export function restrictionKindOption(): Option {
  return new Option('--kind <kind>', `what happens to the events: ${restrictionKinds.join(', ')}`).argParser(
    (text): RestrictionKind => {
      if (!isRestrictionKind(text)) throw new InvalidArgumentError(`Choose ${restrictionKinds.join(' or ')}.`);
      return text;
    },
  );
}

/** A whole number from 0, or the word for none; the option parser takes null for an option without a value. */
export function parseLimit(text: string): number | 'unlimited' {
  if (text === 'unlimited') return text;
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Give a whole number, or unlimited.');
  return Number(text);
}

/** `--level member|administrator|owner`, or the number the API uses. */
export function levelOption(): Option {
  return new Option('--level <level>', 'member (1), administrator (8) or owner (15)').argParser(
    (text): MembershipLevel => {
      const level = Object.entries(membershipLevels).find(([name, value]) => text === name || text === String(value));
      if (!level) throw new InvalidArgumentError('Choose member, administrator or owner.');
      return level[1];
    },
  );
}

export function levelName(level: number): string {
  return Object.entries(membershipLevels).find(([, value]) => value === level)?.[0] ?? String(level);
}

/** A comma-separated list without empty elements. */
export function parseList(text: string): string[] {
  return text.split(',').flatMap((element) => element.trim() || []);
}

/** A comma-separated list of ids. */
export function parseIds(text: string): number[] {
  return parseList(text).map((element) => {
    if (!/^\d{1,10}$/.test(element)) throw new InvalidArgumentError('Give numbers separated by commas.');
    return Number(element);
  });
}

/** One id. */
export function parseId(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('Give a number.');
  return Number(text);
}

/** A time in ISO 8601, or so long ago: `90m`, `24h`, `7d`. */
export function parseTime(text: string): Date {
  const ago = /^(\d{1,6})([mhd])$/.exec(text);
  const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 };
  const date =
    ago === null ? new Date(text) : new Date(Date.now() - Number(ago[1]) * unitMs[ago[2] as 'm' | 'h' | 'd']);
  if (ago === null && !/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)) {
    throw new InvalidArgumentError('Give a time like 2027-01-31T12:00:00Z, a day, or how long ago, like 24h.');
  }
  if (Number.isNaN(date.getTime())) throw new InvalidArgumentError('There is no such time.');
  return date;
}

/** A day (`2027-01-31`, its end in UTC), a time in ISO 8601, or a number of days from now (`30d`). */
export function parseExpiry(text: string): Date {
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  if (days !== undefined) return new Date(Date.now() + Number(days) * 86_400_000);
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  const date = new Date(isDay ? `${text}T23:59:59.999Z` : text);
  if ((!isDay && !isTime) || Number.isNaN(date.getTime())) {
    throw new InvalidArgumentError('Give a day like 2027-01-31, a time like 2027-01-31T12:00:00Z, or days like 30d.');
  }
  return date;
}

/** A user's id from the number or the e-mail address a person wrote. @throws AppError `not_found`. */
export async function resolveUserId(sql: Sql, text: string): Promise<number> {
  const user = await getUser(sql, text.includes('@') ? { email: text } : { id: Number(text) });
  return user.id;
}

/** Asks for the option `--yes` before something is deleted for good. @throws UsageError saying what it is. */
export function requireYes(isConfirmed: boolean | undefined, what: string): void {
  if (isConfirmed === true) return;
  throw new UsageError(`--yes: this deletes ${what}, which cannot be undone; give --yes to do it`);
}
