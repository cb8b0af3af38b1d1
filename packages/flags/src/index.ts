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
export { type FlagFailure, type FlagResult, type FlagValue, flagValue } from './evaluate/flag-result.ts';
export { type NeededData, neededData } from './evaluate/needed-data.ts';
export { countWithheldForRuntime, type FlagSelection, selectFlags } from './evaluate/select-flags.ts';
export { createExplainer, type FlagExplanation } from './explain/explain-flag.ts';
export { sdkWarnings } from './explain/sdk-warnings.ts';
export { isFilterDate } from './filters/date-operators.ts';
export { cohortFilterTypes, namedCohort } from './filters/named-cohort.ts';
export {
  compileTest,
  isNeedleTooLong,
  isPropertyOperator,
  type PropertyOperator,
  propertyOperators,
} from './filters/operators.ts';
export { findPatternProblem, type ValidatedPatterns, validatePatterns } from './filters/patterns.ts';
export { longestNeedle } from './filters/text-operators.ts';
export { type CompiledTest, PropertyValue } from './filters/value-operators.ts';
export { type VersionRule, versionRule } from './filters/version-operators.ts';
export { runSteps, type Steps } from './steps.ts';
export { parseVersion, type SemanticVersion, textForm } from './values.ts';
