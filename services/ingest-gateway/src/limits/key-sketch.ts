/** An estimate of how often each text was seen, in memory of fixed size. */
export interface KeySketch {
  /** Counts the text once. @returns how often it was seen since `clear`: the true number, or a little more, never less. */
  add(text: string): number;
  clear(): void;
}

const rows = 4;

/**
 * A count-min sketch with conservative update: it finds the few keys worth counting exactly among any number of others
 * without remembering a single one. The seed keeps senders from choosing texts that collide.
 *
 * @param width counters per row, a power of two. With n texts counted an estimate is too high by about n / width.
 */
export function createKeySketch({ width = 65_536, seed = (Math.random() * 2 ** 32) >>> 0 } = {}): KeySketch {
  const counts = new Uint32Array(rows * width);
  const places = new Uint32Array(rows);
  const mask = width - 1;
  return {
    add(text) {
      let first = seed ^ 0x811c9dc5;
      let second = seed ^ 0x9e3779b9;
      for (let index = 0; index < text.length; index++) {
        const unit = text.charCodeAt(index);
        first = Math.imul(first ^ unit, 0x01000193);
        second = Math.imul(second ^ unit, 0x85ebca6b) + (second >>> 13);
      }
      first ^= first >>> 15;
      second = (second ^ (second >>> 16)) | 1;
      let least = 0xffff_ffff;
      for (let row = 0; row < rows; row++) {
        const place = row * width + ((first + Math.imul(row, second)) & mask);
        places[row] = place;
        least = Math.min(least, counts[place] ?? 0);
      }
      const estimate = least + 1;
      for (const place of places) {
        if ((counts[place] ?? 0) < estimate) counts[place] = estimate;
      }
      return estimate;
    },
    clear: () => void counts.fill(0),
  };
}
