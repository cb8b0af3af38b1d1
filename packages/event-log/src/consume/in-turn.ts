/** Lets at most `places` pieces of work run at once; the others wait in line. */
export function createTurns(places: number): <T>(work: () => Promise<T>) => Promise<T> {
  const line: (() => void)[] = [];
  let free = Math.max(1, places);

  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => line.push(resolve));
    try {
      return await work();
    } finally {
      // The place goes straight to the next in line, so that nobody can push in.
      const next = line.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
