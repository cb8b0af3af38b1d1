// Checks access to the records that filters refer to. Without this check, a query could reveal the members of a cohort
// or flag that the caller cannot view.

import { isObject, parseRecordId } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { readCohortFilterId } from '@millrace/flags';
import { type ProjectSettings, readProjectSettings } from '@millrace/insights';
import type { AddressedProject } from './addressed-store.ts';
import { findRecord, requireRecord } from './record-rights.ts';

interface Named {
  cohort: Set<number>;
  feature_flag: Set<number>;
  /** Whether the project's `test_account_filters` also apply. If so, access to the records in them must be checked. */
  withTestAccountFilters: boolean;
  /** Whether an SQL query may read any cohort, and therefore needs access to all cohorts. */
  withAllCohorts: boolean;
}

/**
 * Matches SQL that may read a cohort. SQL can refer to cohorts by ID, by name and through a table. In a quoted name,
 * backslashes can hide the word `cohort`.
 */
const mayReadCohorts = /cohort|\\/i;

function sqlIn({ kind, type, breakdown_type: breakdownType, ...part }: Record<string, unknown>): unknown[] {
  return [
    kind === 'HogQLQuery' || kind === 'HogQLMetadata' ? part.query : null,
    ...(type === 'hogql' ? [part.key, part.property] : []),
    breakdownType === 'hogql' ? part.breakdown : null,
    part.math_hogql,
    part.select,
    part.where,
    part.orderBy,
  ].flat();
}

/**
 * Returns the records that filters, conditions or a query refer to, at any depth. Parses references in the same way as
 * the code that evaluates them.
 */
function namedIn(value: unknown): Named {
  const named: Named = {
    cohort: new Set(),
    feature_flag: new Set(),
    withTestAccountFilters: false,
    withAllCohorts: false,
  };
  const open = [value];
  while (open.length > 0) {
    const part = open.pop();
    if (Array.isArray(part)) open.push(...part);
    else if (isObject(part)) {
      const cohort = readCohortFilterId(part);
      if (cohort !== undefined) named.cohort.add(cohort);
      const flag = part.type === 'flag' ? parseRecordId(part.key) : undefined;
      if (flag !== undefined) named.feature_flag.add(flag);
      if (part.filterTestAccounts) named.withTestAccountFilters = true;
      if (sqlIn(part).some((text) => typeof text === 'string' && mayReadCohorts.test(text)))
        named.withAllCohorts = true;
      open.push(...Object.values(part));
    }
  }
  return named;
}

/**
 * Checks the records that filters refer to, before the filters are evaluated or stored for the caller. Ignores records
 * that do not exist, because the code that reads the filters handles them.
 * @param settings the project settings, if the caller of this function has already read them
 * @throws AppError `forbidden` if the filters refer to a cohort or a flag that the caller cannot view
 */
export async function requireReferencedRecords(
  sql: Sql,
  {
    environmentId,
    rights,
    settings: known,
  }: Pick<AddressedProject, 'environmentId' | 'rights'> & { settings?: ProjectSettings },
  ...filters: unknown[]
): Promise<void> {
  if (rights.rules === null || rights.rules.length === 0) return;
  const named = namedIn(filters);
  if (named.withTestAccountFilters || named.withAllCohorts) {
    const { testAccountFilters, cohorts } = known ?? (await readProjectSettings(sql, environmentId));
    const ofTestAccounts = namedIn(named.withTestAccountFilters ? testAccountFilters : []);
    for (const id of ofTestAccounts.cohort) named.cohort.add(id);
    if (named.withAllCohorts || ofTestAccounts.withAllCohorts) for (const id of cohorts.keys()) named.cohort.add(id);
  }
  for (const kind of ['cohort', 'feature_flag'] as const) {
    if (!rights.rules.some(({ resource }) => resource === kind)) continue;
    for (const id of named[kind]) {
      const record = await findRecord(sql, environmentId, { kind, id });
      if (record) requireRecord(rights, kind, 'viewer', record);
    }
  }
}
