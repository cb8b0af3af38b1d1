/**
 * Lengths of names and ids are counted in characters as PostgreSQL counts them (code points), not in UTF-16 units:
 * an emoji is one, and cutting never leaves half of one behind.
 */
export function isLongerThan(text: string, limit: number): boolean {
  // A text has at most as many code points as UTF-16 units, and at least half as many.
  if (text.length <= limit) return false;
  if (text.length > limit * 2) return true;
  let count = 0;
  for (const _ of text) {
    count += 1;
    if (count > limit) return true;
  }
  return false;
}

/** The first `limit` characters. */
export function cutText(text: string, limit: number): string {
  if (!isLongerThan(text, limit)) return text;
  // `limit` code points take at most twice as many units; what is cut in half there lies behind the limit.
  return Array.from(text.slice(0, limit * 2))
    .slice(0, limit)
    .join('');
}

/** Longest distinct id, group type and group key (reference/event-processing.md sections 1, 8 and 11.1). */
export const maxIdCharacters = 400;

/** Longest stored event name (reference/event-processing.md section 7). */
export const maxEventNameCharacters = 200;
