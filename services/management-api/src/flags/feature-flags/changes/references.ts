// Checks the cohorts and flags in a feature flag's conditions, and the flags that depend on the feature flag.

import type { Sql } from '@millrace/db';
import { findReferencedCohorts } from '../../../analytics/cohorts/store.ts';
import { type FlagFilters, filterError, findCohortIds, findFlagIds } from '../filters/filters.ts';
import type { FlagFields, FlagRow } from '../store.ts';
import { findDependentFlags, findLiveFlags, hasEarlyAccessFeature } from './reference-store.ts';
import { refusal } from './rules.ts';

interface ReferringFlag {
  environmentId: number;
  /** The flag ID. Null for a new flag, on which no flag can depend yet. */
  id: number | null;
  key: string;
  filters: FlagFilters;
}

/**
 * Checks that the cohorts and flags in the conditions exist.
 * @throws AppError `invalid`
 */
export async function checkReferences(sql: Sql, flag: ReferringFlag): Promise<void> {
  await checkCohorts(sql, flag);
  await checkDependencies(sql, flag);
}

async function checkCohorts(sql: Sql, { environmentId, filters }: ReferringFlag): Promise<void> {
  const ids = findCohortIds(filters);
  if (ids.length === 0) return;
  const cohorts = await findReferencedCohorts(sql, environmentId, ids);
  const known = new Set(cohorts.map(({ id }) => id));
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined) throw filterError(`Cohort with id ${unknown} does not exist`, 'cohort_does_not_exist');
}

async function checkDependencies(sql: Sql, { environmentId, id, key, filters }: ReferringFlag): Promise<void> {
  const needs = findFlagIds(filters);
  if (needs.length === 0) return;
  if (id !== null && needs.includes(id)) throw filterError(`Feature flag '${key}' cannot depend on itself`);
  const found = new Map((await findLiveFlags(sql, environmentId, needs)).map((flag) => [flag.id, flag]));
  for (const needed of needs) {
    const flag = found.get(needed);
    if (!flag) throw filterError(`Flag dependency references non-existent flag with ID ${needed}`);
    if (flag.active) continue;
    throw filterError(
      `Cannot create dependency on disabled flag '${flag.key}' (ID: ${needed}). Flag dependencies must reference active flags only.`,
    );
  }
  if (id === null) return;
  const dependent = new Map((await findDependentFlags(sql, environmentId)).map((flag) => [flag.id, flag]));
  const needsOf = (flagId: number) => (flagId === id ? needs : (dependent.get(flagId)?.needs ?? []));
  const keyOf = (flagId: number) =>
    flagId === id ? key : (dependent.get(flagId)?.key ?? found.get(flagId)?.key ?? String(flagId));
  const cycle = findCycle(id, needsOf);
  if (cycle) throw filterError(`Circular dependency detected: ${cycle.map(keyOf).join(' → ')}`);
}

/** Returns the path from a flag through its dependencies back to the flag, or null if no cycle exists. */
function findCycle(start: number, needsOf: (id: number) => readonly number[]): number[] | null {
  const previousFlag = new Map<number, number>();
  const open = [start];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const needed of needsOf(id)) {
      if (needed === start) return [...pathTo(id, previousFlag), start];
      if (previousFlag.has(needed)) continue;
      previousFlag.set(needed, id);
      open.push(needed);
    }
  }
  return null;
}

function pathTo(id: number, previousFlag: ReadonlyMap<number, number>): number[] {
  const path: number[] = [];
  for (let at: number | undefined = id; at !== undefined; at = previousFlag.get(at)) path.unshift(at);
  return path;
}

const maxNamed = 5;

/**
 * Checks whether a flag can be deleted, disabled or enabled, given the flags that depend on it and the flags on which
 * it depends.
 * @throws AppError `invalid`
 */
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
  const dependents = await findDependents(sql, flag);
  if (dependents.length === 0) return;
  throw refusal(
    `Cannot delete this feature flag because other flags depend on it: ${listed(dependents)}. Please update or delete the dependent flags first.`,
  );
}

async function checkDisabling(sql: Sql, flag: FlagRow): Promise<void> {
  const dependents = (await findDependents(sql, flag)).filter(({ active }) => active);
  if (dependents.length === 0) return;
  throw refusal(
    `Cannot disable this feature flag because other flags depend on it: ${listed(dependents)}. Please update or disable the dependent flags first.`,
  );
}

async function checkEnabling(sql: Sql, flag: FlagRow, { filters }: FlagFields): Promise<void> {
  const needs = Array.isArray(filters.groups) ? findFlagIds(filters as FlagFilters) : [];
  const disabled = (await findLiveFlags(sql, flag.environment_id, needs)).filter(({ active }) => !active);
  if (disabled.length === 0) return;
  throw refusal(
    `Cannot enable this feature flag because it depends on disabled flags: ${listed(disabled)}. Please enable the dependency flags first.`,
  );
}

export async function findDependents(sql: Sql, { id, environment_id }: Pick<FlagRow, 'id' | 'environment_id'>) {
  const flags = await findDependentFlags(sql, environment_id);
  return flags.filter(({ needs }) => needs.includes(id));
}

function listed(flags: { id: number; key: string }[]): string {
  const named = flags.slice(0, maxNamed).map(({ id, key }) => `${key} (ID: ${id})`);
  const more = flags.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/**
 * Rejects group conditions for a flag that belongs to an early access feature, because only persons can enroll.
 * @throws AppError `invalid`
 */
export async function checkGroupAggregation(sql: Sql, flagId: number, { groups }: FlagFilters): Promise<void> {
  if (groups.every(({ aggregation_group_type_index: groupType }) => groupType === null)) return;
  if (!(await hasEarlyAccessFeature(sql, flagId))) return;
  throw refusal('Cannot change this flag to a group-based when linked to an Early Access Feature.');
}
