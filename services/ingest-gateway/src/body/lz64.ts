type Lz64Result = { outcome: 'text'; text: string } | { outcome: 'broken' } | { outcome: 'too_long' };

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const sixBits = new Int8Array(128).fill(-1);
for (let value = 0; value < alphabet.length; value++) sixBits[alphabet.charCodeAt(value)] = value;

const newByte = 0;
const newUnit = 1;
const endOfText = 2;
const firstPhraseCode = 3;

/**
 * Decodes the base64 variant of lz-string, which early browser clients send (docs/wire-rules.md#body-decoding). The
 * format is LZ78 over UTF-16 code units, with codes of increasing width. The lz-string library cannot limit its output,
 * although a few kilobytes can decode to gigabytes.
 *
 * Each dictionary entry is a substring of the output: the previous entry and the code unit after it. The dictionary
 * therefore only stores where each entry starts and how long it is.
 *
 * @param maxUnits the maximum length of the output in UTF-16 code units
 */
export function decodeLz64(encoded: string, maxUnits: number): Lz64Result {
  const bits = createBitReader(encoded);
  const starts: number[] = [0, 0, 0];
  const lengths: number[] = [0, 0, 0];
  let output = new Uint16Array(Math.min(maxUnits, Math.max(256, encoded.length * 4)));
  let written = 0;
  let width = 2;
  let codesUntilWider = 5;
  let last: { start: number; length: number } | null = null;

  function write(start: number, length: number): boolean {
    if (written + length > maxUnits) return false;
    if (written + length > output.length) {
      const grown = new Uint16Array(Math.min(maxUnits, Math.max(output.length * 2, written + length)));
      grown.set(output.subarray(0, written));
      output = grown;
    }
    // Copy one code unit at a time, because the source and the destination can overlap.
    for (let i = 0; i < length; i++) output[written + i] = output[start + i] ?? 0;
    written += length;
    return true;
  }
  function addPhrase(start: number, length: number): void {
    starts.push(start);
    lengths.push(length);
    codesUntilWider -= 1;
    if (codesUntilWider === 0) {
      codesUntilWider = 2 ** width;
      width += 1;
    }
  }

  for (;;) {
    let code = bits.read(width);
    if (code < 0) return { outcome: 'broken' };
    if (code === endOfText) {
      return { outcome: 'text', text: Buffer.from(output.buffer, 0, written * 2).toString('utf16le') };
    }
    const entryStart = written;
    if (code === newByte || code === newUnit) {
      const unit = bits.read(code === newByte ? 8 : 16);
      if (unit < 0) return { outcome: 'broken' };
      if (!write(written, 1)) return { outcome: 'too_long' };
      output[written - 1] = unit;
      code = starts.length;
      addPhrase(entryStart, 1);
    } else if (code < starts.length && code >= firstPhraseCode) {
      if (!write(starts[code] ?? 0, lengths[code] ?? 0)) return { outcome: 'too_long' };
    } else if (code === starts.length && last !== null) {
      // The code refers to the entry that is being added: the previous entry plus its own first code unit.
      if (!write(last.start, last.length + 1)) return { outcome: 'too_long' };
    } else {
      return { outcome: 'broken' };
    }
    const entryLength = written - entryStart;
    if (last !== null) addPhrase(last.start, last.length + 1);
    else width = 3;
    last = { start: entryStart, length: entryLength };
  }
}

/**
 * Reads numbers from six-bit characters. A character begins with its highest bit, but a number begins with its lowest
 * bit. `read` returns -1 at the end, or if a character is invalid.
 */
function createBitReader(encoded: string) {
  let position = 0;
  let current = 0;
  let left = 0;
  return {
    read(count: number): number {
      let value = 0;
      for (let i = 0; i < count; i++) {
        if (left === 0) {
          if (position >= encoded.length) return -1;
          current = sixBits[encoded.charCodeAt(position++)] ?? -1;
          if (current < 0) return -1;
          left = 6;
        }
        left -= 1;
        value += ((current >> left) & 1) * 2 ** i;
      }
      return value;
    },
  };
}
