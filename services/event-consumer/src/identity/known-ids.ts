/** Distinct ids, by the keys of `TouchedByBatch`, that this process has seen stored: they have a person already. */
export interface KnownIds {
  has(key: string): boolean;
  /** To be told once a batch is committed. */
  note(keys: Iterable<string>): void;
}

/** About 100 bytes each. */
const defaultMaxIds = 100_000;

/** Two generations, the older of which is forgotten as a whole when the younger is full: cheaper than a list by use. */
export function createKnownIds(maxIds = defaultMaxIds): KnownIds {
  let younger = new Set<string>();
  let older = new Set<string>();
  return {
    has: (key) => younger.has(key) || older.has(key),
    note(keys) {
      for (const key of keys) younger.add(key);
      if (younger.size < maxIds / 2) return;
      older = younger;
      younger = new Set();
    },
  };
}
