/** Longest distinct id, group type and group key (docs/ingestion-rules.md#before-the-rules). */
export const maxIdCharacters = 400;

/** Longest stored event name (docs/ingestion-rules.md#the-event-row). */
export const maxEventNameCharacters = 200;

/** A hash is remembered instead of a text: numbers are little or no work for the garbage collector. */

const fnvOffset = 0x811c9dc5;

/** FNV-1a over UTF-16 units, 32 bits, unsigned. Not against people who look for collisions. */
export function textHash32(text: string, seed = fnvOffset): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** 53 bits: of 100,000 texts two share one with a chance of one in two million. */
export function textHash53(text: string): number {
  return textHash32(text) * 2 ** 21 + (textHash32(text, 0x9747b28c) >>> 11);
}
