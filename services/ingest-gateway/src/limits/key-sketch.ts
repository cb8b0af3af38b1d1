/** The hash of what all texts of one request begin with, so that it is computed once. */
export type SketchPrefix = number;

/** An estimate of how often each text was seen, in memory of fixed size. */
export interface KeySketch {
  prefix(text: string): SketchPrefix;
  /**
   * Counts the text `prefix + text` once.
   * @returns how often it was seen since `clear`: the true number, or a little more, never less.
   */
  add(prefix: SketchPrefix, text: string): number;
  clear(): void;
}

const rows = 4;
const fnvPrime = 0x01000193;

/**
 * A count-min sketch with conservative update. It finds the few keys that are worth counting exactly among any number
 * of others, without remembering one of them. Nobody can choose texts that collide, because the seed is random.
 *
 * @param width counters per row, a power of two. With n texts counted an estimate is too high by about n / width.
 */
export function createKeySketch({ width = 65_536, seed = (Math.random() * 2 ** 32) >>> 0 } = {}): KeySketch {
  const counts = new Uint32Array(rows * width);
  const cells = new Uint32Array(rows);
  const mask = width - 1;

  function extend(hash: number, text: string): number {
    let extended = hash;
    for (let index = 0; index < text.length; index++) {
      extended = Math.imul(extended ^ text.charCodeAt(index), fnvPrime);
    }
    return extended;
  }

  return {
    prefix: (text) => extend(seed ^ 0x811c9dc5, text),
    add(prefix, text) {
      const hash = extend(prefix, text);
      const first = mix(hash);
      const step = mix(hash ^ 0x9e3779b9) | 1;
      let least = 0xffff_ffff;
      for (let row = 0; row < rows; row++) {
        const cell = row * width + ((first + Math.imul(row, step)) & mask);
        cells[row] = cell;
        const count = counts[cell] ?? 0;
        if (count < least) least = count;
      }
      const estimate = least + 1;
      for (let row = 0; row < rows; row++) {
        const cell = cells[row] ?? 0;
        if ((counts[cell] ?? 0) < estimate) counts[cell] = estimate;
      }
      return estimate;
    },
    clear: () => void counts.fill(0),
  };
}

/** Spreads what the last characters changed over all bits. */
function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
