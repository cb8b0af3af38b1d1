import type { SharedPattern } from '../filters/patterns.ts';
import type { CompiledTest } from '../filters/value-operators.ts';

/** Flag and cohort definitions in the form used for evaluation. Immutable, and shared by all requests. */
export interface CompiledFlags {
  /** Active flags, each after its dependencies. */
  inOrder: CompiledFlag[];
  byKey: ReadonlyMap<string, CompiledFlag>;
  cohorts: ReadonlyMap<number, CompiledCohort>;
  /** Group type names by index. */
  groupTypes: ReadonlyMap<number, string>;
}

export interface CompiledFlag {
  id: number;
  key: string;
  version: number;
  /** `all` means client and server. */
  runtime: 'all' | 'client' | 'server';
  contexts: readonly string[];
  enrollment: Enrollment | null;
  holdout: { variant: string; percentage: number } | null;
  conditions: readonly CompiledCondition[];
  /** Each variant has the upper end of its hash range, from 0 to 1. */
  variants: readonly { key: string; upTo: number }[];
  /** Payloads as JSON text, by variant key or `true`. */
  payloads: ReadonlyMap<string, string>;
  /** Group type whose key is hashed; null for the person. */
  aggregation: number | null;
  bucketsBy: 'distinct_id' | 'device_id';
  /** Experience continuity: a person keeps the bucket of the ID that was hashed first. */
  keepsExperience: boolean;
  /** Evaluation ends at the first condition whose filters match but whose rollout excludes the person. */
  exitsEarly: boolean;
  /** IDs of the flags that its filters refer to. */
  dependencies: readonly number[];
  /** Why the flag cannot be evaluated: a dependency is missing or circular. */
  brokenDependency: 'missing' | 'cycle' | null;
  needs: FlagNeeds;
}

/** Early access: the person's choice takes precedence over all conditions. */
export type Enrollment =
  | { kind: 'property'; property: string }
  | { kind: 'super_condition'; properties: readonly string[]; condition: CompiledCondition };

export interface CompiledCondition {
  /** Group type whose key is hashed; null for the person. */
  aggregation: number | null;
  filters: readonly CompiledFilter[];
  /** Tested last because they are the most expensive. */
  cohortFilters: readonly CohortFilter[];
  /** From 0 to 100; 100 includes everyone without hashing. */
  rolloutPercentage: number;
  /** Variant for everyone who matches; null to choose by hash. */
  variant: string | null;
}

export type CompiledFilter = PropertyFilter | FlagFilter | { kind: 'never' };

export interface PropertyFilter {
  kind: 'property';
  key: string;
  /** Group type of the property; null for a person property. */
  groupType: number | null;
  compiled: CompiledTest;
}

export interface FlagFilter {
  kind: 'flag';
  flagId: number;
  /** Required value of the other flag: `true` means on with any variant; a string is the key of a variant. */
  expected: boolean | string;
}

export interface CohortFilter {
  cohortId: number;
  isMember: boolean;
}

export interface CompiledCohort {
  id: number;
  isStatic: boolean;
  node: CohortNode;
  /** Why membership cannot be determined. */
  problem: CohortProblem | null;
}

export type CohortProblem = 'dependency_not_found_cohort' | 'dependency_cycle_cohort' | 'cohort_filters_parsing_error';

export type CohortNode =
  | { kind: 'every' | 'some'; nodes: readonly CohortNode[] }
  | { kind: 'property'; filter: PropertyFilter; negated: boolean }
  | { kind: 'cohort'; cohortId: number; negated: boolean }
  | { kind: 'never' };

/** Data to load and patterns to compile before a flag is evaluated. */
export interface FlagNeeds {
  personProperties: readonly string[];
  groupProperties: readonly { groupType: number; keys: readonly string[] }[];
  staticCohorts: readonly number[];
  /** True if a stored hash key can change the outcome. */
  hashKeyOverride: boolean;
  /** Patterns to compile before the evaluation. */
  patterns: readonly SharedPattern[];
}

const none: readonly never[] = Object.freeze([]);

/**
 * Returns the list, or a shared instance if it is empty, which saves memory because a process caches the flags of many
 * projects.
 */
export function compact<Member>(list: readonly Member[]): readonly Member[] {
  return list.length === 0 ? none : list;
}
