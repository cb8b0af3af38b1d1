import { AppError } from '@millrace/errors';
import { findJsonFault } from './find-json-fault.ts';
import { withoutNonFinite } from './without-non-finite.ts';

/**
 * `JSON.parse` with an error that helps and repeats nothing of the text. A key called `__proto__` comes out as an
 * ordinary own property; who copies fields by assignment must mind it.
 *
 * @throws AppError `invalid` (`invalid_json`).
 */
export function parseJson(text: string): unknown {
  const parsed = tryParseJson(text);
  if (parsed !== undefined) return parsed;
  throw new AppError('invalid', `The body is not valid JSON: ${describeJsonFault(text)}.`, { code: 'invalid_json' });
}

/** Where text stops being JSON, in a few words: `wrong character, line 3, column 12`. */
export function describeJsonFault(text: string): string {
  const { line, column, isCutShort } = findJsonFault(text);
  return `${isCutShort ? 'it ends too early' : 'wrong character'}, line ${line}, column ${column}`;
}

/** Undefined when it is not JSON; `NaN` and infinities are null (docs/wire-rules.md#decoding-of-bodies). */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const repaired = withoutNonFinite(text);
    return repaired === null ? undefined : tryParseJson(repaired);
  }
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
