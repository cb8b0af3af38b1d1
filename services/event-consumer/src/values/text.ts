/** The maximum length of a distinct ID, group type or group key (docs/ingestion-rules.md#before-the-rules). */
export const maxIdCharacters = 400;

/** The maximum length of a stored event name (docs/ingestion-rules.md#the-event-row). */
export const maxEventNameCharacters = 200;

/** Caches store hashes instead of strings, because numbers cost the garbage collector little or nothing. */

const fnvOffset = 0x811c9dc5;

/**
 * Returns the FNV-1a hash of a string's UTF-16 code units, as an unsigned 32-bit integer. It does not prevent
 * deliberate collisions.
 */
export function textHash32(text: string, seed = fnvOffset): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** Returns a 53-bit hash. Among 100,000 strings, the probability that two have the same hash is 1 in 2 million. */
export function textHash53(text: string): number {
  return textHash32(text) * 2 ** 21 + (textHash32(text, 0x9747b28c) >>> 11);
}
