import { createDeferred } from '@millrace/runtime';
import { LedgerConflict } from '../failures.ts';

/** Lets batches of one process that touch the same ids decide one after the other. `Outcome` is what a batch decided. */
export interface Turns<Outcome> {
  /**
   * Waits for every batch that asked before and shares a key: until it has decided, or, with `untilEnded`, until it has
   * ended. The turn must be ended, whatever becomes of the batch.
   */
  take(keys: ReadonlySet<string>, options?: { untilEnded: boolean }): Promise<Turn<Outcome>>;
}

export interface Turn<Outcome> {
  /** What the batches before this one have decided and not yet committed, in their order. */
  before: readonly Outcome[];
  /** Lets the next ones decide, on top of this outcome. */
  decided(outcome: Outcome): void;
  /**
   * Waits until everything of `before` is committed; what builds on it can be written then.
   *
   * @throws LedgerConflict when one of those batches was undone.
   */
  untilCommitted(): Promise<void>;
  end(isCommitted: boolean): void;
}

interface Taken<Outcome> {
  keys: ReadonlySet<string>;
  outcome?: Outcome;
  isEnded: boolean;
  /** Both resolve, whatever happens. */
  decided: Promise<void>;
  ended: Promise<{ isCommitted: boolean }>;
}

/**
 * Two batches that create the same person or mapping at the same time cost one of them all its work: it waits on a
 * unique index for the commit of the other, and then starts over (ledger/store.ts). Between processes there is no other
 * way. Inside one process the second batch waits until the first has decided, continues from what that one decided, and
 * is written after it.
 *
 * Waiting for the commit instead would leave both cores idle a quarter of the time: nearly every batch has somebody who
 * logs in and whom another batch under way touches too.
 *
 * Correctness does not depend on turns: what a batch was decided on is checked when it is written. No batch waits for
 * one that asked later, so batches never wait in a circle.
 */
export function createTurns<Outcome>(): Turns<Outcome> {
  const underWay = new Set<Taken<Outcome>>();
  return {
    async take(keys, { untilEnded } = { untilEnded: false }) {
      const earlier = [...underWay].filter((other) => overlap(other.keys, keys));
      const decided = createDeferred<void>();
      const ended = createDeferred<{ isCommitted: boolean }>();
      const taken: Taken<Outcome> = { keys, isEnded: false, decided: decided.promise, ended: ended.promise };
      underWay.add(taken);
      await Promise.all(earlier.map((other) => (untilEnded ? other.ended : other.decided)));
      const builtOn = earlier.filter(({ isEnded }) => !isEnded);
      return {
        before: builtOn.flatMap(({ outcome }) => (outcome === undefined ? [] : [outcome])),
        decided(outcome) {
          taken.outcome = outcome;
          decided.resolve();
        },
        async untilCommitted() {
          for (const { isCommitted } of await Promise.all(builtOn.map((other) => other.ended))) {
            if (!isCommitted) throw new LedgerConflict('the decisions of the previous batch');
          }
        },
        end(isCommitted) {
          underWay.delete(taken);
          taken.isEnded = true;
          decided.resolve();
          ended.resolve({ isCommitted });
        },
      };
    },
  };
}

function overlap(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  const [small, large] = some.size <= others.size ? [some, others] : [others, some];
  for (const key of small) if (large.has(key)) return true;
  return false;
}

/**
 * Does the work of one batch and ends every turn it took, whatever becomes of it: as committed when the work resolves, as
 * undone when it throws.
 */
export async function withTurns<Outcome, Result>(
  turns: Turns<Outcome>,
  work: (ofBatch: Turns<Outcome>) => Promise<Result>,
): Promise<Result> {
  const taken: Turn<Outcome>[] = [];
  const end = (isCommitted: boolean) => {
    for (const turn of taken) turn.end(isCommitted);
  };
  try {
    const result = await work({
      async take(keys, options) {
        const turn = await turns.take(keys, options);
        taken.push(turn);
        return turn;
      },
    });
    end(true);
    return result;
  } catch (error) {
    end(false);
    throw error;
  }
}
