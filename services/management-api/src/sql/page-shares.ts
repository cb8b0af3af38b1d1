const MiB = 1024 * 1024;

/** Bytes of all pages that are being put together at the same time, as PostgreSQL sends them. In memory each is several times that. */
const totalBytes = 8 * MiB;
/** A page alone gets no more: what it leaves out is one request away. */
const largestShare = 2 * MiB;
const smallestShare = MiB / 4;

/** Divides what pages may take of the process's memory among those that are being put together. */
export interface PageShares {
  /** Runs `work`, which puts one page together. Its page ends with the row that reaches `maxBytes`. */
  run<T>(work: (maxBytes: number) => Promise<T>): Promise<T>;
}

export function createPageShares(): PageShares {
  let pages = 0;
  return {
    async run(work) {
      pages += 1;
      try {
        return await work(Math.round(Math.max(smallestShare, Math.min(largestShare, totalBytes / pages))));
      } finally {
        pages -= 1;
      }
    },
  };
}
