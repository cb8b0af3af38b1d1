import { RE2JS } from 're2js';
import type { Steps } from '../steps.ts';

/** Instructions: more take too long for a text of any length. */
const largestPattern = 2000;
const longestPattern = 1000;
/** A pattern is only compiled if it cannot become larger than this, which takes 50 ms. */
const largestExpansion = 20_000;

/** What is wrong with each pattern; null with nothing. */
export type TriedPatterns = ReadonlyMap<string, string | null>;

/**
 * Tries every pattern in the filters of somebody who writes them, one a step: each may take 50 ms, and a flag has room for
 * hundreds.
 */
export function* tryPatterns(filters: unknown): Steps<TriedPatterns> {
  const tried = new Map<string, string | null>();
  for (const pattern of patternsOf(filters)) {
    if (tried.has(pattern)) continue;
    tried.set(pattern, patternProblem(pattern));
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

/** The reason why a pattern cannot be used, or null: for the check when a flag or cohort is written. */
export function patternProblem(pattern: string): string | null {
  const compiled = compilePattern(pattern);
  return typeof compiled === 'string' ? compiled : null;
}

/** The pattern, or the reason why it cannot be used. */
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

/** A pattern of filters, compiled when it is first tried: compiled it takes a hundred times the memory of its text. */
export class SharedPattern {
  readonly #text: string;
  #compiled: RE2JS | null | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  get isCompiled(): boolean {
    return this.#compiled !== undefined;
  }

  /** Null for an invalid pattern. The first time takes up to 50 ms. */
  compiled(): RE2JS | null {
    if (this.#compiled === undefined) {
      const compiled = compilePattern(this.#text);
      this.#compiled = typeof compiled === 'string' ? null : compiled;
    }
    return this.#compiled;
  }
}

/** Held by the filters alone, so that a pattern goes with the last of them. */
const inUse = new Map<string, WeakRef<SharedPattern>>();
const gone = new FinalizationRegistry((text: string) => {
  if (inUse.get(text)?.deref() === undefined) inUse.delete(text);
});

/** The same for the same text, whichever flags and projects it is of. */
export function sharedPattern(text: string): SharedPattern {
  const known = inUse.get(text)?.deref();
  if (known !== undefined) return known;
  const pattern = new SharedPattern(text);
  inUse.set(text, new WeakRef(pattern));
  gone.register(pattern, text);
  return pattern;
}
