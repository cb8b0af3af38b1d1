/**
 * Checks JSON from untrusted clients. JSON with too many levels or values is rejected before parsing, and JSON that
 * PostgreSQL cannot store is rejected after parsing.
 */

import { AppError } from '@millrace/runtime';

/**
 * Rejects a value if any string in it contains a character that PostgreSQL cannot store: a NUL character, or a lone
 * surrogate, which is not valid in UTF-8.
 * @param root parsed JSON within the limits of `findExceededJsonLimit`, because the recursion is as deep as the value.
 *   Valid values take no additional memory.
 * @throws AppError `invalid` naming the field
 */
export function checkJson(root: unknown): void {
  const path: string[] = [];
  const character = findUnstorable(root, path);
  if (character === null) return;
  path.reverse();
  throw character === '\0' ? nullCharacterError(path) : surrogateError(character, path);
}

/**
 * Returns the first character that cannot be stored.
 * @param path receives the keys that lead to that character, innermost first
 */
function findUnstorable(value: unknown, path: string[]): string | null {
  if (typeof value === 'string') return unstorableOf(value);
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const character = findUnstorable(value[index], path);
      if (character === null) continue;
      path.push(String(index));
      return character;
    }
    return null;
  }
  for (const key in value) {
    const ofName = unstorableOf(key);
    if (ofName !== null) return ofName;
    const character = findUnstorable((value as Record<string, unknown>)[key], path);
    if (character === null) continue;
    path.push(key);
    return character;
  }
  return null;
}

function unstorableOf(text: string): string | null {
  if (text.includes('\0')) return '\0';
  return /\p{Surrogate}/u.exec(text)?.[0] ?? null;
}

function surrogateError(half: string, path: string[]): AppError {
  const code = half.charCodeAt(0).toString(16).toUpperCase();
  return new AppError('invalid', `Surrogate characters are not allowed: U+${code}.`, {
    code: 'surrogate_characters_not_allowed',
    attr: path.length > 0 ? path.join('__') : null,
  });
}

export function nullCharacterError(path: string[]): AppError {
  return new AppError('invalid', 'Null characters are not allowed.', {
    code: 'null_characters_not_allowed',
    attr: path.length > 0 ? path.join('__') : null,
  });
}

/** The nesting limit protects recursive functions. No valid request contains as many values as `values`. */
const most = { levels: 100, values: 50_000 };

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/**
 * Returns which limit the JSON exceeds, as a sentence fragment, or null if it is within all limits.
 *
 * The check runs before parsing, because a parsed object such as `{}` can take a hundred times the memory of its JSON,
 * and objects with many different keys are slow to parse. The check makes one pass and stores nothing. It leaves the
 * detection of invalid JSON to the parser.
 */
export function findExceededJsonLimit(bytes: Uint8Array): string | null {
  let levels = 0;
  let values = 1;
  let isInText = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (isInText) {
      if (byte === backslash) at += 1;
      else if (byte === quote) isInText = false;
      continue;
    }
    if (byte === quote) isInText = true;
    else if (byte === comma) values += 1;
    else if (byte === closeList || byte === closeObject) levels -= 1;
    else if (byte === openList || byte === openObject) {
      levels += 1;
      values += 1;
      if (levels > most.levels) return `more than ${most.levels} levels of nesting`;
    }
  }
  return values > most.values ? `more than ${most.values} values` : null;
}

/**
 * Parses JSON from an untrusted client.
 * @throws AppError `invalid` (`parse_error`) for invalid JSON, or for too many levels or values
 */
export function parseJson(bytes: Buffer): unknown {
  const excess = findExceededJsonLimit(bytes);
  if (excess !== null) throw new AppError('invalid', `JSON parse error - ${excess}`, { code: 'parse_error' });
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    // Do not pass this error on as the cause. Its message quotes the body, and the body must not be logged.
    const reason = cause instanceof SyntaxError ? cause.message.slice(0, 200) : 'the body is not valid UTF-8';
    throw new AppError('invalid', `JSON parse error - ${reason}`, { code: 'parse_error' });
  }
}
