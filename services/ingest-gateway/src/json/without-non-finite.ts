const nonFinite = /-?Infinity|NaN/y;
const noteworthy = /["NI-]/g;

/**
 * JSON text with null instead of `NaN`, `Infinity` and `-Infinity`, which are no JSON and which Python writes all the
 * same; null when there are none. What stands in strings is left alone.
 */
export function withoutNonFinite(text: string): string | null {
  if (!text.includes('NaN') && !text.includes('Infinity')) return null;
  const pieces: string[] = [];
  let copied = 0;
  noteworthy.lastIndex = 0;
  for (let found = noteworthy.exec(text); found !== null; found = noteworthy.exec(text)) {
    const at = found.index;
    if (text[at] === '"') {
      noteworthy.lastIndex = endOfString(text, at);
      continue;
    }
    nonFinite.lastIndex = at;
    if (!nonFinite.test(text)) continue;
    pieces.push(text.slice(copied, at), 'null');
    copied = nonFinite.lastIndex;
    noteworthy.lastIndex = copied;
  }
  if (copied === 0) return null;
  return pieces.join('') + text.slice(copied);
}

const quoteOrBackslash = /["\\]/g;

/** @param start at the opening quote. @returns the position after the closing one, or the end of the text. */
function endOfString(text: string, start: number): number {
  quoteOrBackslash.lastIndex = start + 1;
  for (let found = quoteOrBackslash.exec(text); found !== null; found = quoteOrBackslash.exec(text)) {
    if (text[found.index] === '"') return found.index + 1;
    quoteOrBackslash.lastIndex = found.index + 2;
  }
  return text.length;
}
