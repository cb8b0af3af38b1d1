import { AppError } from '@millrace/errors';

/**
 * `JSON.parse` with an error that helps and repeats nothing of the text. A key called `__proto__` comes out as an
 * ordinary own property; who copies fields by assignment must mind it.
 *
 * @throws AppError `invalid` (`invalid_json`).
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AppError('invalid', `The body is not valid JSON: ${where((error as Error).message)}.`, {
      code: 'invalid_json',
    });
  }
}

/** The parser's message quotes the text, so only its position is taken over. */
function where(message: string): string {
  if (/end of JSON|Unterminated/i.test(message)) return 'it ends too early';
  const position = /at position (\d+)/.exec(message)?.[1];
  return position === undefined
    ? 'it does not start as JSON does, or has a wrong character'
    : `see character ${position}`;
}

const longNumericId = /("\$?distinct_id"\s*:\s*)(-?\d{16,})(?=\s*[,}])/g;

/**
 * Puts numeric distinct ids with 16 digits and more into quotes. A JavaScript number cannot hold them, and two people
 * whose ids differ in the last digit would become one. A quote inside a JSON string is always escaped, so the pattern
 * meets real fields only.
 */
export function quoteLongNumericIds(text: string): string {
  return text.replace(longNumericId, '$1"$2"');
}
