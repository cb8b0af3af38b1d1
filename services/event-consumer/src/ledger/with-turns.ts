import type { Turn, Turns } from './turns.ts';

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
