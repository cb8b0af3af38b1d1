// Filters that search and compare strings.

import { isBooleanLike, isTruthy, toComparableText } from '../values.ts';
import { getSharedPattern } from './patterns.ts';
import {
  countComparisonSteps,
  createFixedCostTest,
  type PropertyValue,
  toAsciiLowerCase,
  type ValueTest,
} from './value-operators.ts';

/** Maximum length of the search text in a filter. */
export const longestNeedle = 1000;

/**
 * Prepares a search. Returns null if the search text is too long. Then neither the operator nor its negation matches.
 */
export function createContainsTest(expected: unknown): ValueTest | null {
  const needle = needleOf(expected);
  return needle === null ? null : new Search(needle);
}

/**
 * Prepares a search for any of several strings. A single string counts as a list of one. Returns null if any string is
 * too long.
 */
export function createContainsAnyTest(expected: unknown): ValueTest | null {
  if (!Array.isArray(expected)) return createContainsTest(expected);
  const needles = expected.map(needleOf);
  const searches = needles.filter((needle) => needle !== null).map((needle) => new Search(needle));
  if (searches.length < needles.length) return null;
  return {
    matches: (value) => searches.some((search) => search.matches(value)),
    stepsFor: (length) => searches.reduce((steps, search) => steps + search.stepsFor(length), 0),
  };
}

export function createStartsWithTest(expected: unknown): ValueTest | null {
  const start = needleOf(expected);
  return start === null ? null : createFixedCostTest(({ searched }) => searched.startsWith(start));
}

export function createEndsWithTest(expected: unknown): ValueTest | null {
  const end = needleOf(expected);
  return end === null ? null : createFixedCostTest(({ searched }) => searched.endsWith(end));
}

function needleOf(expected: unknown): string | null {
  const text = toAsciiLowerCase(toComparableText(expected));
  return text.length > longestNeedle ? null : text;
}

/** If the product of both strings' lengths is at most this, the JavaScript engine's own search is always faster. */
const maxCompared = 10_000;

/**
 * Searches a string in time proportional to its length. The JavaScript engine's own search may take time proportional
 * to the product of both lengths, so it is used only for short strings.
 */
class Search implements ValueTest {
  readonly #needle: string;
  #borders: Uint16Array | undefined;

  constructor(needle: string) {
    this.#needle = needle;
  }

  matches({ searched }: PropertyValue): boolean {
    if (this.#isShort(searched.length)) return searched.includes(this.#needle);
    this.#borders ??= bordersOf(this.#needle);
    return isFound(searched, this.#needle, this.#borders);
  }

  stepsFor(length: number): number {
    return 2 + (this.#isShort(length) ? countComparisonSteps(length * this.#needle.length) : length / 4);
  }

  #isShort(length: number): boolean {
    return this.#needle.length <= 1 || length * this.#needle.length <= maxCompared;
  }
}

/**
 * Computes the failure function of Knuth, Morris and Pratt: for each prefix of the needle, the length of its longest
 * proper prefix that is also a suffix.
 */
function bordersOf(needle: string): Uint16Array {
  const borders = new Uint16Array(needle.length);
  for (let at = 1, length = 0; at < needle.length; at++) {
    while (length > 0 && needle[at] !== needle[length]) length = borders[length - 1] ?? 0;
    if (needle[at] === needle[length]) length += 1;
    borders[at] = length;
  }
  return borders;
}

function isFound(text: string, needle: string, borders: Uint16Array): boolean {
  for (let at = 0, length = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (length > 0 && unit !== needle.charCodeAt(length)) length = borders[length - 1] ?? 0;
    if (unit === needle.charCodeAt(length)) length += 1;
    if (length === needle.length) return true;
  }
  return false;
}

/**
 * Tests whether two values are equal as text, ignoring case, so that 5 equals "5". If the filter has a list, one equal
 * element is enough. Under matching version 1, a boolean-like filter value only tests whether the property is true, so
 * "false" matches everything that is not true.
 */
export function createExactTest(expected: unknown, matchingVersion: 1 | 2): ValueTest {
  if (Array.isArray(expected) && expected.length === 0) return createFixedCostTest(({ isTrue }) => isTrue);
  if (matchingVersion === 1 && isBooleanLike(expected)) {
    const expectsMatch = isTruthy(expected);
    return createFixedCostTest(({ isTrue }) => isTrue === expectsMatch);
  }
  if (!Array.isArray(expected)) return new EqualTest(toComparableText(expected).toLowerCase());
  const texts = new Set(expected.map((text) => toComparableText(text).toLowerCase()));
  const [only = ''] = texts;
  if (texts.size === 1) return new EqualTest(only);
  const longest = expected.reduce<number>((most, text) => Math.max(most, toComparableText(text).length), 0);
  return {
    matches: ({ folded }) => texts.has(folded),
    stepsFor: (length) => countComparisonSteps(Math.min(length, longest)),
  };
}

class EqualTest implements ValueTest {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  matches({ folded }: PropertyValue): boolean {
    return folded === this.#text;
  }

  stepsFor(length: number): number {
    return countComparisonSteps(Math.min(length, this.#text.length));
  }
}

/** Maximum length of the searched string. A longer string matches neither the operator nor its negation. */
const longestText = 16 * 1024;
/**
 * A search takes time proportional to the product of the pattern's size (including repetitions) and the string's
 * length. This many steps take 40 ms.
 */
const maxSteps = 3_000_000;

/**
 * Prepares a search for a pattern in RE2 syntax, anywhere in the string. For every pattern, the time is proportional to
 * the string's length. Look-around and back-references do not allow this, so a pattern with one of these is invalid and
 * matches neither the operator nor its negation.
 */
export function createPatternTests(expected: unknown): { isFound: ValueTest; isNotFound: ValueTest } {
  const pattern = getSharedPattern(toComparableText(expected));
  /** Returns 0 for strings that are too long, because they are not searched. */
  const stepsFor = (length: number) => {
    const steps = length * (pattern.compiled()?.programSize() ?? 0);
    return length > longestText || steps > maxSteps ? 0 : steps;
  };
  const finds = ({ text }: PropertyValue) => {
    const compiled = pattern.compiled();
    if (compiled === null || text.length > Math.min(longestText, maxSteps / compiled.programSize())) return null;
    return compiled.matcher(text).find();
  };
  return {
    isFound: { matches: (value) => finds(value) === true, stepsFor, pattern },
    isNotFound: { matches: (value) => finds(value) === false, stepsFor, pattern },
  };
}
