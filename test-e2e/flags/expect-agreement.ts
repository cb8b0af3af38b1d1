import { isDeepStrictEqual } from 'node:util';
import type { FlagCase } from './flag-cases.ts';
import type { SdkResult } from './flag-sdk.ts';

/** Counts how many of an SDK's values equal the server's values, by category. */
export interface Tally {
  agree: number;
  /** Number of cases in which the SDK queries the server, because it cannot evaluate them locally. */
  queries: number;
  differ: number;
}

/**
 * Compares the values of an SDK that queries the server with the server's values. The values must be equal.
 * @returns descriptions of the cases with different values
 */
export function findDisagreements(cases: readonly FlagCase[], results: Map<number, SdkResult>): string[] {
  return findDisagreeingCases(cases, results).map((one) => nameOf(one, results.get(one.number) ?? {}));
}

export function findDisagreeingCases(cases: readonly FlagCase[], results: Map<number, SdkResult>): FlagCase[] {
  return cases.filter((one) => {
    const { value, payload } = results.get(one.number) ?? {};
    // Accept undefined and false for a flag that failed or is missing in the response, because SDKs differ.
    return (value ?? (one.value === false ? false : undefined)) !== one.value || !hasPayload(one, payload);
  });
}

/**
 * Compares the values of an SDK with local evaluation with the expected values.
 * @returns descriptions of the cases with unexpected values
 */
export function findUnexpectedValues(
  cases: readonly FlagCase[],
  results: Map<number, SdkResult>,
  language: keyof FlagCase['locally'],
): string[] {
  return cases.flatMap((one) => {
    const result = results.get(one.number) ?? {};
    return isAsKnown(one, language, result) ? [] : [nameOf(one, result)];
  });
}

function isAsKnown(one: FlagCase, language: keyof FlagCase['locally'], { value, payload }: SdkResult): boolean {
  const known = one.locally[language];
  switch (known.says) {
    case 'nothing':
      return (value ?? null) === null;
    case 'another':
      return value === known.value;
    case 'the same':
      return value === one.value && hasPayload(one, payload);
  }
}

export function tallyByCategory(
  cases: readonly FlagCase[],
  results: Map<number, SdkResult>,
  { isLocal }: { isLocal: boolean },
): Map<string, Tally> {
  const tallies = new Map<string, Tally>();
  for (const one of cases) {
    const tally = tallies.get(one.category) ?? { agree: 0, queries: 0, differ: 0 };
    const value = results.get(one.number)?.value ?? null;
    if (isLocal && value === null) tally.queries += 1;
    else if ((value ?? false) === one.value) tally.agree += 1;
    else tally.differ += 1;
    tallies.set(one.category, tally);
  }
  return tallies;
}

/**
 * Returns whether the payload is correct. Some SDKs return a payload as JSON text, and others return the parsed value.
 * The payload of a disabled flag does not matter.
 */
function hasPayload({ value, payload: text }: FlagCase, given: unknown): boolean {
  if (value === false) return true;
  if (text === null) return (given ?? null) === null;
  return given === text || isDeepStrictEqual(given, JSON.parse(text));
}

function nameOf({ number, category, flag, distinctId, value }: FlagCase, result: SdkResult): string {
  return `${category} ${flag} ${distinctId} #${number}: ${JSON.stringify(result)}, not ${value}`;
}
