// Translates regular expressions and time formats. Both must be constants, because each engine receives a different
// translation.

import { findPatternProblem, toPostgresPattern } from '../../patterns.ts';
import { type Place, SqlProblem } from '../problem.ts';
import type { Expression } from '../tree.ts';
import { textConstant } from './values.ts';

interface Pattern {
  pattern: string | null;
  replacement: string | null | undefined;
  /** Name of the function that uses the pattern, for errors. */
  name: string;
}

/**
 * Returns the pattern and the optional replacement for PostgreSQL, followed by the pattern and the replacement for
 * ClickHouse.
 */
export function patternConstants({ pattern, replacement, name }: Pattern, place: Place): Expression[] {
  if (pattern === null) throw new SqlProblem(`The pattern of '${name}' must be a constant text.`, place);
  const problem = findPatternProblem(pattern);
  if (problem !== null) throw new SqlProblem(`The regular expression of '${name}' is not supported: ${problem}`, place);
  if (name !== 'match' && /[*+?}]\?/.test(pattern) && /[*+?}](?!\?)/.test(pattern.replace(/[*+?}]\?/g, '')))
    throw new SqlProblem('A regular expression cannot mix greedy and lazy repetitions.', place);
  if (name === 'splitByRegexp' && matchesNothing(pattern))
    throw new SqlProblem(`The regular expression of '${name}' must not match an empty text.`, place);
  const postgres = name === 'extract' || name === 'extractAll' ? extracting(pattern) : toPostgresPattern(pattern);
  const [flags = ''] = /^\(\?i\)/.exec(pattern) ?? [];
  const clickhouse = `${flags}(?s)(?:${pattern.slice(flags.length)})`;
  if (replacement === undefined) return [textConstant(postgres), textConstant(clickhouse)];
  if (replacement === null) throw new SqlProblem(`The replacement of '${name}' must be a constant text.`, place);
  // `\0` is the complete match. A backslash before any other character is ignored.
  const ofPostgres = replacement.replace(/\\([\s\S])|&/g, (found, letter) =>
    found === '&' ? '&' : letter === '0' ? '\\&' : /[1-9]/.test(letter) ? `\\${letter}` : `\\\\${letter}`,
  );
  return [postgres, ofPostgres, clickhouse, replacement].map(textConstant);
}

/**
 * Returns whether a supported pattern can match an empty string. The engines split strings differently at such a match.
 */
const matchesNothing = (pattern: string) =>
  /\\b/i.test(pattern) || new RegExp(pattern.replace(/^\(\?i\)/, '')).test('');

/** Makes PostgreSQL return the first group, or the complete match if there is no group. */
function extracting(pattern: string): string {
  const bare = pattern.replace(/\\[\s\S]/g, '').replace(/\[\^?\]?[^\]]*\]/g, 'x');
  return /\((?!\?)/.test(bare)
    ? toPostgresPattern(pattern)
    : toPostgresPattern(pattern).replace(/^(\(\?i\))?\(\?:/, '$1(');
}

/** Format specifiers of ClickHouse's formatDateTime, and their equivalents in PostgreSQL's to_char. */
const formatLetters: Record<string, string> = {
  Y: 'YYYY',
  y: 'YY',
  m: 'MM',
  d: 'DD',
  e: 'FMDD',
  H: 'HH24',
  h: 'HH12',
  I: 'HH12',
  i: 'MI',
  S: 'SS',
  s: 'SS',
  j: 'DDD',
  M: 'FMMonth',
  b: 'Mon',
  a: 'Dy',
  W: 'FMDay',
  p: 'AM',
  u: 'ID',
  G: 'IYYY',
  V: 'IW',
  F: 'YYYY-MM-DD',
  T: 'HH24:MI:SS',
  R: 'HH24:MI',
  Q: 'Q',
  c: 'MM',
  D: 'MM/DD/YY',
  r: 'HH12:MI AM',
  g: 'IY',
  n: '"\n"',
  t: '"\t"',
};

/** Returns the format for PostgreSQL and for ClickHouse. */
export function formatConstants(format: string | null, place: Place): Expression[] {
  if (format === null) throw new SqlProblem("The format of 'formatDateTime' must be a constant text.", place);
  const postgres = format.replace(/%([\s\S]?)|[^%]+/g, (found, letter?: string) => {
    if (letter === undefined) return `"${found.replace(/["\\]/g, '\\$&')}"`;
    if (letter === '%') return '"%"';
    const word = formatLetters[letter];
    if (word === undefined) throw new SqlProblem(`The format letter %${letter} is not supported.`, place);
    return word;
  });
  return [textConstant(postgres), textConstant(format)];
}
