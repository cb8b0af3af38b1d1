import {
  type CohortDefinition,
  compileFlags,
  type EvaluationContext,
  evaluateFlags,
  type FlagDefinition,
  type FlagSelection,
  nothingStored,
  type ProjectDefinitions,
  type StoredData,
  selectFlags,
  toFlagValue,
} from '../index.ts';

/** Creates a flag. `groups` are its condition sets. */
export function flag(
  key: string,
  { groups = [], filters = {}, ...others }: Partial<FlagDefinition> & { groups?: unknown[]; filters?: object },
): FlagDefinition {
  return { id: idOf(key), key, active: true, filters: { groups, ...filters }, ...others };
}

/** Derives a flag ID from the key, so that one flag can refer to another. */
export function idOf(key: string): number {
  return [...key].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 1_000_000_007, 7);
}

export interface EvaluationInput {
  flags: FlagDefinition[];
  cohorts?: CohortDefinition[];
  definitions?: Partial<ProjectDefinitions>;
  request?: Partial<Omit<EvaluationContext, 'stored'>>;
  stored?: Partial<StoredData>;
  selection?: FlagSelection;
}

/** Evaluates flags. Returns each flag's value by its key, and the reason as `code:index` or `failed:code`. */
export function evaluate({
  flags,
  cohorts = [],
  definitions = {},
  request = {},
  stored = {},
  selection = {},
}: EvaluationInput) {
  const compiled = compileFlags({
    flags,
    cohorts,
    groupTypes: { 0: 'company', 1: 'project' },
    timeZone: 'UTC',
    matchingVersion: 1,
    ...definitions,
  });
  const { results: list, hasErrors } = evaluateFlags(compiled, selectFlags(compiled, selection), {
    distinctId: 'user-1',
    groups: {},
    personProperties: {},
    groupProperties: {},
    now: Date.UTC(2026, 0, 15, 12),
    ...request,
    stored: { ...nothingStored, ...stored },
  });
  const results = Object.fromEntries(
    list.map((result) => {
      const { code, conditionIndex } = result.reason;
      const why = result.failure === null ? `${code}:${conditionIndex}` : `failed:${code}`;
      return [
        result.key,
        { value: toFlagValue(result), why, payload: result.payload, description: result.reason.description },
      ];
    }),
  );
  return { results, hasErrors };
}

/** Returns whether a person with these properties matches the filter `p <operator> <expected>`. */
export function matches(
  operator: string,
  expected: unknown,
  properties: Record<string, unknown>,
  {
    definitions = {},
    now = Date.UTC(2026, 0, 15, 12),
  }: { definitions?: Partial<ProjectDefinitions>; now?: number } = {},
): boolean {
  const properly = [{ key: 'p', type: 'person', operator, value: expected }];
  const tested = flag('tested', { groups: [{ properties: properly }] });
  const { results } = evaluate({ flags: [tested], definitions, request: { personProperties: properties, now } });
  return results.tested?.value === true;
}
