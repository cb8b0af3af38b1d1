import { textForm } from './forms.ts';

/** A version by semver.org, with build metadata as the last resort of its order. */
export interface SemanticVersion {
  major: bigint;
  minor: bigint;
  patch: bigint;
  preRelease: string[];
  build: string[];
}

/** What is longer is no version. */
export const longestVersion = 1000;
const largestPart = 2n ** 64n - 1n;
const preReleasePart = /^(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)$/;
const buildPart = /^[\dA-Za-z-]+$/;

/**
 * Reads what people write as a version: a leading `v`, leading zeros and missing parts are let through, a fourth part or
 * text is not.
 */
export function parseVersion(value: unknown): SemanticVersion | null {
  const whole = textForm(value);
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

/** Negative, zero or positive, as for sorting: the precedence of semver.org, then build metadata. */
export function compareVersions(a: SemanticVersion, b: SemanticVersion): number {
  return compareReleases(a, b) || comparePreReleases(a.preRelease, b.preRelease) || compareParts(a.build, b.build);
}

/** By major, minor and patch alone. */
export function compareReleases(a: SemanticVersion, b: SemanticVersion): number {
  for (const part of ['major', 'minor', 'patch'] as const) {
    if (a[part] !== b[part]) return a[part] < b[part] ? -1 : 1;
  }
  return 0;
}

/** A version without a pre-release comes after every pre-release of it. */
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

/** Numbers come before text and are compared as numbers. */
function comparePart(a: string, b: string): number {
  const [aIsNumber, bIsNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (aIsNumber && bIsNumber) {
    const difference = BigInt(a) - BigInt(b);
    return difference === 0n ? a.length - b.length : Number(difference > 0n) * 2 - 1;
  }
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}
