import { AppError } from '@millrace/errors';

/**
 * Refuses what PostgreSQL cannot store, wherever in the value it is.
 *
 * @param root parsed JSON of a text without excess (`jsonExcess`): this goes as deep as the value does. Takes no memory
 *   for what is in order.
 * @throws AppError `invalid` for a NUL character or half a surrogate pair, which is no text in UTF-8, with the field's name.
 */
export function checkJson(root: unknown): void {
  const path: string[] = [];
  const character = findUnstorable(root, path);
  if (character === null) return;
  path.reverse();
  throw character === '\0' ? nullCharacterError(path) : surrogateError(character, path);
}

/**
 * The first character that cannot be stored.
 * @param path gets the names that lead to it, the innermost first.
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

/** The refusal of a text that holds a NUL character. */
export function nullCharacterError(path: string[]): AppError {
  return new AppError('invalid', 'Null characters are not allowed.', {
    code: 'null_characters_not_allowed',
    attr: path.length > 0 ? path.join('__') : null,
  });
}
