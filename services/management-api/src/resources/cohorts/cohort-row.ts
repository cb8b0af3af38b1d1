import type { EmbeddedUserRow } from '../embedded-users/embedded-user.ts';
import type { CohortFilters } from './filters/cohort-tree.ts';

/** What a caller decides of a cohort. */
export interface CohortFields {
  name: string | null;
  description: string;
  groups: unknown[];
  deleted: boolean;
  filters: CohortFilters | null;
  query: Record<string, unknown> | null;
  is_static: boolean;
}

export interface CohortRow extends CohortFields {
  id: number;
  cohort_type: string | null;
  is_calculating: boolean;
  created_by: EmbeddedUserRow | null;
  created_at: Date;
  last_calculation: Date | null;
  errors_calculating: number;
  count: number | null;
}
