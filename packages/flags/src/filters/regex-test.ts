import { textForm } from '../values/text-form.ts';
import { sharedPattern } from './shared-pattern.ts';
import type { ValueTest } from './value-test.ts';

/** Of longer texts nothing is said, neither found nor not found. */
const longestText = 16 * 1024;
/** The time a pattern takes grows with its size (what it repeats counts as often) times the text: so much is 50 ms. */
const maxSteps = 4_000_000;

/**
 * A pattern in RE2's syntax, found anywhere in the text. It takes time in proportion to the text, whatever the pattern;
 * look-around and back-references, which cannot be had so, make it
 * invalid: then it is neither found nor not found.
 */
export function patternTests(expected: unknown): { isFound: ValueTest; isNotFound: ValueTest } {
  const pattern = sharedPattern(textForm(expected));
  /** 0 where nothing is tried. */
  const stepsFor = (length: number) => {
    const steps = length * (pattern.compiled()?.programSize() ?? 0);
    return length > longestText || steps > maxSteps ? 0 : steps;
  };
  const finds = (value: unknown) => {
    const compiled = pattern.compiled();
    const text = textForm(value);
    if (compiled === null || text.length > Math.min(longestText, maxSteps / compiled.programSize())) return null;
    return compiled.matcher(text).find();
  };
  return {
    isFound: Object.assign((value: unknown) => finds(value) === true, { stepsFor, pattern }),
    isNotFound: Object.assign((value: unknown) => finds(value) === false, { stepsFor, pattern }),
  };
}
