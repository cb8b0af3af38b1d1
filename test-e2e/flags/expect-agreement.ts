import { isDeepStrictEqual } from 'node:util';
import type { FlagCase } from './flag-cases.ts';
import type { SdkAnswer } from './flag-sdk.ts';

/** How the SDK's values compare to the server's, by category. */
export interface Tally {
  agree: number;
  /** The SDK cannot evaluate it locally. */
  asks: number;
  differ: number;
}

/**
 * For SDKs that query the server: every value must equal the server's.
 * @returns descriptions of the cases that differ.
 */
export function disagreements(cases: readonly FlagCase[], answers: Map<number, SdkAnswer>): string[] {
  return casesOfDisagreement(cases, answers).map((one) => nameOf(one, answers.get(one.number) ?? {}));
}

export function casesOfDisagreement(cases: readonly FlagCase[], answers: Map<number, SdkAnswer>): FlagCase[] {
  return cases.filter((one) => {
    const { value, payload } = answers.get(one.number) ?? {};
    // For a flag that failed or is not in the response, some SDKs return undefined and others false.
    return (value ?? (one.value === false ? false : undefined)) !== one.value || !hasPayload(one, payload);
  });
}

/**
 * For SDKs with local evaluation: every value must be the known one.
 * @returns descriptions of the cases that differ.
 */
export function surprises(
  cases: readonly FlagCase[],
  answers: Map<number, SdkAnswer>,
  language: keyof FlagCase['locally'],
): string[] {
  return cases.flatMap((one) => {
    const answer = answers.get(one.number) ?? {};
    return isAsKnown(one, language, answer) ? [] : [nameOf(one, answer)];
  });
}

function isAsKnown(one: FlagCase, language: keyof FlagCase['locally'], { value, payload }: SdkAnswer): boolean {
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
  answers: Map<number, SdkAnswer>,
  { isLocal }: { isLocal: boolean },
): Map<string, Tally> {
  const tallies = new Map<string, Tally>();
  for (const one of cases) {
    const tally = tallies.get(one.category) ?? { agree: 0, asks: 0, differ: 0 };
    const value = answers.get(one.number)?.value ?? null;
    if (isLocal && value === null) tally.asks += 1;
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

function nameOf({ number, category, flag, distinctId, value }: FlagCase, answer: SdkAnswer): string {
  return `${category} ${flag} ${distinctId} #${number}: ${JSON.stringify(answer)}, not ${value}`;
}
