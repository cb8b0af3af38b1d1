import { isDeepStrictEqual } from 'node:util';
import type { FlagCase } from './flag-cases.ts';
import type { SdkAnswer } from './flag-sdk.ts';

/** How an SDK's answers lie to those of the server, by category. */
export interface Tally {
  agree: number;
  /** It cannot tell by itself. */
  asks: number;
  differ: number;
}

/** Of an SDK that asks: everything it says is what the server says. @returns the cases in which it is not. */
export function disagreements(cases: readonly FlagCase[], answers: Map<number, SdkAnswer>): string[] {
  return casesOfDisagreement(cases, answers).map((one) => nameOf(one, answers.get(one.number) ?? {}));
}

export function casesOfDisagreement(cases: readonly FlagCase[], answers: Map<number, SdkAnswer>): FlagCase[] {
  return cases.filter((one) => {
    const { value, payload } = answers.get(one.number) ?? {};
    // A flag that failed, or is not in the answer, is unknown to some SDKs and off to others.
    return (value ?? (one.value === false ? false : undefined)) !== one.value || !hasPayload(one, payload);
  });
}

/** Of an SDK that evaluates by itself: it says what is known of it. @returns the cases in which it does not. */
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

/** Some SDKs give the text, some what it means. Of a flag that is off none is of use. */
function hasPayload({ value, payload: text }: FlagCase, given: unknown): boolean {
  if (value === false) return true;
  if (text === null) return (given ?? null) === null;
  return given === text || isDeepStrictEqual(given, JSON.parse(text));
}

function nameOf({ number, category, flag, distinctId, value }: FlagCase, answer: SdkAnswer): string {
  return `${category} ${flag} ${distinctId} #${number}: ${JSON.stringify(answer)}, not ${value}`;
}
