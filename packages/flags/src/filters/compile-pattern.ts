import { RE2JS } from 're2js';

/** Instructions: more take too long for a text of any length. */
const largestPattern = 2000;
const longestPattern = 1000;
/** A pattern is only compiled if it cannot become larger than this, which takes 50 ms. */
const largestExpansion = 20_000;

/** The reason why a pattern cannot be used, or null: for the check when a flag or cohort is written. */
export function patternProblem(pattern: string): string | null {
  const compiled = compilePattern(pattern);
  return typeof compiled === 'string' ? compiled : null;
}

/** The pattern, or the reason why it cannot be used. */
export function compilePattern(pattern: string): RE2JS | string {
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
