import { RE2JS } from 're2js';
import { textForm } from '../values/text-form.ts';
import type { ValueTest } from './value-test.ts';

/** Of longer texts nothing is said, neither found nor not found: patterns made to hurt read four megabytes a second. */
const longestText = 16 * 1024;
const longestPattern = 1000;

/**
 * A pattern in RE2's syntax, found anywhere in the text. It takes time in proportion to the text, whatever the pattern;
 * look-around and back-references, which cannot be had so, make it invalid.
 * @returns null for an invalid pattern
 */
export function patternTests(expected: unknown): { isFound: ValueTest; isNotFound: ValueTest } | null {
  const pattern = compilePattern(textForm(expected));
  if (typeof pattern === 'string') return null;
  const finds = (value: unknown) => {
    const text = textForm(value);
    return text.length > longestText ? null : pattern.matcher(text).find();
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
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
