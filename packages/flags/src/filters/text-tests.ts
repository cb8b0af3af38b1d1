import { isBooleanLike, isTruthy, textForm } from '../values.ts';
import { sharedPattern } from './patterns.ts';
import { asciiLower, type PropertyValue, quickTest, stepsToCompare, type ValueTest } from './value-test.ts';

/** Longest text that may be searched for. */
export const longestNeedle = 1000;

/** Null for a text that is too long to look for: then it is neither found nor not found. */
export function containsTest(expected: unknown): ValueTest | null {
  const needle = needleOf(expected);
  return needle === null ? null : new Search(needle);
}

/** One of several; a single value counts as a list of one. Null where one of them is too long. */
export function containsAnyTest(expected: unknown): ValueTest | null {
  if (!Array.isArray(expected)) return containsTest(expected);
  const needles = expected.map(needleOf);
  const searches = needles.filter((needle) => needle !== null).map((needle) => new Search(needle));
  if (searches.length < needles.length) return null;
  return {
    matches: (value) => searches.some((search) => search.matches(value)),
    stepsFor: (length) => searches.reduce((steps, search) => steps + search.stepsFor(length), 0),
  };
}

export function startsWithTest(expected: unknown): ValueTest | null {
  const start = needleOf(expected);
  return start === null ? null : quickTest(({ searched }) => searched.startsWith(start));
}

export function endsWithTest(expected: unknown): ValueTest | null {
  const end = needleOf(expected);
  return end === null ? null : quickTest(({ searched }) => searched.endsWith(end));
}

function needleOf(expected: unknown): string | null {
  const text = asciiLower(textForm(expected));
  return text.length > longestNeedle ? null : text;
}

/** Up to this product of lengths the engine's own search is quicker, whatever the texts. */
const mostCompared = 10_000;

/**
 * Whether a text has the needle in it, in time in proportion to the text. The engine's own search takes as long as text times
 * needle for texts that were made for it, so that it is asked for short ones only.
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
    return 2 + (this.#isShort(length) ? stepsToCompare(length * this.#needle.length) : length / 4);
  }

  #isShort(length: number): boolean {
    return this.#needle.length <= 1 || length * this.#needle.length <= mostCompared;
  }
}

/** For each beginning of the needle: how long the longest shorter beginning is that it ends with (Knuth, Morris, Pratt). */
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
 * Equality, blind to case, by text form, so that 5 equals "5"; with a list, equality to one of its members. Under matching
 * version 1 a value that reads as a boolean asks only whether the property is true: "false" matches everything that is not.
 */
export function exactTest(expected: unknown, matchingVersion: 1 | 2): ValueTest {
  if (Array.isArray(expected) && expected.length === 0) return quickTest(({ isTrue }) => isTrue);
  if (matchingVersion === 1 && isBooleanLike(expected)) {
    const wanted = isTruthy(expected);
    return quickTest(({ isTrue }) => isTrue === wanted);
  }
  if (!Array.isArray(expected)) return new EqualTest(textForm(expected).toLowerCase());
  const texts = new Set(expected.map((text) => textForm(text).toLowerCase()));
  const [only = ''] = texts;
  if (texts.size === 1) return new EqualTest(only);
  const longest = expected.reduce<number>((most, text) => Math.max(most, textForm(text).length), 0);
  return {
    matches: ({ folded }) => texts.has(folded),
    stepsFor: (length) => stepsToCompare(Math.min(length, longest)),
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
    return stepsToCompare(Math.min(length, this.#text.length));
  }
}

/** Of longer texts nothing is said, neither found nor not found. */
const longestText = 16 * 1024;
/** The time a pattern takes grows with its size (what it repeats counts as often) times the text: so much is 40 ms. */
const maxSteps = 3_000_000;

/**
 * A pattern in RE2's syntax, found anywhere in the text. It takes time in proportion to the text, whatever the pattern;
 * look-around and back-references, which cannot be had so, make it
 * invalid: then it is neither found nor not found.
 */
export function patternTests(expected: unknown): { isFound: ValueTest; isNotFound: ValueTest } {
  const pattern = sharedPattern(textForm(expected));
  /** None where nothing is tried. */
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
