// Evaluates a flag's conditions: filters, cohorts, other flags and the rollout.

import type {
  CohortFilter,
  CohortNode,
  CompiledCondition,
  CompiledFilter,
  CompiledFlag,
  CompiledFlags,
  FlagFilter,
  PropertyFilter,
} from '../compile/compiled.ts';
import type { Steps } from '../steps.ts';
import { chooseVariantByHash, findBucketingId, isWithinRollout } from './bucketing.ts';
import type { EvaluationContext } from './context.ts';
import {
  createEvaluationState,
  type Evaluation,
  negateOutcome,
  type Outcome,
  spendSteps,
  stepLimits,
} from './evaluation-state.ts';
import { createReason, type FlagFailure, type FlagReason, toFlagValue } from './flag-result.ts';
import { missing, unavailable } from './property-values.ts';

export type ConditionsOutcome =
  | { kind: 'match'; variant: string | null; reason: FlagReason }
  | { kind: 'no_match'; reason: FlagReason }
  | { kind: 'failed'; failure: FlagFailure };

/**
 * If no condition matches, the reported reason comes from the condition that came closest to a match. If several
 * conditions are equally close, it comes from the last one of them.
 */
const nearness = { no_group_type: 1, no_condition_match: 2, out_of_rollout_bound: 3 };

/** Evaluates the condition sets in order until one matches, which decides the result. */
export function evaluateConditions(flag: CompiledFlag, evaluation: Evaluation): ConditionsOutcome {
  let nearest: keyof typeof nearness = 'no_group_type';
  let nearestIndex: number | null = null;
  let groupsWereSkipped = false;
  for (const [index, condition] of flag.conditions.entries()) {
    const outcome = evaluateCondition(flag, condition, evaluation);
    switch (outcome.kind) {
      case 'failed':
        return outcome;
      case 'match':
        return { kind: 'match', variant: outcome.variant, reason: createReason('condition_match', index) };
      case 'out_of_rollout_bound':
        if (flag.exitsEarly && outcome.isRolloutMiss)
          return { kind: 'no_match', reason: createReason(outcome.kind, index) };
        break;
      case 'no_group_type':
        groupsWereSkipped = true;
        break;
      case 'no_condition_match':
        break;
    }
    if (nearness[outcome.kind] >= nearness[nearest]) {
      nearest = outcome.kind;
      nearestIndex = index;
    }
  }
  const isNoted = groupsWereSkipped && nearest === 'no_condition_match';
  return { kind: 'no_match', reason: createReason(nearest, nearestIndex, { groupsWereSkipped: isNoted }) };
}

export type ConditionOutcome =
  | { kind: 'match'; variant: string | null }
  /**
   * `isRolloutMiss` is true if the filters match but the rollout excludes the ID, and false if there is no device ID to
   * hash.
   */
  | { kind: 'out_of_rollout_bound'; isRolloutMiss: boolean }
  | { kind: 'no_condition_match' }
  | { kind: 'no_group_type' }
  | { kind: 'failed'; failure: FlagFailure };

const stepsOfCondition = 5;
const stepsWithHash = 80;

/** Evaluates one condition set in this order: the ID to hash, the filters, the rollout, and the variant. */
export function evaluateCondition(
  flag: CompiledFlag,
  condition: CompiledCondition,
  evaluation: Evaluation,
): ConditionOutcome {
  const isForAll = condition.rolloutPercentage === 100 && flag.variants.length === 0;
  if (!spendSteps(evaluation, isForAll ? stepsOfCondition : stepsWithHash))
    return { kind: 'failed', failure: 'timeout' };
  const id = findBucketingId(flag, condition.aggregation, evaluation);
  if (id === null) {
    return condition.aggregation === null
      ? { kind: 'out_of_rollout_bound', isRolloutMiss: false }
      : { kind: 'no_group_type' };
  }
  const matched = testFilters(condition, evaluation);
  if (matched === false) return { kind: 'no_condition_match' };
  if (matched !== true) return { kind: 'failed', failure: matched };
  if (!isWithinRollout(flag, condition.rolloutPercentage, id)) {
    return { kind: 'out_of_rollout_bound', isRolloutMiss: true };
  }
  return { kind: 'match', variant: variantOf(flag, condition, id) };
}

/** Tests the filters one after the other, until one does not match or cannot be determined. */
function testFilters({ filters, cohortFilters }: CompiledCondition, evaluation: Evaluation): Outcome {
  for (const filter of filters) {
    const outcome = testFilter(filter, evaluation);
    if (outcome !== true) return outcome;
  }
  for (const filter of cohortFilters) {
    const outcome = testCohort(filter, evaluation);
    if (outcome !== true) return outcome;
  }
  return true;
}

