// Cohort rules: validates changed fields and references, and rejects deleting a cohort that feature flags use.

import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import type { Static } from 'typebox';
import { convertGroupsToTree, createFiltersError, findNamedCohorts, parseCohortFilters } from './filters.ts';
import type { cohortChanges, cohortTypes } from './schema.ts';
import { type CohortFields, findFlagsUsingCohort, findReferencedCohorts } from './store.ts';

export type CohortChanges = Static<typeof cohortChanges>;

const fieldsOfNothing: CohortFields = {
  name: null,
  description: '',
  groups: [],
  deleted: false,
  filters: null,
  query: null,
  is_static: false,
};

/**
 * Applies the given fields and keeps all others (docs/api/cohorts.md).
 * @throws AppError `invalid` naming the field
 */
export function applyCohortChanges(before: CohortFields, changes: CohortChanges): CohortFields {
  const { name, description, groups, deleted, is_static } = { ...before, ...changes };
  const filters = filtersOf(before, changes);
  checkQuery(changes);
  return { name, description, groups, deleted, filters, query: null, is_static };
}

export function fillCohortDefaults(changes: CohortChanges): CohortFields {
  return applyCohortChanges(fieldsOfNothing, changes);
}

/** Returns the new filters: `filters` if the client sent them, and otherwise the converted `groups`. */
function filtersOf(before: CohortFields, { filters, groups }: CohortChanges): CohortFields['filters'] {
  if (filters !== undefined) return filters === null ? null : parseCohortFilters(filters);
  if (groups === undefined) return before.filters;
  const tree = convertGroupsToTree(groups);
  return tree === null ? before.filters : parseCohortFilters({ ...tree });
}

function checkQuery({ query }: CohortChanges): void {
  if (query === undefined || query === null) return;
  throw new AppError('invalid', 'Cohorts defined by a query are not supported. Use `filters` instead of `query`.', {
    code: 'invalid_input',
    attr: 'query',
  });
}

export function findCohortType({ is_static, filters }: CohortFields): (typeof cohortTypes)[number] | null {
  if (is_static) return 'static';
  return filters === null ? null : 'person_property';
}

const maxNamed = 20;

/**
 * Checks that the cohorts in the filters exist and do not reference this cohort, directly or indirectly.
 * @param id the ID of this cohort, or null for a new one, because nothing can reference it yet
 * @throws AppError `invalid`
 */
export async function checkReferences(
  tx: Transaction,
  { environmentId, id }: { environmentId: number; id: number | null },
  { filters, is_static, deleted }: CohortFields,
): Promise<void> {
  if (filters === null || is_static || deleted) return;
  const named = findNamedCohorts(filters.properties);
  const within = await findReferencedCohorts(tx, environmentId, named);
  const known = new Set(within.map((one) => one.id));
  // Check for loops before checking that all cohorts exist. A deleted cohort that references itself does not exist
  // until it is restored, but the error must report the loop.
  if (id !== null && (named.includes(id) || known.has(id))) {
    throw createFiltersError('Cohorts cannot reference other cohorts in a loop.');
  }
  if (named.some((one) => !known.has(one))) throw createFiltersError('Invalid Cohort ID in filter');
}

/**
 * Rejects the deletion of a cohort that is in use.
 * @throws AppError `invalid` if active feature flags use the cohort, directly or through other cohorts
 */
export async function refuseDeletionInUse(
  tx: Transaction,
  { environmentId, id }: { environmentId: number; id: number },
): Promise<void> {
  const keys = await findFlagsUsingCohort(tx, environmentId, id);
  if (keys.length === 0) return;
  const named = `${keys.slice(0, maxNamed).join(', ')}${keys.length > maxNamed ? ', …' : ''}`;
  throw new AppError(
    'invalid',
    `This cohort is used in ${keys.length} active feature flag(s): ${named}. Please remove the cohort from these ` +
      'feature flags before deleting it.',
    { code: 'invalid_input' },
  );
}
