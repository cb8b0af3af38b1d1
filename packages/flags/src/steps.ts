import { setImmediate as afterOthers } from 'node:timers/promises';

/** Work that can pause after every step, so that the process can do other work in between. */
export type Steps<Result> = Generator<void, Result, void>;

export function runSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Maximum time in milliseconds for which other work waits, in addition to the duration of one step. */
const sliceMs = 10;
/**
 * Maximum duration of a task's first slice in milliseconds. It is shorter than later slices, because several tasks may
 * start before other work runs.
 */
const firstSliceMs = 2;

/** Chains the slices of all tasks in this process, so that other work waits for only one slice at a time. */
let lastTurn: Promise<void> = Promise.resolve();

/**
 * Does the work. If it is short, returns the result. Otherwise, returns a promise and lets other work run in between.
 */
export function runInTimeSlices<Result>(steps: Steps<Result>): Result | Promise<Result> {
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
