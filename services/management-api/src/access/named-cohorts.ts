// Cohorts that filters ask about: who may not see a cohort does not learn by a question who is in it.

import { isObject } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import type { AddressedProject } from './addressed-store.ts';
import { findRecords, requireRecord } from './record-rights.ts';

const cohortTypes = new Set(['cohort', 'static-cohort', 'precalculated-cohort']);

/** Numbers of the cohorts that are named anywhere in filters, conditions or a query. */
function cohortsNamedIn(value: unknown): Set<string> {
  const named = new Set<string>();
  const open = [value];
  while (open.length > 0) {
    const part = open.pop();
    if (Array.isArray(part)) open.push(...part);
    else if (isObject(part)) {
      if (typeof part.type === 'string' && cohortTypes.has(part.type)) named.add(String(part.value));
      open.push(...Object.values(part));
    }
  }
  return named;
}

/**
 * Before filters are asked or stored.
 * @throws AppError `forbidden` where they name a cohort that is closed to the caller. One that is not there is left to
 * whoever reads the filters.
 */
export async function requireNamedCohorts(
  sql: Sql,
  { environmentId, rights }: Pick<AddressedProject, 'environmentId' | 'rights'>,
  ...filters: unknown[]
): Promise<void> {
  if (!rights.rules?.some(({ resource }) => resource === 'cohort')) return;
  for (const named of cohortsNamedIn(filters)) {
    const found = await findRecords(sql, environmentId, { kind: 'cohort', named });
    for (const cohort of found) requireRecord(rights, 'cohort', 'viewer', cohort);
  }
}
