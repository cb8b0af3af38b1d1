/** Goes through a text from its beginning, as far as it is what was asked for. */
export interface JsonCursor {
  /** @param pattern sticky. */
  take(pattern: RegExp): boolean;
  takeCharacter(character: string | undefined): boolean;
  /** Of a faulty string it takes what stands before the fault. */
  takeString(): boolean;
  skipSpace(): void;
  /** What stands here. */
  character(): string | undefined;
  place(): number;
}

const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

export function createJsonCursor(text: string): JsonCursor {
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
      // Not a number at the end of the text.
      if (!(code >= 0x20)) return false;
      at += 1;
      if (code === 0x22) return true;
    }
  }

  return { take, takeCharacter, takeString, skipSpace, character: () => text[at], place: () => at };
}
