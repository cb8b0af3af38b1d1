import { isDeepStrictEqual } from 'node:util';
import type { FlagCase } from './flag-cases.ts';
import type { SdkResult } from './flag-sdk.ts';

/** How the SDK's values compare to the server's, by category. */
export interface Tally {
  agree: number;
  /** The SDK cannot evaluate it locally. */
  queries: number;
  differ: number;
}

/**
 * For SDKs that query the server: every value must equal the server's.
 * @returns descriptions of the cases that differ.
 */
export function findDisagreements(cases: readonly FlagCase[], results: Map<number, SdkResult>): string[] {
  return findDisagreeingCases(cases, results).map((one) => nameOf(one, results.get(one.number) ?? {}));
}

export function findDisagreeingCases(cases: readonly FlagCase[], results: Map<number, SdkResult>): FlagCase[] {
  return cases.filter((one) => {
    const { value, payload } = results.get(one.number) ?? {};
    // For a flag that failed or is not in the response, some SDKs return undefined and others false.
    return (value ?? (one.value === false ? false : undefined)) !== one.value || !hasPayload(one, payload);
  });
}

/**
 * For SDKs with local evaluation: every value must be the known one.
 * @returns descriptions of the cases that differ.
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

/** Some SDKs return the JSON text of a payload, others the parsed value. A flag that is off has no relevant payload. */
function hasPayload({ value, payload: text }: FlagCase, given: unknown): boolean {
  if (value === false) return true;
  if (text === null) return (given ?? null) === null;
  return given === text || isDeepStrictEqual(given, JSON.parse(text));
}

function nameOf({ number, category, flag, distinctId, value }: FlagCase, result: SdkResult): string {
  return `${category} ${flag} ${distinctId} #${number}: ${JSON.stringify(result)}, not ${value}`;
}
