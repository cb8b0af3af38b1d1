export { compileFlags, compileFlagsInSteps } from './compile/compile-flags.ts';
export type { CompiledFlag, CompiledFlags } from './compile/compiled.ts';
export type { CohortDefinition, FlagDefinition, ProjectDefinitions } from './definitions.ts';
export { evaluateCohortsInSteps } from './evaluate/conditions.ts';
export { type EvaluationContext, nothingStored, type StoredData } from './evaluate/context.ts';
export {
  type EvaluatedFlags,
  evaluateFlags,
  evaluateFlagsInSteps,
  type FlagEvaluation,
  startEvaluation,
} from './evaluate/evaluate-flags.ts';
export { stepLimits } from './evaluate/evaluation-state.ts';
export { type FlagFailure, type FlagResult, type FlagValue, toFlagValue } from './evaluate/flag-result.ts';
export { findNeededData, type NeededData } from './evaluate/needed-data.ts';
export { countFlagsWithheldForRuntime, type FlagSelection, selectFlags } from './evaluate/select-flags.ts';
export { createExplainer, type FlagExplanation } from './explain/explain-flag.ts';
export { findSdkWarnings } from './explain/sdk-warnings.ts';
export { isFilterDate } from './filters/date-operators.ts';
export { cohortFilterTypes, readCohortFilterId } from './filters/named-cohort.ts';
export {
  compileTest,
  isPropertyOperator,
  isSearchTextTooLong,
  type PropertyOperator,
  propertyOperators,
} from './filters/operators.ts';
export { findPatternProblem, type ValidatedPatterns, validatePatterns } from './filters/patterns.ts';
export { longestNeedle } from './filters/text-operators.ts';
export { type CompiledTest, PropertyValue } from './filters/value-operators.ts';
export { createVersionRule, type VersionRule } from './filters/version-operators.ts';
export { runSteps, type Steps } from './steps.ts';
export { parseVersion, type SemanticVersion, toComparableText } from './values.ts';
