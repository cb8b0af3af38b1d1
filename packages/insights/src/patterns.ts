// Validates regular expressions against a subset of RE2 that all engines interpret in the same way.

/** Maximum pattern length. No realistic filter needs a longer pattern. */
const maxLength = 200;
/**
 * Maximum number of repetitions in a pattern, because compiling the pattern expands them. The counts of nested
 * repetitions are multiplied. PostgreSQL allows at most 255 in a single repetition.
 */
const maxRepetitions = 1000;
const maxRepetition = 255;
const noNul = 'A regular expression cannot contain null characters.';
/** Escapes that PostgreSQL, RE2 and JavaScript all support. `\b` and `\B` are only allowed outside brackets. */
const commonEscape = /^\\(?:[dDwWsSbBfnrtv]|x[0-9A-Fa-f]{2}|[^A-Za-z0-9])$/;

/**
 * Returns a sentence that says why a regular expression is not valid, or null if it is valid. Matching a valid pattern
 * needs no backtracking, so it takes time proportional to the length of the string. Limits on repetitions bound the
 * time to compile the pattern.
 */
export function findPatternProblem(text: string): string | null {
  if (text === '') return 'A regular expression must not be empty.';
  if (text.length > maxLength) return `A regular expression can have at most ${maxLength} characters.`;
  if (text.includes('\0')) return noNul;
  const source = text.replace(/^\(\?i\)/, '');
  // Remove literals, escapes and bracket expressions, because they contain no operators.
  const bare = source.replace(/\\[\s\S]/g, '').replace(/\[\^?\]?[^\]]*\]/g, 'x');
  if (/\\[1-9]/.test(source.replaceAll('\\\\', ''))) return 'Backreferences are not supported in regular expressions.';
  for (const [one] of source.matchAll(/\\(?:x[0-9A-Fa-f]{0,2}|[\s\S])/g)) {
    if (one === '\\0' || one === '\\x00') return noNul;
    if (!commonEscape.test(one)) return `The escape ${one} is not supported in regular expressions.`;
  }
  for (const [bracket] of source.replace(/\\[^bB]/gs, 'x').matchAll(/\[\^?\]?[^\]]*\]?/g)) {
    if (/^\[\^?\]/.test(bracket)) return 'Brackets in a regular expression must not be empty.';
    if (/\\[bB]/.test(bracket))
      return 'The escapes \\b and \\B are not supported inside brackets of a regular expression.';
  }
  if (/\(\?(?!:)/.test(bare)) {
    return 'Regular expressions only support the special groups (?:…), and (?i) at the very beginning.';
  }
  if (/\[[.=:]/.test(bare)) return 'The regular expression contains an unclosed bracket.';
  const counts = [...bare.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].map(([, least = '', most]) =>
    Math.max(1, Number(most ?? '') || Number(least)),
  );
  if (counts.some((count) => count > maxRepetition))
    return `A repetition in a regular expression must not exceed ${maxRepetition}.`;
  const repetitions = counts.reduce((product, count) => product * count, 1);
  if (repetitions > maxRepetitions)
    return `Nested repetitions in a regular expression must not exceed ${maxRepetitions} in total.`;
  try {
    new RegExp(source, 'u');
    return null;
  } catch {
    return 'The regular expression is not valid.';
  }
}

/** Converts a valid pattern to PostgreSQL's syntax, which uses different escapes for `\b`, `\B` and `\z`. */
export function toPostgresPattern(text: string): string {
  const words: Record<string, string> = { '\\b': '\\y', '\\B': '\\Y', '\\z': '\\Z' };
  const [flags = ''] = /^\(\?i\)/.exec(text) ?? [];
  const source = text.slice(flags.length).replace(/\\[\s\S]/g, (escaped) => words[escaped] ?? escaped);
  // The group prevents PostgreSQL from interpreting the start of the pattern as an option (`***=`).
  return `${flags}(?:${source})`;
}
