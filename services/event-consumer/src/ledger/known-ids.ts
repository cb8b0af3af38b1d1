import { textHash32 } from '../values/text-hash.ts';

/** Distinct ids, by the keys of `TouchedByBatch`, that this process has seen stored: they have a person already. */
export interface KnownIds {
  has(key: string): boolean;
  /** To be told once a batch is committed. */
  note(keys: Iterable<string>): void;
}

/** Four bytes each, whatever the length of the ids. */
const defaultSlots = 1 << 18;

/**
 * Each id has one slot, which its hash chooses, and stores the hash there. The next id with the same slot replaces it.
 * So the memory is the same after a million ids as after one, and the garbage collector never looks at it: a set of
 * 100,000 texts cost the process 25 MB.
 *
 * It forgets some ids, and with 100,000 known ones it takes one id in 40,000 for another. Then batches only wait for
 * each other a little more or less (turns.ts).
 *
 * @param slots a power of two.
 */
export function createKnownIds(slots = defaultSlots): KnownIds {
  const hashes = new Uint32Array(slots);
  const last = slots - 1;
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

/** Never 0, which is an empty slot. */
function hashOf(key: string): number {
  return textHash32(key) || 1;
}
