/**
 * Reads JSON without parsing its values, so that large numbers, the order of keys and the exact bytes remain as the
 * server sent them. The code is not recursive, so deeply nested JSON cannot overflow the stack.
 */

/**
 * Returns the keys and values of a JSON object, with the values as JSON text. Returns an empty list for JSON that is
 * not an object.
 */
export function parseMembers(text: string): [name: string, json: string][] {
  const members: [string, string][] = [];
  let at = skipSpace(text, 0);
  if (text[at] !== '{') return members;
  at = skipSpace(text, at + 1);
  while (text[at] === '"') {
    const nameEnd = endOfString(text, at);
    const name = JSON.parse(text.slice(at, nameEnd)) as string;
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = endOfValue(text, start);
    members.push([name, text.slice(start, end)]);
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return members;
}

export const findMember = (text: string, name: string) => parseMembers(text).find(([own]) => own === name)?.[1];

/** Formats JSON with line breaks and indentation. Truncated JSON is formatted up to its end. */
export function indentJson(text: string): string {
  const pieces: string[] = [];
  let depth = 0;
  const newLine = () => pieces.push('\n', '  '.repeat(depth));
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    const character = text[at] as string;
    if (character === '{' || character === '[') {
      pieces.push(character);
      const next = skipSpace(text, at + 1);
      if (text[next] === '}' || text[next] === ']') {
        pieces.push(text[next] as string);
        at = next + 1;
        continue;
      }
      depth += 1;
      newLine();
      at += 1;
    } else if (character === '}' || character === ']') {
      depth -= 1;
      newLine();
      pieces.push(character);
      at += 1;
    } else if (character === ',') {
      pieces.push(character);
      newLine();
      at += 1;
    } else if (character === ':') {
      pieces.push(': ');
      at += 1;
    } else {
      const end = character === '"' ? endOfString(text, at) : endOfScalar(text, at);
      pieces.push(text.slice(at, end));
      at = end;
    }
  }
  return pieces.join('');
}

const spaces = ' \t\n\r';

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && spaces.includes(text[at] as string)) at += 1;
  return at;
}

function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function endOfScalar(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && !',:]} \t\n\r'.includes(text[at] as string)) at += 1;
  return at;
}

function endOfValue(text: string, from: number): number {
  if (text[from] === '"') return endOfString(text, from);
  if (text[from] !== '{' && text[from] !== '[') return endOfScalar(text, from);
  let depth = 0;
  for (let at = from; at < text.length; ) {
    const character = text[at] as string;
    if (character === '"') {
      at = endOfString(text, at);
      continue;
    }
    at += 1;
    if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return text.length;
}

/** Escapes invisible characters: control characters, and characters that change the writing direction. */
export const escapeInvisible = (text: string) =>
  text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (character) =>
    character === '\n' || character === '\t'
      ? character
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Formats a JSON value for display. Strings are shown without quotes. */
export const formatJsonValue = (json: string) => (json.startsWith('"') ? (JSON.parse(json) as string) : json);

/**
 * Returns the URL if the JSON value is a string with an HTTP or HTTPS URL. All other schemes, such as `javascript:`,
 * are ignored, so they cannot become links.
 */
export function parseHttpUrl(json: string): string | undefined {
  if (!/^"https?:\/\//i.test(json) || json.length > 4000) return undefined;
  const text = formatJsonValue(json);
  return URL.canParse(text) ? text : undefined;
}
