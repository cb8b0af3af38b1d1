import type { SharedPattern } from '../filters/patterns.ts';
import type { CompiledTest } from '../filters/value-test.ts';

/** Definitions made ready for evaluation, once per version of them. Immutable; shared by all requests. */
export interface CompiledFlags {
  /** Active flags, each behind all it depends on. */
  inOrder: CompiledFlag[];
  byKey: ReadonlyMap<string, CompiledFlag>;
  cohorts: ReadonlyMap<number, CompiledCohort>;
  /** Names of group types by index. */
  groupTypes: ReadonlyMap<number, string>;
}

export interface CompiledFlag {
  id: number;
  key: string;
  version: number;
  /** Lower case; `all` for both. */
  runtime: 'all' | 'client' | 'server';
  contexts: readonly string[];
  enrollment: Enrollment | null;
  holdout: { variant: string; percentage: number } | null;
  conditions: readonly CompiledCondition[];
  /** Each with the upper end of its share of the hash, from 0 to 1. */
  variants: readonly { key: string; upTo: number }[];
  /** JSON text by variant key, or by `true`. */
  payloads: ReadonlyMap<string, string>;
  /** The group type whose key is hashed; null for the person. */
  aggregation: number | null;
  bucketsBy: 'distinct_id' | 'device_id';
  /** A person keeps the bucket of the id that was hashed first. */
  keepsExperience: boolean;
  /** A rollout that is missed ends the evaluation. */
  exitsEarly: boolean;
  /** Ids of the flags its filters ask about. */
  dependencies: readonly number[];
  /** Why it cannot be evaluated: what it depends on is not there, or is the flag itself. */
  brokenDependency: 'missing' | 'cycle' | null;
  needs: FlagNeeds;
}

/** Early access: what the person chose stands above all conditions. */
export type Enrollment =
  | { kind: 'property'; property: string }
  | { kind: 'super_condition'; properties: readonly string[]; condition: CompiledCondition };

export interface CompiledCondition {
  /** The group type whose key is hashed; null for the person. */
  aggregation: number | null;
  filters: readonly CompiledFilter[];
  /** Tested last: they cost most. */
  cohortFilters: readonly CohortFilter[];
  /** 0 to 100; 100 passes everybody without a hash. */
  rolloutPercentage: number;
  /** A declared variant that everybody gets who matches; null: by hash. */
  variant: string | null;
}

export type CompiledFilter = PropertyFilter | FlagFilter | { kind: 'never' };

export interface PropertyFilter {
  kind: 'property';
  key: string;
  /** The group type whose property it is; null: the person's. */
  groupType: number | null;
  compiled: CompiledTest;
}

export interface FlagFilter {
  kind: 'flag';
  flagId: number;
  /** What the other flag has to be: `true` means on, with any variant; a text that very variant. */
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
  /** Why nobody can say who belongs to it. */
  problem: CohortProblem | null;
}

export type CohortProblem = 'dependency_not_found_cohort' | 'dependency_cycle_cohort' | 'cohort_filters_parsing_error';

export type CohortNode =
  | { kind: 'every' | 'some'; nodes: readonly CohortNode[] }
  | { kind: 'property'; filter: PropertyFilter; negated: boolean }
  | { kind: 'cohort'; cohortId: number; negated: boolean }
  | { kind: 'never' };

/** What has to be known and made ready to evaluate a flag. */
export interface FlagNeeds {
  personProperties: readonly string[];
  groupProperties: readonly { groupType: number; keys: readonly string[] }[];
  staticCohorts: readonly number[];
  /** Whether a stored hash key can change the outcome. */
  hashKeyOverride: boolean;
  /** Patterns that have to be compiled before it is evaluated. */
  patterns: readonly SharedPattern[];
}

const none: readonly never[] = Object.freeze([]);

/** The list, or the one empty list that all share: a process remembers the flags of many projects. */
export function compact<Member>(list: readonly Member[]): readonly Member[] {
  return list.length === 0 ? none : list;
}
