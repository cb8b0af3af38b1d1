/** More levels than any recursive walk should meet, and more values than any body of ours has. */
const most = { levels: 100, values: 50_000 };

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/**
 * What a JSON text has too much of, as a part of a sentence, or null. Looked at before it is parsed: objects take up to
 * a hundred times the space of the two bytes they are written with, and those with names of their own cost time as well.
 *
 * One pass, nothing is kept. What is no JSON is left for the parser to refuse.
 */
export function jsonExcess(bytes: Uint8Array): string | null {
  let levels = 0;
  let values = 1;
  let isInText = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (isInText) {
      if (byte === backslash) at += 1;
      else if (byte === quote) isInText = false;
      continue;
    }
    if (byte === quote) isInText = true;
    else if (byte === comma) values += 1;
    else if (byte === closeList || byte === closeObject) levels -= 1;
    else if (byte === openList || byte === openObject) {
      levels += 1;
      values += 1;
      if (levels > most.levels) return `more than ${most.levels} levels of nesting`;
    }
  }
  return values > most.values ? `more than ${most.values} values` : null;
}
