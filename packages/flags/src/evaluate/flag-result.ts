/** The result of evaluating a flag, with its reason. */
export interface FlagResult {
  key: string;
  id: number;
  version: number;
  enabled: boolean;
  /** The chosen variant's key, or null if the flag has no variants or no variant was chosen. */
  variant: string | null;
  /** The payload as a JSON string, or null for a value without a payload. */
  payload: string | null;
  reason: FlagReason;
  /** Why the flag could not be evaluated, or null. If set, clients keep the flag's previous value. */
  failure: FlagFailure | null;
}

export interface FlagReason {
  code: ReasonCode | FlagFailure;
  /** Index of the condition set that decided the result, starting at 0. */
  conditionIndex: number | null;
  description: string;
}

export type ReasonCode =
  | 'super_condition_value'
  | 'holdout_condition_value'
  | 'condition_match'
  | 'out_of_rollout_bound'
  | 'no_condition_match'
  | 'no_group_type'
  | 'missing_dependency';

export type FlagFailure =
  | 'dependency_not_found_cohort'
  | 'dependency_cycle_cohort'
  | 'cohort_filters_parsing_error'
  | 'hash_key_override_error'
  | 'database_error'
  | 'timeout';

/** The value that an application receives: a variant key, or whether the flag is on. */
export type FlagValue = boolean | string;

export function toFlagValue({ enabled, variant }: Pick<FlagResult, 'enabled' | 'variant'>): FlagValue {
  return enabled ? (variant ?? true) : false;
}

const descriptions: Record<ReasonCode | FlagFailure, string> = {
  super_condition_value: 'Super condition value',
  holdout_condition_value: 'Holdout condition value',
  condition_match: 'Matched condition set',
  out_of_rollout_bound: 'Out of rollout bound',
  no_condition_match: 'No matching condition set',
  no_group_type: 'No group type',
  missing_dependency: 'Flag cannot be evaluated due to missing dependency',
  dependency_not_found_cohort: 'Cohort dependency not found',
  dependency_cycle_cohort: 'Cohort dependency cycle',
  cohort_filters_parsing_error: 'Cohort filters cannot be read',
  hash_key_override_error: 'Stored hash keys could not be read',
  database_error: 'Stored properties could not be read',
  timeout: 'Evaluation took too long',
};

export function createReason(
  code: ReasonCode | FlagFailure,
  conditionIndex: number | null = null,
  { groupsWereSkipped = false } = {},
): FlagReason {
  if (code === 'condition_match') {
    return { code, conditionIndex, description: `Matched condition set ${(conditionIndex ?? 0) + 1}` };
  }
  const note = groupsWereSkipped ? ' (group conditions were not evaluated because no group type was provided)' : '';
  return { code, conditionIndex, description: `${descriptions[code]}${note}` };
}
