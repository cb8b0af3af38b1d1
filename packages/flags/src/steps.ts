import { setImmediate as afterOthers } from 'node:timers/promises';

/** Work that can be left and taken up again after every step, so that a process that has much of it can do others' between. */
export type Steps<Result> = Generator<void, Result, void>;

/** All of it at once. */
export function runSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Whoever waits for the process waits this long, and for one step more. */
const sliceMs = 10;
/** Several may begin before others are served. */
const firstSliceMs = 2;

/** All that is under way in this process takes turns: others wait for one slice, however much there is to do. */
let lastTurn: Promise<void> = Promise.resolve();

/**
 * The result at once where there is little to do. Where there is much, a promise: then others are served in between.
 */
export function inTimeSlices<Result>(steps: Steps<Result>): Result | Promise<Result> {
  const slice = runSlice(steps, firstSliceMs);
  return slice.done ? slice.value : inFurtherSlices(steps);
}

async function inFurtherSlices<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    lastTurn = lastTurn.then(() => afterOthers());
    await lastTurn;
    const slice = runSlice(steps, sliceMs);
    if (slice.done) return slice.value;
  }
}

function runSlice<Result>(steps: Steps<Result>, forMs: number): IteratorResult<void, Result> {
  const endsAt = performance.now() + forMs;
  for (;;) {
    const step = steps.next();
    if (step.done || performance.now() > endsAt) return step;
  }
}