/** Returns the variant for an ID. Ignores a forced variant that the flag does not declare. */
function variantOf(flag: CompiledFlag, { variant }: CompiledCondition, id: string): string | null {
  const isDeclared = variant !== null && flag.variants.some(({ key }) => key === variant);
  return isDeclared ? variant : chooseVariantByHash(flag, id);
}

export function testFilter(filter: CompiledFilter, evaluation: Evaluation): Outcome {
  switch (filter.kind) {
    case 'property':
      return testProperty(filter, evaluation);
    case 'flag':
      return testFlag(filter, evaluation);
    case 'never':
      return false;
  }
}

export function testCohort({ cohortId, isMember }: CohortFilter, evaluation: Evaluation): Outcome {
  const outcome = isCohortMember(cohortId, evaluation);
  return isMember ? outcome : negateOutcome(outcome);
}

/**
 * Tests the value of the flag that the filter references. A flag that is inactive or not part of this evaluation counts
 * as `false`. A flag that could not be evaluated matches neither `true` nor `false`.
 */
function testFlag({ flagId, expected }: FlagFilter, evaluation: Evaluation): Outcome {
  if (!spendSteps(evaluation, 1)) return 'timeout';
  const result = evaluation.results.get(flagId);
  if (result === undefined) return expected === false;
  if (result.failure !== null) return false;
  const value = toFlagValue(result);
  return typeof expected === 'boolean' ? (value !== false) === expected : value === expected;
}

/** Number of steps that are counted for finding and testing a value, in addition to the value's length. */
const stepsOfTest = 8;

function testProperty({ key, groupType, compiled }: PropertyFilter, evaluation: Evaluation): Outcome {
  const { values, context } = evaluation;
  const { test, whenMissing } = compiled;
  const value = groupType === null ? values.person(key) : values.group(groupType, key);
  if (value === unavailable) return 'database_error';
  if (value === missing) return spendSteps(evaluation, stepsOfTest) ? whenMissing : 'timeout';
  // A value's conversions (such as to lower case) are computed only once. One step per character covers all of them.
  const steps = stepsOfTest + (value.isCounted ? 0 : value.length) + test.stepsFor(value.length);
  if (!spendSteps(evaluation, steps)) return 'timeout';
  value.isCounted = true;
  return test.matches(value, context.now);
}

/**
 * For each cohort, returns whether the person belongs to it, or why this cannot be determined. The result is the same
 * as in a flag filter. Yields after each cohort. Like `evaluateFlags`, this is a pure function.
 */
export function* evaluateCohortsInSteps(
  flags: CompiledFlags,
  cohortIds: readonly number[],
  context: EvaluationContext,
): Steps<Outcome[]> {
  const evaluation = createEvaluationState(flags, context);
  const outcomes: Outcome[] = [];
  for (const id of cohortIds) {
    evaluation.maxSteps = evaluation.steps + stepLimits.each;
    outcomes.push(isCohortMember(id, evaluation));
    yield;
  }
  return outcomes;
}

/** Returns whether the person belongs to a cohort. Caches the outcome for the rest of the evaluation. */
function isCohortMember(cohortId: number, evaluation: Evaluation): Outcome {
  const known = evaluation.membership.get(cohortId);
  if (known !== undefined) return known;
  const outcome = findMembership(cohortId, evaluation);
  evaluation.membership.set(cohortId, outcome);
  return outcome;
}

function findMembership(cohortId: number, evaluation: Evaluation): Outcome {
  const cohort = evaluation.flags.cohorts.get(cohortId);
  if (cohort === undefined) return 'dependency_not_found_cohort';
  if (cohort.problem !== null) return cohort.problem;
  if (!cohort.isStatic) return testNode(cohort.node, evaluation);
  const { staticCohorts } = evaluation.context.stored;
  return staticCohorts === 'unavailable' ? 'database_error' : staticCohorts.has(cohortId);
}

function testNode(node: CohortNode, evaluation: Evaluation): Outcome {
  if (!spendSteps(evaluation, 1)) return 'timeout';
  switch (node.kind) {
    case 'never':
      return false;
    case 'property': {
      const outcome = testProperty(node.filter, evaluation);
      return node.negated ? negateOutcome(outcome) : outcome;
    }
    case 'cohort': {
      const outcome = isCohortMember(node.cohortId, evaluation);
      return node.negated ? negateOutcome(outcome) : outcome;
    }
    default:
      return testNodes(node, evaluation);
  }
}

/** Tests nodes until the outcome is decided: `every` ends at a node that fails, and `some` at one that matches. */
function testNodes({ kind, nodes }: Extract<CohortNode, { nodes: unknown }>, evaluation: Evaluation): Outcome {
  const deciding = kind === 'some';
  let unknown: Outcome = !deciding;
  for (const node of nodes) {
    const outcome = testNode(node, evaluation);
    if (outcome === deciding) return outcome;
    if (typeof outcome !== 'boolean') unknown = outcome;
  }
  return unknown;
}
