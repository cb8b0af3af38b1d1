import { formatDateTime } from '@millrace/http';
import type { CohortRow } from './cohort-row.ts';
import { treeOfGroups } from './filters/tree-of-groups.ts';

/** A row as the API shows it. Cohorts of old have groups and no filters. */
export function toCohort(row: CohortRow) {
  const filters = row.filters ?? treeOfGroups(row.groups);
  return {
    ...row,
    filters: filters && { ...filters },
    created_at: formatDateTime(row.created_at),
    last_calculation: row.last_calculation && formatDateTime(row.last_calculation),
    experiment_set: [],
  };
}
