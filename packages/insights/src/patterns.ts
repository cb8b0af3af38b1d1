// Regular expressions as they are taken everywhere: a subset of RE2 that each engine reads alike.

/** Longer patterns are programs. */
const maxLength = 200;
/** Repetitions are unrolled when a pattern is compiled; nested ones multiply. */
const maxRepetitions = 1000;

/**
 * What is wrong with a regular expression, in a sentence; null when nothing is. What is left is matched without going back, so a
 * pattern costs time in proportion to the text; bounded repetitions bound what compiling it costs.
 */
export function patternProblem(text: string): string | null {
  if (text === '') return 'A regular expression may not be empty.';
  if (text.length > maxLength) return `A regular expression has at most ${maxLength} characters.`;
  const source = text.replace(/^\(\?i\)/, '');
  // Literal characters, escaped ones and what stands in brackets mean no operator.
  const bare = source.replace(/\\[\s\S]/g, '').replace(/\[\^?\]?[^\]]*\]/g, 'x');
  if (/\\[1-9]/.test(source.replaceAll('\\\\', ''))) return 'Back references are not supported in regular expressions.';
  if (/\(\?(?!:)/.test(bare)) {
    return 'Of groups that begin with (? only (?: is supported, and (?i) at the very beginning.';
  }
  if (/\[[.=:]/.test(bare)) return 'The regular expression has an unfinished bracket.';
  const repetitions = [...bare.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].reduce(
    (product, [, least = '', most]) => product * Math.max(1, Number(most ?? '') || Number(least)),
    1,
  );
  if (repetitions > maxRepetitions) return `Repetitions may not make more than ${maxRepetitions} copies of anything.`;
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
