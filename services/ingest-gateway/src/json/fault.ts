/** The position at which a string stops being valid JSON. Lines and columns start at 1. */
interface JsonFault {
  line: number;
  column: number;
  /** Whether the string is valid JSON up to its end, but incomplete. */
  isCutShort: boolean;
}

/**
 * Finds the first invalid character. The messages of `JSON.parse` are not used, because they depend on the version of
 * Node.js and quote the text. `NaN` and infinities are accepted, as in events.
 * @param text a string that `JSON.parse` rejects
 */
export function findJsonFault(text: string): JsonFault {
  const at = endOfJson(text);
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf('\n') + 1;
  let line = 1;
  for (let found = before.indexOf('\n'); found >= 0; found = before.indexOf('\n', found + 1)) line += 1;
  return { line, column: at - lineStart + 1, isCutShort: at === text.length };
}

const scalar = /true|false|null|NaN|-?Infinity|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** The token that must come next. `first item` and `first name` also allow the closing bracket. */
type Expected = 'value' | 'first item' | 'name' | 'first name' | 'comma or end';

/**
 * Returns the length of the valid JSON at the start of the text. Not recursive, because deep nesting would overflow the
 * stack.
 */
function endOfJson(text: string): number {
  const closings: ('}' | ']')[] = [];
  const { take, takeCharacter, takeString, skipSpace, character, place } = createJsonCursor(text);
  let expected: Expected = 'value';

  function takeValue(): boolean {
    if (takeCharacter('{')) {
      closings.push('}');
      expected = 'first name';
    } else if (takeCharacter('[')) {
      closings.push(']');
      expected = 'first item';
    } else {
      expected = 'comma or end';
      return character() === '"' ? takeString() : take(scalar);
    }
    return true;
  }

  function takeName(): boolean {
    expected = 'value';
    if (!takeString()) return false;
    skipSpace();
    return takeCharacter(':');
  }

  function takeEnd(): boolean {
    if (!takeCharacter(closings.at(-1))) return false;
    closings.pop();
    expected = 'comma or end';
    return true;
  }

  function takeComma(): boolean {
    expected = closings.at(-1) === '}' ? 'name' : 'value';
    return closings.length > 0 && takeCharacter(',');
  }

  const steps: Record<Expected, () => boolean> = {
    value: takeValue,
    'first item': () => takeEnd() || takeValue(),
    name: takeName,
    'first name': () => takeEnd() || takeName(),
    'comma or end': () => takeEnd() || takeComma(),
  };
  do skipSpace();
  while (steps[expected]());
  return place();
}

/** A position in a string. Each function advances the position only if the string matches. */
interface JsonCursor {
  /**
   * Skips what a pattern matches at the current position. Returns false if it does not match.
   * @param pattern a sticky regular expression
   */
  take(pattern: RegExp): boolean;
  takeCharacter(character: string | undefined): boolean;
  /** If the string is invalid, advances to its first invalid character. */
  takeString(): boolean;
  skipSpace(): void;
  character(): string | undefined;
  place(): number;
}

const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

function createJsonCursor(text: string): JsonCursor {
  let at = 0;

  function take(pattern: RegExp): boolean {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  }

  function skipSpace(): void {
    for (;;) {
      const code = text.charCodeAt(at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      at += 1;
    }
  }

  function takeCharacter(character: string | undefined): boolean {
    if (text[at] !== character || character === undefined) return false;
    at += 1;
    return true;
  }

  function takeString(): boolean {
    if (!takeCharacter('"')) return false;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === 0x5c) {
        if (!take(escaped)) return false;
        continue;
      }
      // At the end of the text, the character is undefined, which makes the comparison false.
      if (!(code >= 0x20)) return false;
      at += 1;
      if (code === 0x22) return true;
    }
  }

  return { take, takeCharacter, takeString, skipSpace, character: () => text[at], place: () => at };
}
