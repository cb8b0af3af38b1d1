// Cohorts in the API's format, and conversions between their filters and the form.

import { useMutation } from '@tanstack/react-query';
import { queryClient } from '../../api/queries.ts';
import { type ApiCall, call } from '../../api/request.ts';
import { createFilter, type Filter } from '../../filters/filter.ts';
import { useProject } from '../../frame/project.ts';
import { part, useUrlState } from '../../parts/address.ts';
import { isFields, toFields, toFieldsList } from '../../results/insight-query.ts';

export interface Cohort {
  id: number;
  name: string | null;
  description: string;
  filters: unknown;
  /** Whether the cohort is a fixed list of persons instead of a set of conditions. */
  is_static: boolean;
  is_calculating: boolean;
  /** Number of persons, or null until Millrace has counted them. */
  count: number | null;
  last_calculation: string | null;
  created_by: { first_name: string; email: string } | null;
}

const parts = {
  /** ID of the open cohort, `new`, or empty if no cohort is open. */
  cohort: part.text(),
  search: part.text(),
};

export const useCohortsUrlState = () => useUrlState(parts);

/** Changes a cohort, and reloads the lists, filters and insights that refer to cohorts. */
export function useCohortChange(onDone?: (cohort: Cohort) => void) {
  const { id } = useProject();
  return useMutation({
    mutationFn: (request: ApiCall) => call<Cohort>(request),
    onSuccess: (cohort) => onDone?.(cohort),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['cohorts', id] }),
  });
}

/**
 * Parses conditions as groups that are combined with OR. The filters in a group are combined with AND. Returns null if
 * this page cannot edit the conditions.
 */
export function parseGroups(filters: unknown): Filter[][] | null {
  if (!isFields(filters)) return [[createFilter('person')]];
  const tree = toFields(filters.properties);
  const values = toFieldsList(tree.values);
  if (values.length === 0) return [[]];
  if (values.every(({ values: inner }) => inner === undefined)) {
    const leaves = filtersAmong(values);
    return leaves === null ? null : tree.type === 'OR' ? leaves.map((one) => [one]) : [leaves];
  }
  if (tree.type !== 'OR' && values.length > 1) return null;
  const groups = values.map(({ type, values: inner }) => {
    const leaves = toFieldsList(inner);
    return type === 'AND' || leaves.length < 2 ? filtersAmong(leaves) : null;
  });
  return groups.every((group) => group !== null) ? groups : null;
}

function filtersAmong(leaves: ReturnType<typeof toFieldsList>): Filter[] | null {
  const filters = leaves.map(({ negation, ...leaf }) => {
    if (leaf.type === 'cohort')
      return { ...leaf, operator: leaf.operator === 'not_in' || negation === true ? 'not_in' : 'in' } as Filter;
    return leaf.type === 'person' && negation !== true ? (leaf as Filter) : null;
  });
  return filters.every((one) => one !== null) ? filters : null;
}

export const toFilters = (groups: readonly Filter[][]) => ({
  properties: { type: 'OR', values: groups.map((values) => ({ type: 'AND', values })) },
});
