import { isObject } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';

/** Who gets a flag, and what: checked and in the one form in which filters are stored. What nobody knows stays in it. */
export interface FlagFilters extends Record<string, unknown> {
  /** Condition sets; one that matches is enough. */
  groups: FlagCondition[];
  multivariate?: { variants: FlagVariant[] } | null;
  /** JSON text by key of a variant, or by `true`. */
  payloads?: Record<string, string>;
  /** The group type of all conditions; null when it is the person, or when they differ. */
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

/** Ids of the cohorts that conditions ask about, each once. */
export function cohortsIn({ groups }: FlagFilters): number[] {
  return idsIn(groups, 'cohort', 'value');
}

/** Ids of the flags that conditions ask about, each once. */
export function flagsIn({ groups }: FlagFilters): number[] {
  return idsIn(groups, 'flag', 'key');
}

function idsIn(groups: FlagCondition[], type: ConditionFilter['type'], field: 'key' | 'value'): number[] {
  const filters = groups.flatMap(({ properties }) => properties).filter((filter) => filter.type === type);
  return [...new Set(filters.map((filter) => Number(filter[field])))];
}

/** One condition set that lets everybody in. */
export const filtersForEverybody: Record<string, unknown> = { groups: [{ properties: [], rollout_percentage: 100 }] };

type Filter = Record<string, unknown>;

/** The filters of a flag's conditions. What has another shape, as flags of old may have, is passed over. */
export function conditionFiltersIn({ groups }: Record<string, unknown>): Filter[] {
  return listOf(groups).flatMap(({ properties }) => listOf(properties));
}

/** A flag's filters with every filter of a condition changed; what has another shape stays as it is. */
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

/** What a filter gets when it is shown, and may come back with. */
const names = new Set(['cohort_name', 'group_key_names']);

/** A filter as it is stored: without what it only got to be shown. */
export function withoutNames(filter: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(filter).filter(([name]) => !names.has(name)));
}

/** A flag's filters as somebody read them, without the names of what they name. */
export function withoutNamesInFilters(filters: Record<string, unknown>): Record<string, unknown> {
  return mapConditionFilters(filters, withoutNames);
}

/** Filters that name other cohorts and flags in place of those they name; what has no other stays. */
export function withReferences(
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

/** What is wrong with the filters of a flag, in the words that existing clients know. */
export function filterProblem(detail: string, code = 'invalid_input'): AppError {
  return new AppError('invalid', detail, { code, attr: 'filters' });
}

/** A value as it was sent, so that the text "55" is not taken for the number 55. */
export function quoted(value: unknown): string {
  return brief(JSON.stringify(value) ?? '');
}

/** A value as a sentence shows it: not more than fits into one. */
export function brief(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
