// Counts cohort members without evaluating every person. If persons have the same values in all properties that a
// cohort's filters read, either all or none of them are members, so each combination of values is evaluated once.

import { ReadLimitExceeded, type ReadPool, type Sql } from '@millrace/db';
import type { CompiledFlags } from '../compile/compiled.ts';
import { collectCohortNeeds } from '../compile/flag-needs.ts';
import { findCurrentProperty } from '../evaluate/property-values.ts';
import { runInTimeSlices, type Steps } from '../steps.ts';
import { evaluateMembership, loadCompiledFlags } from './audience.ts';
import { countPersonsByValues, type PersonCount, type PersonGrouping } from './store.ts';

export interface MembersToCount {
  projectId: number;
  cohortIds: readonly number[];
  signal: AbortSignal;
  /** Time limit of the statements, in milliseconds. */
  maxMs: number;
}

/** PostgreSQL's `grouping` function accepts at most 31 columns. */
const maxColumns = 31;
/** If a sample of this many persons has more combinations of values, evaluating persons individually is faster. */
const sample = { persons: 10_000, combinations: 1000 };
/** Memory limit for all combinations, in bytes. */
const maxBytes = 16 * 1024 * 1024;

/**
 * Counts cohort members with the same rules and results as `createCohortAudience`. Reads all of the project's persons
 * in one statement.
 * @returns one count per cohort, or null for a cohort whose members cannot be determined. Returns null instead of the
 * list if the persons must be evaluated one by one, because the cohorts depend on distinct IDs, on too many properties
 * or on properties with too many values, or because the statement takes too long.
 */
export async function countCohortMembersByValues(
  { sql, reader }: { sql: Sql; reader: Pick<ReadPool, 'read'> },
  { projectId, cohortIds, signal, maxMs }: MembersToCount,
): Promise<(number | null)[] | null> {
  const flags = await loadCompiledFlags(sql, projectId);
  const readings = groupByValues(flags, cohortIds);
  if (readings === null) return null;
  const values = readings.map((reading) => reading.values);
  const deadline = performance.now() + maxMs;
  const read = (maxPersons: number | null) => {
    const limits = { signal, maxMs: Math.max(1, deadline - performance.now()), maxBytes };
    return countPersonsByValues(reader, { projectId, values, maxPersons }, limits);
  };
  try {
    let alike = await read(sample.persons);
    const sampled = alike.reduce((persons, { values: at, count }) => persons + (at === 0 ? count : 0), 0);
    if (sampled === sample.persons) {
      if (alike.length > sample.combinations * readings.length) return null;
      alike = await read(null);
    }
    return await runInTimeSlices(addUp(flags, { cohortIds, readings, alike }, Date.now()));
  } catch (error) {
    if (error instanceof ReadLimitExceeded) return null;
    throw error;
  }
}

/** Cohorts whose filters read the same properties and static cohorts, and which are counted together. */
interface Reading {
  values: PersonGrouping;
  cohortIds: number[];
}

function groupByValues(flags: CompiledFlags, cohortIds: readonly number[]): Reading[] | null {
  const readings = new Map<string, Reading>();
  for (const id of cohortIds) {
    const { personProperties, staticCohorts } = collectCohortNeeds(id, flags.cohorts);
    const properties = new Set(personProperties.flatMap((name) => [name, findCurrentProperty(name) ?? name]));
    const values = { properties: [...properties].sort(), staticCohorts: [...staticCohorts].sort() };
    const key = JSON.stringify(values);
    const reading = readings.get(key) ?? { values, cohortIds: [] };
    reading.cohortIds.push(id);
    readings.set(key, reading);
  }
  const all = [...readings.values()];
  const columns = new Set(all.flatMap(({ values }) => [...values.properties, ...values.staticCohorts]));
  return columns.has('distinct_id') || columns.size > maxColumns ? null : all;
}

function* addUp(
  flags: CompiledFlags,
  { cohortIds, readings, alike }: { cohortIds: readonly number[]; readings: Reading[]; alike: PersonCount[] },
  now: number,
): Steps<(number | null)[]> {
  const counts = new Map<number, number | null>(cohortIds.map((id) => [id, 0]));
  for (const { values, person, count: persons } of alike) {
    const ids = readings[values]?.cohortIds ?? [];
    const matches = yield* evaluateMembership(flags, { cohortIds: ids, person, now });
    for (const [at, isMember] of matches.entries()) {
      const id = ids[at] ?? 0;
      const count = counts.get(id) ?? null;
      counts.set(id, count === null || isMember === null ? null : count + (isMember ? persons : 0));
    }
    yield;
  }
  return cohortIds.map((id) => counts.get(id) ?? null);
}
