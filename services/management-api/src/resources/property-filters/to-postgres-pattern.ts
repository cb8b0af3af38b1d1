/** Longer patterns are programs. */
const maxLength = 200;
/** Repetitions are unrolled when a pattern is compiled; nested ones multiply. */
const maxRepetitions = 1000;

/**
 * Turns a regular expression as the reference takes it (RE2, so without back references and looking around) into one of
 * PostgreSQL's. What is left is matched without going back, so a pattern costs time in proportion to the text; bounded
 * repetitions bound what compiling it costs.
 *
 * @returns the pattern, or a sentence on what is wrong with it.
 */
export function toPostgresPattern(text: string): { pattern: string } | { problem: string } {
  if (text === '') return { problem: 'A regular expression may not be empty.' };
  if (text.length > maxLength) return { problem: `A regular expression has at most ${maxLength} characters.` };
  const [flags = '', ignoresCase] = /^\(\?(i)\)/.exec(text) ?? [];
  const source = text.slice(flags.length);
  const problem = findProblem(source);
  if (problem !== null) return { problem };
  // In a group of its own, so that nothing in it is read as an option of PostgreSQL's (`***=`).
  return { pattern: `${ignoresCase ? '(?i)' : ''}(?:${inPostgresWords(source)})` };
}

function findProblem(source: string): string | null {
  // Literal characters, escaped ones and what stands in brackets mean no operator.
  const bare = source.replace(/\\[\s\S]/g, '').replace(/\[\^?\]?[^\]]*\]/g, 'x');
  if (/\\[1-9]/.test(source.replaceAll('\\\\', ''))) return 'Back references are not supported in regular expressions.';
  if (/\(\?(?!:)/.test(bare))
    return 'Of groups that begin with (? only (?: is supported, and (?i) at the very beginning.';
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

/** `\b`, `\B` and `\z` are other letters there. */
function inPostgresWords(source: string): string {
  const words: Record<string, string> = { '\\b': '\\y', '\\B': '\\Y', '\\z': '\\Z' };
  return source.replace(/\\[\s\S]/g, (escaped) => words[escaped] ?? escaped);
}
