/** Things that are there for a short while, each in a place it gives back when it goes. */
export interface Places<T> {
  /** @returns the place taken. */
  take(thing: T): number;
  giveBack(place: number): void;
  all(): T[];
}

/**
 * Not a `Set`: one that much passes through outgrows its table every few dozen things, and what an outgrown table in V8's
 * old generation held is copied about as if it were in use until that generation is cleaned. A gateway spent a quarter of
 * its time on requests that were long answered.
 */
export function createPlaces<T>(): Places<T> {
  const things: (T | undefined)[] = [];
  const free: number[] = [];
  return {
    take(thing) {
      const place = free.pop() ?? things.length;
      things[place] = thing;
      return place;
    },
    giveBack(place) {
      things[place] = undefined;
      free.push(place);
    },
    all: () => things.filter((thing) => thing !== undefined),
  };
}
