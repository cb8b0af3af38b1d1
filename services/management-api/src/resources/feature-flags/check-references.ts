import type { Sql } from '@millrace/db';
import { findCohortsWithin } from '../cohorts/cohort-use-store.ts';
import { filterProblem } from './filters/filter-problem.ts';
import { cohortsIn, type FlagFilters, flagsIn } from './filters/flag-filters.ts';
import { findDependentFlags, findLiveFlags } from './flag-dependency-store.ts';

interface ReferringFlag {
  environmentId: number;
  /** Null: it is not there yet, so that nothing can depend on it. */
  id: number | null;
  key: string;
  filters: FlagFilters;
}

/** Whether there is what conditions name. @throws AppError `invalid`. */
export async function checkReferences(sql: Sql, flag: ReferringFlag): Promise<void> {
  await checkCohorts(sql, flag);
  await checkDependencies(sql, flag);
}

async function checkCohorts(sql: Sql, { environmentId, filters }: ReferringFlag): Promise<void> {
  const ids = cohortsIn(filters);
  if (ids.length === 0) return;
  const cohorts = await findCohortsWithin(sql, environmentId, ids);
  const known = new Set(cohorts.map(({ id }) => id));
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined) throw filterProblem(`Cohort with id ${unknown} does not exist`, 'cohort_does_not_exist');
  const behavioral = cohorts.find(({ is_behavioral }) => is_behavioral);
  if (behavioral === undefined) return;
  throw filterProblem(
    `Cohort '${behavioral.name ?? ''}' with filters on events cannot be used in feature flags.`,
    'behavioral_cohort_found',
  );
}

async function checkDependencies(sql: Sql, { environmentId, id, key, filters }: ReferringFlag): Promise<void> {
  const needs = flagsIn(filters);
  if (needs.length === 0) return;
  if (id !== null && needs.includes(id)) throw filterProblem(`Feature flag '${key}' cannot depend on itself`);
  const found = new Map((await findLiveFlags(sql, environmentId, needs)).map((flag) => [flag.id, flag]));
  for (const needed of needs) {
    const flag = found.get(needed);
    if (!flag) throw filterProblem(`Flag dependency references non-existent flag with ID ${needed}`);
    if (flag.active) continue;
    throw filterProblem(
      `Cannot create dependency on disabled flag '${flag.key}' (ID: ${needed}). Flag dependencies must reference active flags only.`,
    );
  }
  if (id === null) return;
  const dependent = new Map((await findDependentFlags(sql, environmentId)).map((flag) => [flag.id, flag]));
  const needsOf = (flagId: number) => (flagId === id ? needs : (dependent.get(flagId)?.needs ?? []));
  const keyOf = (flagId: number) =>
    flagId === id ? key : (dependent.get(flagId)?.key ?? found.get(flagId)?.key ?? String(flagId));
  const cycle = findCycle(id, needsOf);
  if (cycle) throw filterProblem(`Circular dependency detected: ${cycle.map(keyOf).join(' → ')}`);
}

/** The way from a flag back to itself, with it at both ends; null when there is none. */
function findCycle(start: number, needsOf: (id: number) => readonly number[]): number[] | null {
  const cameFrom = new Map<number, number>();
  const open = [start];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const needed of needsOf(id)) {
      if (needed === start) return [...wayTo(id, cameFrom), start];
      if (cameFrom.has(needed)) continue;
      cameFrom.set(needed, id);
      open.push(needed);
    }
  }
  return null;
}

function wayTo(id: number, cameFrom: ReadonlyMap<number, number>): number[] {
  const way: number[] = [];
  for (let at: number | undefined = id; at !== undefined; at = cameFrom.get(at)) way.unshift(at);
  return way;
}
