import { AppError } from '@millrace/errors';
import { isPlainObject } from './schema-shape.ts';

const maxDepth = 100;

/**
 * Refuses what PostgreSQL cannot store or a recursive walk cannot survive, wherever in the value it is.
 *
 * @throws AppError `invalid` for a NUL character or half a surrogate pair, which is no text in UTF-8 (both with the
 *   field's name), and for more than 100 levels.
 */
export function checkJson(root: unknown): void {
  const pending: { value: unknown; path: string[] }[] = [{ value: root, path: [] }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, path } = next;
    if (typeof value === 'string') checkText(value, path);
    if (typeof value !== 'object' || value === null) continue;
    if (path.length >= maxDepth) {
      throw new AppError('invalid', `JSON parse error - more than ${maxDepth} levels of nesting`, {
        code: 'parse_error',
      });
    }
    for (const [key, child] of Object.entries(value)) {
      if (isPlainObject(value)) checkText(key, path);
      pending.push({ value: child, path: [...path, key] });
    }
  }
}

function checkText(text: string, path: string[]): void {
  if (text.includes('\0')) throw nullCharacterError(path);
  const half = /\p{Surrogate}/u.exec(text)?.[0];
  if (half === undefined) return;
  const code = half.charCodeAt(0).toString(16).toUpperCase();
  throw new AppError('invalid', `Surrogate characters are not allowed: U+${code}.`, {
    code: 'surrogate_characters_not_allowed',
    attr: path.length > 0 ? path.join('__') : null,
  });
}

/** The refusal of a text that holds a NUL character. */
export function nullCharacterError(path: string[]): AppError {
  return new AppError('invalid', 'Null characters are not allowed.', {
    code: 'null_characters_not_allowed',
    attr: path.length > 0 ? path.join('__') : null,
  });
}
