import type { Sql } from '@millrace/db';
import { refusal } from './check-flag.ts';
import type { FlagFilters } from './filters/flag-filters.ts';
import { hasEarlyAccessFeature } from './flag-dependency-store.ts';

/** Who enrols in an early access feature is a person. @throws AppError `invalid`. */
export async function checkGroupAggregation(sql: Sql, flagId: number, { groups }: FlagFilters): Promise<void> {
  if (groups.every(({ aggregation_group_type_index: groupType }) => groupType === null)) return;
  if (!(await hasEarlyAccessFeature(sql, flagId))) return;
  throw refusal('Cannot change this flag to a group-based when linked to an Early Access Feature.');
}
