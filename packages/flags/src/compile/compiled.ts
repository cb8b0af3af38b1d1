import type { SharedPattern } from '../filters/patterns.ts';
import type { CompiledTest } from '../filters/value-operators.ts';

/** Flag and cohort definitions in the form used for evaluation. They never change, and all requests share them. */
export interface CompiledFlags {
  /** The active flags, each after its dependencies. */
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
  /** `all` means both client and server. */
  runtime: 'all' | 'client' | 'server';
  contexts: readonly string[];
  enrollment: Enrollment | null;
  holdout: { variant: string; percentage: number } | null;
  conditions: readonly CompiledCondition[];
  /** The variants, each with the upper end of its hash range, from 0 to 1. */
  variants: readonly { key: string; upTo: number }[];
  /** Payloads as JSON text, by variant key or `true`. */
  payloads: ReadonlyMap<string, string>;
  /** Group type whose key is hashed. Null if the ID of the person is hashed. */
  aggregation: number | null;
  bucketsBy: 'distinct_id' | 'device_id';
  /**
   * Experience continuity: whether a person stays in the same bucket after login, because the ID that was hashed first
   * is kept.
   */
  keepsExperience: boolean;
  /** Whether the evaluation ends at the first condition whose filters match but whose rollout excludes the person. */
  exitsEarly: boolean;
  /** IDs of the flags that its filters refer to. */
  dependencies: readonly number[];
  /** Why the flag cannot be evaluated, because of a flag that it depends on. Null if it can. */
  brokenDependency: 'missing' | 'cycle' | null;
  needs: FlagNeeds;
}

/**
 * How a flag for early access finds out whether the person has opted in. That choice takes precedence over all
 * conditions.
 */
export type Enrollment =
  | { kind: 'property'; property: string }
  | { kind: 'super_condition'; properties: readonly string[]; condition: CompiledCondition };

export interface CompiledCondition {
  /** Group type whose key is hashed. Null if the ID of the person is hashed. */
  aggregation: number | null;
  filters: readonly CompiledFilter[];
  /** Cohort filters, which are tested last because they are the most expensive. */
  cohortFilters: readonly CohortFilter[];
  /** Share of the IDs that are included, from 0 to 100. With 100, everyone is included and nothing is hashed. */
  rolloutPercentage: number;
  /** The variant for everyone who matches. Null if the variant is chosen by hash. */
  variant: string | null;
}

export type CompiledFilter = PropertyFilter | FlagFilter | { kind: 'never' };

export interface PropertyFilter {
  kind: 'property';
  key: string;
  /** Group type of the property. Null for a person property. */
  groupType: number | null;
  compiled: CompiledTest;
}

export interface FlagFilter {
  kind: 'flag';
  flagId: number;
  /**
   * The value that the other flag must have. `true` means that it is on, with any variant. A string is the key of a
   * variant.
   */
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
  /** Why membership cannot be determined. Null if it can. */
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
  /** Patterns that must be compiled before the evaluation. */
  patterns: readonly SharedPattern[];
}

const none: readonly never[] = Object.freeze([]);

/**
 * Returns the list itself, or a shared instance if it is empty. This saves memory, because a process caches the flags
 * of many projects.
 */
export function shareIfEmpty<Member>(list: readonly Member[]): readonly Member[] {
  return list.length === 0 ? none : list;
}
