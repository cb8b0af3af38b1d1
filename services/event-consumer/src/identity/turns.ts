/** Lets batches of one process that touch the same ids go one after the other. */
export interface Turns {
  /**
   * Waits for every batch that asked before and touches one of the keys.
   * @returns ends the turn; must be called, whatever becomes of the batch.
   */
  take(keys: ReadonlySet<string>): Promise<() => void>;
}

/**
 * Two batches that create the same person or mapping at once cost one of them its whole work: it waits for the other's
 * commit on a unique index and then starts over (ledger-store.ts). Between processes that is the only way; inside one
 * process, waiting before the transaction begins is cheaper. Correctness does not depend on it.
 *
 * Nobody waits for somebody who asked later, so there is no circle to wait in.
 */
export function createTurns(): Turns {
  const underWay = new Set<{ keys: ReadonlySet<string>; ended: Promise<void> }>();
  return {
    async take(keys) {
      const before = [...underWay].filter((other) => overlap(other.keys, keys)).map(({ ended }) => ended);
      let end: () => void = () => {};
      const turn = {
        keys,
        ended: new Promise<void>((resolve) => {
          end = resolve;
        }),
      };
      underWay.add(turn);
      await Promise.all(before);
      return () => {
        underWay.delete(turn);
        end();
      };
    },
  };
}

function overlap(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  const [small, large] = some.size <= others.size ? [some, others] : [others, some];
  for (const key of small) if (large.has(key)) return true;
  return false;
}
