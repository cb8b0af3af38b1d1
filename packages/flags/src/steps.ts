/** Work that can be left and taken up again after every step, so that a process that has much of it can do others' between. */
export type Steps<Result> = Generator<void, Result, void>;

/** All of it at once. */
export function runSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
