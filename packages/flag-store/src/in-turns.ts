import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Steps } from '@millrace/flags';

/** Whoever waits for his turn waits this long, and for one step more. */
const turnMs = 10;

/**
 * The result at once where there is little to do. Where there is much, a promise: then others get their turn in between.
 */
export function inTurns<Result>(steps: Steps<Result>): Result | Promise<Result> {
  const turn = takeTurn(steps);
  return turn.done ? turn.value : inFurtherTurns(steps);
}

async function inFurtherTurns<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    await nextTurn();
    const turn = takeTurn(steps);
    if (turn.done) return turn.value;
  }
}

function takeTurn<Result>(steps: Steps<Result>): IteratorResult<void, Result> {
  const endsAt = performance.now() + turnMs;
  for (;;) {
    const step = steps.next();
    if (step.done || performance.now() > endsAt) return step;
  }
}
