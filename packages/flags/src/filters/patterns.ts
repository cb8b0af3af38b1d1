// Compiles the regular expressions in filters, with limits that prevent slow expressions.

import { RE2JS } from 're2js';
import type { Steps } from '../steps.ts';

/** Maximum number of instructions in a compiled pattern. A larger pattern is slow even for short strings. */
const largestPattern = 2000;
const longestPattern = 1000;
/** Maximum expanded size of a pattern. Compiling a pattern of this size takes 50 ms. */
const largestExpansion = 20_000;

/** Each pattern's problem, or null for a valid pattern. */
export type ValidatedPatterns = ReadonlyMap<string, string | null>;

/**
 * Validates all patterns in filters that a user saves. Yields after each pattern, because validating one may take 50 ms
 * and a flag may contain hundreds.
 */
export function* validatePatterns(filters: unknown): Steps<ValidatedPatterns> {
  const tried = new Map<string, string | null>();
  for (const pattern of patternsOf(filters)) {
    if (tried.has(pattern)) continue;
    tried.set(pattern, findPatternProblem(pattern));
    yield;
  }
  return tried;
}

function* patternsOf(node: unknown): Generator<string> {
  if (typeof node !== 'object' || node === null) return;
  const { operator, value } = node as { operator?: unknown; value?: unknown };
  if ((operator === 'regex' || operator === 'not_regex') && typeof value === 'string') yield value;
  for (const part of Object.values(node)) yield* patternsOf(part);
}

/** Returns why a pattern cannot be used, or null for a valid pattern. Used to validate flags and cohorts. */
export function findPatternProblem(pattern: string): string | null {
  const compiled = compilePattern(pattern);
  return typeof compiled === 'string' ? compiled : null;
}

function compilePattern(pattern: string): RE2JS | string {
  if (pattern.length > longestPattern) return `longer than ${longestPattern} characters`;
  if (pattern.length * maxRepetitions(pattern) > largestExpansion) return 'too many repetitions';
  try {
    const compiled = RE2JS.compile(pattern);
    return compiled.programSize() > largestPattern ? 'too many repetitions' : compiled;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Returns an upper bound of the number of times that a subexpression is repeated. Only group repetitions can be nested,
 * so their counts are multiplied.
 */
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

/**
 * A filter's pattern. It is compiled on first use, because its compiled form takes a hundred times as much memory as
 * its text.
 */
export class SharedPattern {
  readonly #text: string;
  #compiled: RE2JS | null | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  get isCompiled(): boolean {
    return this.#compiled !== undefined;
  }

  /** Returns the compiled pattern, or null if the pattern is invalid. The first call takes up to 50 ms. */
  compiled(): RE2JS | null {
    if (this.#compiled === undefined) {
      const compiled = compilePattern(this.#text);
      this.#compiled = typeof compiled === 'string' ? null : compiled;
    }
    return this.#compiled;
  }
}

/** The references are weak, so that a pattern is freed together with the last filter that uses it. */
const inUse = new Map<string, WeakRef<SharedPattern>>();
const collected = new FinalizationRegistry((text: string) => {
  if (inUse.get(text)?.deref() === undefined) inUse.delete(text);
});

/** Returns the same object for equal patterns, even in different flags and projects. */
export function getSharedPattern(text: string): SharedPattern {
  const known = inUse.get(text)?.deref();
  if (known !== undefined) return known;
  const pattern = new SharedPattern(text);
  inUse.set(text, new WeakRef(pattern));
  collected.register(pattern, text);
  return pattern;
}
