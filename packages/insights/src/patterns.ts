// Regular expressions as they are taken everywhere: a subset of RE2 that each engine reads alike.

/** Longer patterns are programs. */
const maxLength = 200;
/** Repetitions are unrolled when a pattern is compiled; nested ones multiply. PostgreSQL takes at most 255 for one of them. */
const maxRepetitions = 1000;
const maxRepetition = 255;
const noNul = 'A regular expression cannot contain null characters.';
/** Escapes that PostgreSQL, RE2 and JavaScript all know; `\b` and `\B` outside of brackets only. */
const commonEscape = /^\\(?:[dDwWsSbBfnrtv]|x[0-9A-Fa-f]{2}|[^A-Za-z0-9])$/;

/**
 * What is wrong with a regular expression, in a sentence; null when nothing is. What is left is matched without going back, so a
 * pattern costs time in proportion to the text; bounded repetitions bound what compiling it costs.
 */
export function patternProblem(text: string): string | null {
  if (text === '') return 'A regular expression must not be empty.';
  if (text.length > maxLength) return `A regular expression can have at most ${maxLength} characters.`;
  if (text.includes('\0')) return noNul;
  const source = text.replace(/^\(\?i\)/, '');
  // Literal characters, escaped ones and what stands in brackets mean no operator.
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

/** A pattern without a problem, as PostgreSQL writes it: `\b`, `\B` and `\z` are other letters there. */
export function postgresPattern(text: string): string {
  const words: Record<string, string> = { '\\b': '\\y', '\\B': '\\Y', '\\z': '\\Z' };
  const [flags = ''] = /^\(\?i\)/.exec(text) ?? [];
  const source = text.slice(flags.length).replace(/\\[\s\S]/g, (escaped) => words[escaped] ?? escaped);
  // In a group of its own, so that nothing in it is read as an option of PostgreSQL's (`***=`).
  return `${flags}(?:${source})`;
}
