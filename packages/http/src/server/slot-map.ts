/** Things that are there for a short while, each in a slot it gives back when it goes. */
export interface SlotMap<T> {
  /** @returns the slot taken. */
  take(thing: T): number;
  release(slot: number): void;
  all(): T[];
}

/**
 * Not a `Set`: one that much passes through outgrows its table every few dozen things, and what an outgrown table in V8's
 * old generation held is copied about as if it were in use until that generation is cleaned. A gateway spent a quarter of
 * its time on requests that were long answered.
 */
export function createSlotMap<T>(): SlotMap<T> {
  const things: (T | undefined)[] = [];
  const free: number[] = [];
  return {
    take(thing) {
      const slot = free.pop() ?? things.length;
      things[slot] = thing;
      return slot;
    },
    release(slot) {
      things[slot] = undefined;
      free.push(slot);
    },
    all: () => things.filter((thing) => thing !== undefined),
  };
}
