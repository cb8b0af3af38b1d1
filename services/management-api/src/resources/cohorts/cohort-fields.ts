import { AppError } from '@millrace/errors';
import type { Static } from 'typebox';
import type { CohortFields } from './cohort-row.ts';
import type { cohortChanges, cohortTypes } from './cohort-schema.ts';
import { leavesOf } from './filters/cohort-tree.ts';
import { parseCohortFilters } from './filters/parse-cohort-filters.ts';
import { treeOfGroups } from './filters/tree-of-groups.ts';

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

/** What is not sent stays as it is. @throws AppError `invalid` naming the field. */
export function withChanges(before: CohortFields, changes: CohortChanges): CohortFields {
  const { name, description, groups, deleted, is_static } = { ...before, ...changes };
  const filters = filtersOf(before, changes);
  const query = changes.query === undefined ? before.query : changes.query;
  const after = { name, description, groups, deleted, filters, query, is_static };
  checkQuery(after, changes);
  return after;
}

export function fieldsOfNew(changes: CohortChanges): CohortFields {
  return withChanges(fieldsOfNothing, changes);
}

/** Filters that are sent, else those that groups of old say. */
function filtersOf(before: CohortFields, { filters, groups }: CohortChanges): CohortFields['filters'] {
  if (filters !== undefined) return filters === null ? null : parseCohortFilters(filters);
  if (groups === undefined) return before.filters;
  const tree = treeOfGroups(groups);
  return tree === null ? before.filters : parseCohortFilters({ ...tree });
}

function checkQuery({ query, is_static }: CohortFields, changes: CohortChanges): void {
  if (query === null) return;
  const refuse = (detail: string) => new AppError('invalid', detail, { code: 'invalid_input' });
  if (changes.filters) throw refuse('Cannot set both query and filters at the same time.');
  if (!is_static) throw refuse('Cannot create a dynamic cohort with a query. Set is_static to true.');
}

export function cohortTypeOf({ is_static, query, filters }: CohortFields): (typeof cohortTypes)[number] | null {
  if (query !== null) return 'analytical';
  if (is_static) return 'static';
  if (filters === null) return null;
  return leavesOf(filters.properties).some(({ type }) => type === 'behavioral') ? 'behavioral' : 'person_property';
}
