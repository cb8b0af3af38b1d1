import { textHash32 } from '../values/text-hash.ts';

/** Distinct ids, by the keys of `TouchedByBatch`, that this process has seen stored: they have a person already. */
export interface KnownIds {
  has(key: string): boolean;
  /** To be told once a batch is committed. */
  note(keys: Iterable<string>): void;
}

/** Four bytes each, whatever the length of the ids. */
const defaultPlaces = 1 << 18;

/**
 * Each id has one place, told by its hash, and leaves the hash there; whoever has the same place afterwards takes it. So
 * memory is the same after a million ids as after one, and none of it is the garbage collector's: a set of 100,000 texts
 * cost the process 25 MB. What it forgets, and the one id in 40,000 it takes for another when 100,000 are known, only makes
 * batches wait for each other a little more or less (turns.ts).
 *
 * @param places a power of two.
 */
export function createKnownIds(places = defaultPlaces): KnownIds {
  const hashes = new Uint32Array(places);
  const last = places - 1;
  return {
    has(key) {
      const hash = hashOf(key);
      return hashes[hash & last] === hash;
    },
    note(keys) {
      for (const key of keys) {
        const hash = hashOf(key);
        hashes[hash & last] = hash;
      }
    },
  };
}

/** Never 0, which is an empty place. */
function hashOf(key: string): number {
  return textHash32(key) || 1;
}
