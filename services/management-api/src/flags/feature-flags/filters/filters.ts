// Defines a feature flag's filters (release conditions, variants and payloads), and functions that read and change
// them.

import { isObject } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';

/**
 * The validated filters of a flag, as they are stored: its conditions, variants and payloads. Unknown fields are kept.
 */
export interface FlagFilters extends Record<string, unknown> {
  /** Condition sets. A user needs to match only one of them. */
  groups: FlagCondition[];
  multivariate?: { variants: FlagVariant[] } | null;
  /** Payloads as JSON strings, by variant key or `true`. */
  payloads?: Record<string, string>;
  /** The group type of all conditions. Null if the conditions are about persons, or about different group types. */
  aggregation_group_type_index: number | null;
}

export interface FlagCondition extends Record<string, unknown> {
  properties: ConditionFilter[];
  rollout_percentage?: number | null;
  variant?: string | null;
  aggregation_group_type_index: number | null;
}

export interface FlagVariant extends Record<string, unknown> {
  key: string;
  rollout_percentage: number;
}

export interface ConditionFilter extends Record<string, unknown> {
  type: 'person' | 'group' | 'cohort' | 'flag';
}

export function findCohortIds({ groups }: FlagFilters): number[] {
  return idsIn(groups, 'cohort', 'value');
}

export function findFlagIds({ groups }: FlagFilters): number[] {
  return idsIn(groups, 'flag', 'key');
}

function idsIn(groups: FlagCondition[], type: ConditionFilter['type'], field: 'key' | 'value'): number[] {
  const filters = groups.flatMap(({ properties }) => properties).filter((filter) => filter.type === type);
  return [...new Set(filters.map((filter) => Number(filter[field])))];
}

export const filtersForAllUsers: Record<string, unknown> = { groups: [{ properties: [], rollout_percentage: 100 }] };

type Filter = Record<string, unknown>;

/** Returns the filters in a flag's conditions. Skips malformed values, which old flags can contain. */
export function listConditionFilters({ groups }: Record<string, unknown>): Filter[] {
  return listOf(groups).flatMap(({ properties }) => listOf(properties));
}

/** Maps each filter in a flag's conditions. Returns malformed values unchanged. */
export function mapConditionFilters<Filters extends Record<string, unknown>>(
  filters: Filters,
  change: (filter: Filter) => Filter,
): Filters {
  if (!Array.isArray(filters.groups)) return filters;
  const groups = filters.groups.map((group: unknown) => {
    if (!isObject(group) || !Array.isArray(group.properties)) return group;
    return {
      ...group,
      properties: group.properties.map((filter: unknown) => (isObject(filter) ? change(filter) : filter)),
    };
  });
  return { ...filters, groups };
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Filter fields that responses add for display. Clients can send them back. */
const names = new Set(['cohort_name', 'group_key_names']);

export function removeDisplayNames(filter: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(filter).filter(([name]) => !names.has(name)));
}

export function removeNamesInFilters(filters: Record<string, unknown>): Record<string, unknown> {
  return mapConditionFilters(filters, removeDisplayNames);
}

/** Replaces the IDs of cohorts and flags in filters. IDs without a replacement remain unchanged. */
export function replaceReferences(
  filters: FlagFilters,
  { cohorts, flags }: { cohorts: ReadonlyMap<number, number>; flags: ReadonlyMap<number, number> },
): FlagFilters {
  return mapConditionFilters(filters, (filter) => {
    switch (filter.type) {
      case 'cohort':
        return { ...filter, value: cohorts.get(Number(filter.value)) ?? filter.value };
      case 'flag':
        return { ...filter, key: String(flags.get(Number(filter.key)) ?? filter.key) };
      default:
        return filter;
    }
  });
}

/** Creates the error for invalid filters. The error messages must not change, because existing clients match them. */
export function filterError(detail: string, code = 'invalid_input'): AppError {
  return new AppError('invalid', detail, { code, attr: 'filters' });
}

/** Returns the value as JSON, which distinguishes the string "55" from the number 55. */
export function quoteJson(value: unknown): string {
  return abbreviate(JSON.stringify(value) ?? '');
}

export function abbreviate(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
