import {
  compareReleases,
  compareVersions,
  longestVersion,
  parseVersion,
  type SemanticVersion,
  textForm,
} from '../values.ts';
import type { ValueTest } from './value-test.ts';

/** Null for a value that is no version: then nothing matches. */
export function compareVersionsTest(expected: unknown, holds: (order: number) => boolean): ValueTest | null {
  const bound = parseVersion(expected);
  return bound && versionTest((version) => holds(compareVersions(version, bound)));
}

/** `~1.2.3`: from there to before the next minor. */
export function tildeTest(expected: unknown): ValueTest | null {
  const from = parseVersion(expected);
  return from && rangeTest(from, { ...from, minor: from.minor + 1n, patch: 0n });
}

/** `^1.2.3`: from there to before the next part that is not zero: what is meant to be compatible. */
export function caretTest(expected: unknown): ValueTest | null {
  const from = parseVersion(expected);
  return from && rangeTest(from, nextIncompatible(from));
}

/** `*`, `1.*`, `1.2.*`; without a star as caret. A pre-release never matches. */
export function wildcardTest(expected: unknown): ValueTest | null {
  const text = textForm(expected).trim().replace(/^v/, '').trim();
  if (!text.includes('*')) return releasesOnly(parseVersion(text), nextIncompatible);
  const [, major, minor] = /^(?:(\d+)\.)?(?:(\d+)\.)?\*(?:\.\*){0,2}$/.exec(text) ?? [];
  if (text.split('.').length > 3) return null;
  if (/^\*(?:\.\*){0,2}$/.test(text)) return versionTest((version) => version.preRelease.length === 0);
  if (major === undefined) return null;
  if (minor === undefined) return releasesOnly(parseVersion(major), (from) => ({ ...from, major: from.major + 1n }));
  return releasesOnly(parseVersion(`${major}.${minor}`), (from) => ({ ...from, minor: from.minor + 1n }));
}

function nextIncompatible(from: SemanticVersion): SemanticVersion {
  if (from.major > 0n) return { ...from, major: from.major + 1n, minor: 0n, patch: 0n };
  if (from.minor > 0n) return { ...from, minor: from.minor + 1n, patch: 0n };
  return { ...from, patch: from.patch + 1n };
}

/** A pre-release is in a range only if the range begins with one of the same three numbers. */
function rangeTest(from: SemanticVersion, before: SemanticVersion): ValueTest {
  return versionTest(
    (version) =>
      compareVersions(version, from) >= 0 &&
      compareReleases(version, before) < 0 &&
      (version.preRelease.length === 0 || (from.preRelease.length > 0 && compareReleases(version, from) === 0)),
  );
}

function releasesOnly(from: SemanticVersion | null, end: (from: SemanticVersion) => SemanticVersion): ValueTest | null {
  if (from === null) return null;
  const before = end(from);
  return versionTest(
    (version) =>
      version.preRelease.length === 0 && compareVersions(version, from) >= 0 && compareReleases(version, before) < 0,
  );
}

function versionTest(holds: (version: SemanticVersion) => boolean): ValueTest {
  return {
    matches: ({ version }) => version !== null && holds(version),
    stepsFor: (length) => 4 * Math.min(length, longestVersion),
  };
}
