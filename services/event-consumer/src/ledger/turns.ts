/**
 * Serializes the decisions of batches within one process. A batch takes a turn for the IDs it touches; the states of a
 * turn are:
 *
 * | State | Event | Next state | Effect on later turns that share a key |
 * |---|---|---|---|
 * | waiting | all earlier turns that share a key have decided (or ended, with `untilEnded`) | deciding | they wait |
 * | deciding | `decided(outcome)` | writing | they may decide, with the outcome in `before` |
 * | deciding | `end` | ended | they may decide, without an outcome |
 * | writing | `untilCommitted()` resolves: all of `before` are committed | writing | |
 * | writing | `untilCommitted()` rejects: one of `before` was rolled back | (the batch is repeated) | |
 * | writing | `end(isCommitted)` | ended | `untilCommitted()` of turns that build on it settles |
 */
import { createDeferred } from '@millrace/runtime';
import { LedgerConflict } from '../failures.ts';

/** Makes batches in one process that touch the same IDs decide in sequence. `Outcome` is a batch's decision. */
export interface Turns<Outcome> {
  /**
   * Waits until every earlier turn that shares a key has decided or, with `untilEnded`, has ended. The caller must
   * always end the turn, even if the batch fails.
   */
  take(keys: ReadonlySet<string>, options?: { untilEnded: boolean }): Promise<Turn<Outcome>>;
}

export interface Turn<Outcome> {
  /** The uncommitted decisions of earlier batches, in order. */
  before: readonly Outcome[];
  /** Announces this batch's decision, so that subsequent batches can build on it. */
  decided(outcome: Outcome): void;
  /**
   * Waits until all batches of `before` are committed. This batch must not be written before that.
   *
   * @throws LedgerConflict if one of those batches was rolled back
   */
  untilCommitted(): Promise<void>;
  end(isCommitted: boolean): void;
}

interface Taken<Outcome> {
  keys: ReadonlySet<string>;
  outcome?: Outcome;
  isEnded: boolean;
  /** Neither `decided` nor `ended` ever rejects. */
  decided: Promise<void>;
  ended: Promise<{ isCommitted: boolean }>;
}

/**
 * Creates the turns of a process. Without turns, if two batches create the same person or mapping at the same time, one
 * of them loses all its work: it waits on a unique index for the other batch's commit, and then starts over
 * (ledger/store.ts). Between processes, this cannot be avoided. Within one process, the second batch waits until the
 * first batch has decided, continues from that decision, and is written after the first batch.
 *
 * If batches waited for commits instead, both cores would be idle a quarter of the time, because nearly every batch
 * contains a login of a person that another in-flight batch touches too.
 *
 * Correctness does not depend on turns, because each write checks that the data on which the batch decided has not
 * changed. Batches wait only for batches that took their turns before, so they cannot deadlock.
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
 * Runs a batch's work, and then ends every turn that the batch took: as committed if the work resolves, and as rolled
 * back if it rejects.
 */
export async function runBatchInTurn<Outcome, Result>(
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
