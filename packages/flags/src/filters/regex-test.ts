import { RE2JS } from 're2js';
import { textForm } from '../values/text-form.ts';
import type { ValueTest } from './value-test.ts';

/** Of longer texts nothing is said, neither found nor not found. */
const longestText = 16 * 1024;
/** The time a pattern takes grows with its size (what it repeats counts as often) times the text: so much is 50 ms. */
const maxSteps = 4_000_000;
const largestPattern = 2000;
const longestPattern = 1000;
/** A pattern is only compiled if it cannot become larger than this, which takes 50 ms as well. */
const largestExpansion = 20_000;

/**
 * A pattern in RE2's syntax, found anywhere in the text. It takes time in proportion to the text, whatever the pattern;
 * look-around and back-references, which cannot be had so, make it invalid.
 * @returns null for an invalid pattern
 */
export function patternTests(expected: unknown): { isFound: ValueTest; isNotFound: ValueTest } | null {
  const pattern = compilePattern(textForm(expected));
  if (typeof pattern === 'string') return null;
  const longest = Math.min(longestText, maxSteps / pattern.programSize());
  const finds = (value: unknown) => {
    const text = textForm(value);
    return text.length > longest ? null : pattern.matcher(text).find();
  };
  return { isFound: (value) => finds(value) === true, isNotFound: (value) => finds(value) === false };
}

/** The reason why a pattern cannot be used, or null: for the check when a flag or cohort is written. */
export function patternProblem(pattern: string): string | null {
  const compiled = compilePattern(pattern);
  return typeof compiled === 'string' ? compiled : null;
}

/** The pattern, or the reason why it cannot be used. */
function compilePattern(pattern: string): RE2JS | string {
  if (pattern.length > longestPattern) return `longer than ${longestPattern} characters`;
  if (pattern.length * maxRepetitions(pattern) > largestExpansion) return 'repeats too much';
  try {
    const compiled = RE2JS.compile(pattern);
    return compiled.programSize() > largestPattern ? 'repeats too much' : compiled;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** How often a part of the pattern can be repeated at most: only groups can have repetitions in what they repeat. */
function maxRepetitions(pattern: string): number {
  let ofGroups = 1;
  let ofOthers = 1;
  for (const [whole, least = '', most = ''] of pattern.matchAll(/.\{(\d+)(?:,(\d*))?\}/gs)) {
    const times = Math.max(Number(least), Number(most), 1);
    if (whole.startsWith(')')) ofGroups *= times;
    else ofOthers = Math.max(ofOthers, times);
  }
  return ofGroups * ofOthers;
}
