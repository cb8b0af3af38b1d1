// Filters that compare versions such as 1.2.3.

import {
  compareReleases,
  compareVersions,
  longestVersion,
  parseVersion,
  type SemanticVersion,
  toComparableText,
} from '../values.ts';
import type { ValueTest } from './value-operators.ts';

/** A condition on a version, as plain data that can be applied both to values in memory and to database columns. */
export type VersionRule =
  | { compared: '=' | '<>' | '>' | '>=' | '<' | '<='; bound: SemanticVersion }
  /**
   * A range from `from` up to but not including `before`. Null means that the range has no bound on that side. Only
   * major, minor and patch are compared. A pre-release matches only if `withPreReleases` is set and its major, minor
   * and patch equal those of `from`.
   */
  | { from: SemanticVersion | null; before: SemanticVersion | null; withPreReleases: boolean };

const comparisons = {
  semver_eq: '=',
  semver_neq: '<>',
  semver_gt: '>',
  semver_gte: '>=',
  semver_lt: '<',
  semver_lte: '<=',
} as const;

export type VersionOperator = keyof typeof comparisons | 'semver_tilde' | 'semver_caret' | 'semver_wildcard';

/**
 * Returns the rule for an operator and a version. Returns null if the operator does not compare versions, or if
 * `expected` is not a version, in which case nothing matches.
 */
export function createVersionRule(operator: string, expected: unknown): VersionRule | null {
  if (operator === 'semver_wildcard') return wildcardRule(expected);
  const from = parseVersion(expected);
  if (from === null) return null;
  if (operator === 'semver_tilde') return rangeFrom(from, { ...from, minor: from.minor + 1n, patch: 0n });
  if (operator === 'semver_caret') return rangeFrom(from, nextIncompatible(from));
  if (!Object.hasOwn(comparisons, operator)) return null;
  return { compared: comparisons[operator as keyof typeof comparisons], bound: from };
}

/** Returns a range that includes pre-releases only if its start is a pre-release. */
function rangeFrom(from: SemanticVersion, before: SemanticVersion): VersionRule {
  return { from, before, withPreReleases: from.preRelease.length > 0 };
}

/** Parses `*`, `1.*` or `1.2.*`. Without a star, works like the caret operator. Pre-releases never match. */
function wildcardRule(expected: unknown): VersionRule | null {
  const text = toComparableText(expected).trim().replace(/^v/, '').trim();
  if (!text.includes('*')) return releases(parseVersion(text), nextIncompatible);
  const [, major, minor] = /^(?:(\d+)\.)?(?:(\d+)\.)?\*(?:\.\*){0,2}$/.exec(text) ?? [];
  if (text.split('.').length > 3) return null;
  if (/^\*(?:\.\*){0,2}$/.test(text)) return { from: null, before: null, withPreReleases: false };
  if (major === undefined) return null;
  if (minor === undefined) return releases(parseVersion(major), (from) => ({ ...from, major: from.major + 1n }));
  return releases(parseVersion(`${major}.${minor}`), (from) => ({ ...from, minor: from.minor + 1n }));
}

function releases(from: SemanticVersion | null, end: (from: SemanticVersion) => SemanticVersion): VersionRule | null {
  return from && { from, before: end(from), withPreReleases: false };
}

function nextIncompatible(from: SemanticVersion): SemanticVersion {
  if (from.major > 0n) return { ...from, major: from.major + 1n, minor: 0n, patch: 0n };
  if (from.minor > 0n) return { ...from, minor: from.minor + 1n, patch: 0n };
  return { ...from, patch: from.patch + 1n };
}

export function createVersionTest(operator: VersionOperator, expected: unknown): ValueTest | null {
  const rule = createVersionRule(operator, expected);
  if (rule === null) return null;
  return {
    matches: ({ version }) => version !== null && holds(rule, version),
    stepsFor: (length) => 4 * Math.min(length, longestVersion),
  };
}

function holds(rule: VersionRule, version: SemanticVersion): boolean {
  if ('compared' in rule) return holdsFor(rule.compared, compareVersions(version, rule.bound));
  const { from, before, withPreReleases } = rule;
  const isAllowed =
    version.preRelease.length === 0 || (withPreReleases && from !== null && compareReleases(version, from) === 0);
  return (
    isAllowed &&
    (from === null || compareVersions(version, from) >= 0) &&
    (before === null || compareReleases(version, before) < 0)
  );
}

function holdsFor(comparison: '=' | '<>' | '>' | '>=' | '<' | '<=', order: number): boolean {
  switch (comparison) {
    case '=':
      return order === 0;
    case '<>':
      return order !== 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    default:
      return comparison satisfies never;
  }
}
