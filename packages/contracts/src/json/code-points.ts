// Names and ids are measured in code points, as PostgreSQL counts characters, not in UTF-16 units: an emoji is one.

/** Whether a text has more code points than `limit`. */
export function isLongerThan(text: string, limit: number): boolean {
  // A text has at most as many code points as UTF-16 units, and at least half as many.
  if (text.length <= limit) return false;
  return text.length > limit * 2 || endOf(text, limit) < text.length;
}

/** The first `limit` code points of a text; never half of a surrogate pair. */
export function cutToCodePoints(text: string, limit: number): string {
  return text.length <= limit ? text : text.slice(0, endOf(text, limit));
}

/** Where the first `limit` code points end. */
function endOf(text: string, limit: number): number {
  let end = 0;
  for (let count = 0; count < limit && end < text.length; count++) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return end;
}
