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
