// Functions that measure and truncate strings in code points, as PostgreSQL does, and not in UTF-16 code units. An
// emoji that is one code point counts as one.

export function isLongerThan(text: string, limit: number): boolean {
  // A string has at most as many code points as UTF-16 code units, and at least half as many.
  if (text.length <= limit) return false;
  return text.length > limit * 2 || endOf(text, limit) < text.length;
}

/** Returns the first `limit` code points of a string, without splitting a surrogate pair. */
export function cutToCodePoints(text: string, limit: number): string {
  return text.length <= limit ? text : text.slice(0, endOf(text, limit));
}

function endOf(text: string, limit: number): number {
  let end = 0;
  for (let count = 0; count < limit && end < text.length; count++) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return end;
}
