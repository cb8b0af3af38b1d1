// Converts property values to the strings, numbers, booleans and versions that filters compare.

import { isObject } from '@millrace/contracts';

/**
 * Returns the string that operators compare. Strings are unchanged. All other values become compact JSON with object
 * keys sorted by code point. A `1.0` in a request becomes `1`, because JSON.parse does not distinguish the two numbers.
 */
export function toComparableText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return String(value);
  return compactJson(value);
}

function compactJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(compactJson).join(',')}]`;
  if (!isObject(value)) return typeof value === 'string' ? JSON.stringify(value) : String(value);
  const keys = Object.keys(value);
  // JavaScript's default order is much faster, and differs only for characters above 0xd7ff.
  const members = keys.every((key) => /^[\0-\ud7ff]*$/.test(key)) ? keys.sort() : keys.sort(byCodePoint);
  return `{${members.map((key) => `${JSON.stringify(key)}:${compactJson(value[key])}`).join(',')}}`;
}

/**
 * Sorts strings by code point. JavaScript's default order compares UTF-16 code units, which would put code points above
 * 0xffff before some lower ones.
 */
function byCodePoint(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const one = a.charCodeAt(index);
    const other = b.charCodeAt(index);
    if (one !== other) return rank(one) - rank(other);
  }
  return a.length - b.length;
}

/** Returns a number by which surrogates, which encode code points above 0xffff, sort after all other code units. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit > 0xdfff ? unit - 0x800 : unit + 0x2000;
}

/**
 * The pattern is deliberately unambiguous. If two of its subexpressions could match the same digits, matching a million
 * digits could take hours.
 */
const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const infinite = /^[+-]?inf(?:inity)?$/i;

/**
 * Returns the number that numeric operators compare. Returns null for anything else, including blank strings,
 * hexadecimal numbers and booleans.
 */
export function toComparableNumber(value: unknown): number | null {
  if (typeof value === 'number') return value;
  const text = toComparableText(value);
  if (decimal.test(text)) return Number(text);
  if (infinite.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  return null;
}

/** Returns true for `true`, the string "true" in any case, and a list with no other elements than these. */
export function isTruthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isTruthy);
  return value === true || (typeof value === 'string' && value.toLowerCase() === 'true');
}

/** Returns true for a boolean, "true" or "false" in any case, and a list with no other elements than these. */
export function isBooleanLike(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isBooleanLike);
  return typeof value === 'boolean' || (typeof value === 'string' && /^(?:true|false)$/i.test(value));
}

/** A version as defined by semver.org. For sorting, build metadata decides between otherwise equal versions. */
export interface SemanticVersion {
  major: bigint;
  minor: bigint;
  patch: bigint;
  preRelease: string[];
  build: string[];
}

/** Maximum length of a version. A longer string is not treated as a version. */
export const longestVersion = 1000;
const largestPart = 2n ** 64n - 1n;
const preReleasePart = /^(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)$/;
const buildPart = /^[\dA-Za-z-]+$/;

/**
 * Parses a version leniently. Accepts a leading `v`, leading zeros and missing components. Rejects a fourth component
 * or any other text.
 */
export function parseVersion(value: unknown): SemanticVersion | null {
  const whole = toComparableText(value);
  if (whole.length > longestVersion) return null;
  const text = whole.trim().replace(/^v/, '').trim();
  const suffixAt = text.search(/[-+]/);
  const core = suffixAt < 0 ? text : text.slice(0, suffixAt);
  const numbers = parseNumbers(core);
  if (numbers === null) return null;
  const [major = 0n, minor = 0n, patch = 0n] = numbers;
  const suffix = suffixAt < 0 ? { preRelease: [], build: [] } : parseSuffix(text.slice(suffixAt));
  return suffix && { major, minor, patch, ...suffix };
}

function parseNumbers(core: string): bigint[] | null {
  const parts = core.split('.');
  if (parts.length > 3 || !parts.every((part) => /^\d{1,40}$/.test(part))) return null;
  const numbers = parts.map(BigInt);
  return numbers.every((number) => number <= largestPart) ? numbers : null;
}

function parseSuffix(suffix: string): Pick<SemanticVersion, 'preRelease' | 'build'> | null {
  const buildAt = suffix.indexOf('+');
  const preRelease = suffix.startsWith('-') ? suffix.slice(1, buildAt < 0 ? undefined : buildAt).split('.') : [];
  const build = buildAt < 0 ? [] : suffix.slice(buildAt + 1).split('.');
  if (!preRelease.every((part) => preReleasePart.test(part)) || !build.every((part) => buildPart.test(part)))
    return null;
  return { preRelease, build };
}

/** Compares versions for sorting, by semver.org's precedence and then by build metadata. */
export function compareVersions(a: SemanticVersion, b: SemanticVersion): number {
  return compareReleases(a, b) || comparePreReleases(a.preRelease, b.preRelease) || compareParts(a.build, b.build);
}

export function compareReleases(a: SemanticVersion, b: SemanticVersion): number {
  for (const part of ['major', 'minor', 'patch'] as const) {
    if (a[part] !== b[part]) return a[part] < b[part] ? -1 : 1;
  }
  return 0;
}

/** A version without a pre-release sorts after all its pre-releases. */
function comparePreReleases(a: string[], b: string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  return compareParts(a, b);
}

function compareParts(a: string[], b: string[]): number {
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const order = comparePart(a[index] ?? '', b[index] ?? '');
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Numeric identifiers are compared as numbers, and sort before all others. */
function comparePart(a: string, b: string): number {
  const [aIsNumber, bIsNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (aIsNumber && bIsNumber) {
    const difference = BigInt(a) - BigInt(b);
    return difference === 0n ? a.length - b.length : Number(difference > 0n) * 2 - 1;
  }
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}
