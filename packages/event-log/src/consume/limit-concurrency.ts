/** Lets at most `limit` pieces of work run at once; the others wait in line. */
export function limitConcurrency(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  const line: (() => void)[] = [];
  let free = Math.max(1, limit);

  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => line.push(resolve));
    try {
      return await work();
    } finally {
      // The slot goes directly to the next in line, so that nobody can overtake.
      const next = line.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
