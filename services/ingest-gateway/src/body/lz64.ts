/** The result of decoding an lz64 body. For `too_long`, decoding stopped at the size limit. */
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
 * format is LZ78 over UTF-16 units, with codes whose width grows. The lz-string library cannot limit its output, and a
 * few kilobytes can decode to gigabytes.
 *
 * Each dictionary entry is a part of the output: the last entry and the unit after it. The dictionary therefore
 * consists of two arrays of positions and the output.
 *
 * @param maxUnits maximum length of the output in UTF-16 units
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
      // The code refers to the entry that is being added: the previous entry plus its own first character.
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
 * Reads six bits per character, starting with the highest one. The lowest bit of a number comes first. `read` returns
 * -1 at the end.
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
