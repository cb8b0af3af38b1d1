import type { SharedPattern } from '../filters/patterns.ts';
import type { CompiledTest } from '../filters/value-operators.ts';

/** Flag and cohort definitions, prepared for evaluation. They never change, and all requests share them. */
export interface CompiledFlags {
  /** The active flags. Each flag follows its dependencies. */
  inOrder: CompiledFlag[];
  byKey: ReadonlyMap<string, CompiledFlag>;
  cohorts: ReadonlyMap<number, CompiledCohort>;
  groupTypes: ReadonlyMap<number, string>;
}

export interface CompiledFlag {
  id: number;
  key: string;
  version: number;
  /** The callers that receive the flag. `all` means clients and servers. */
  runtime: 'all' | 'client' | 'server';
  contexts: readonly string[];
  enrollment: Enrollment | null;
  holdout: { variant: string; percentage: number } | null;
  conditions: readonly CompiledCondition[];
  /** The variants, each with the upper end of its hash range, from 0 to 1. */
  variants: readonly { key: string; upTo: number }[];
  /** Payloads as JSON strings, by variant key or `true`. */
  payloads: ReadonlyMap<string, string>;
  /** The group type whose key is hashed, or null if the person's ID is hashed. */
  aggregation: number | null;
  bucketsBy: 'distinct_id' | 'device_id';
  /**
   * Experience continuity: whether a person stays in the same bucket after login, because the first hashed ID is kept.
   */
  keepsExperience: boolean;
  /** Whether the evaluation ends at the first condition whose filters match but whose rollout excludes the person. */
  exitsEarly: boolean;
  dependencies: readonly number[];
  /** Why the flag cannot be evaluated because of a dependency, or null if all dependencies can be evaluated. */
  brokenDependency: 'missing' | 'cycle' | null;
  needs: FlagNeeds;
}

/**
 * How to determine whether a person has opted in to an early access flag. The person's choice takes precedence over all
 * conditions.
 */
export type Enrollment =
  | { kind: 'property'; property: string }
  | { kind: 'super_condition'; properties: readonly string[]; condition: CompiledCondition };

export interface CompiledCondition {
  /** The group type whose key is hashed, or null if the person's ID is hashed. */
  aggregation: number | null;
  filters: readonly CompiledFilter[];
  /** Cohort filters, which are tested last because they are the most expensive. */
  cohortFilters: readonly CohortFilter[];
  /** Percentage of IDs that are included, from 0 to 100. If it is 100, everyone is included and no ID is hashed. */
  rolloutPercentage: number;
  /** The variant for everyone who matches the condition, or null to choose the variant by hash. */
  variant: string | null;
}

export type CompiledFilter = PropertyFilter | FlagFilter | { kind: 'never' };

export interface PropertyFilter {
  kind: 'property';
  key: string;
  /** The property's group type, or null for a person property. */
  groupType: number | null;
  compiled: CompiledTest;
}

export interface FlagFilter {
  kind: 'flag';
  flagId: number;
  /**
   * The value that the referenced flag must have. `true` means that the flag is on, with any variant. A string is a
   * variant's key.
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
  /** Why membership cannot be determined, or null for a valid cohort. */
  problem: CohortProblem | null;
}

export type CohortProblem = 'dependency_not_found_cohort' | 'dependency_cycle_cohort' | 'cohort_filters_parsing_error';

export type CohortNode =
  | { kind: 'every' | 'some'; nodes: readonly CohortNode[] }
  | { kind: 'property'; filter: PropertyFilter; negated: boolean }
  | { kind: 'cohort'; cohortId: number; negated: boolean }
  | { kind: 'never' };

export interface FlagNeeds {
  personProperties: readonly string[];
  groupProperties: readonly { groupType: number; keys: readonly string[] }[];
  staticCohorts: readonly number[];
  /** Whether a stored hash key can change the outcome. */
  hashKeyOverride: boolean;
  patterns: readonly SharedPattern[];
}

const none: readonly never[] = Object.freeze([]);

/**
 * Returns the list itself, or a shared empty list if it is empty. This saves memory, because a process caches the flags
 * of many projects.
 */
export function shareIfEmpty<Member>(list: readonly Member[]): readonly Member[] {
  return list.length === 0 ? none : list;
}
