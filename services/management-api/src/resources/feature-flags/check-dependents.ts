import type { Sql } from '@millrace/db';
import { refusal } from './check-flag.ts';
import { type FlagFilters, flagsIn } from './filters/flag-filters.ts';
import { findDependentFlags, findLiveFlags, hasEarlyAccessFeature } from './flag-dependency-store.ts';
import type { FlagFields, FlagRow } from './flag-row.ts';

const mostNamed = 5;

/** Whether what depends on a flag, and what it depends on, allows it to be deleted, disabled or enabled. @throws AppError `invalid`. */
export async function checkDependents(sql: Sql, before: FlagRow, after: FlagFields): Promise<void> {
  if (after.deleted && !before.deleted) return checkDeletion(sql, before);
  if (before.active && !after.active && !after.deleted) await checkDisabling(sql, before);
  const isEnabled = after.active && !after.deleted;
  if (isEnabled && (!before.active || before.deleted)) await checkEnabling(sql, before, after);
}

async function checkDeletion(sql: Sql, flag: FlagRow): Promise<void> {
  if (await hasEarlyAccessFeature(sql, flag.id)) {
    throw refusal(
      'Cannot delete a feature flag that is in use with early access features. Please delete the early access feature before deleting the flag.',
    );
  }
  const dependents = await dependentsOf(sql, flag);
  if (dependents.length === 0) return;
  throw refusal(
    `Cannot delete this feature flag because other flags depend on it: ${listed(dependents)}. Please update or delete the dependent flags first.`,
  );
}

async function checkDisabling(sql: Sql, flag: FlagRow): Promise<void> {
  const dependents = (await dependentsOf(sql, flag)).filter(({ active }) => active);
  if (dependents.length === 0) return;
  throw refusal(
    `Cannot disable this feature flag because other flags depend on it: ${listed(dependents)}. Please update or disable the dependent flags first.`,
  );
}

async function checkEnabling(sql: Sql, flag: FlagRow, { filters }: FlagFields): Promise<void> {
  const needs = Array.isArray(filters.groups) ? flagsIn(filters as FlagFilters) : [];
  const disabled = (await findLiveFlags(sql, flag.environment_id, needs)).filter(({ active }) => !active);
  if (disabled.length === 0) return;
  throw refusal(
    `Cannot enable this feature flag because it depends on disabled flags: ${listed(disabled)}. Please enable the dependency flags first.`,
  );
}

/** The flags whose conditions ask about this one. */
export async function dependentsOf(sql: Sql, { id, environment_id }: Pick<FlagRow, 'id' | 'environment_id'>) {
  const flags = await findDependentFlags(sql, environment_id);
  return flags.filter(({ needs }) => needs.includes(id));
}

function listed(flags: { id: number; key: string }[]): string {
  const named = flags.slice(0, mostNamed).map(({ id, key }) => `${key} (ID: ${id})`);
  const more = flags.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
