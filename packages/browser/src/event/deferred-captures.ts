import type { Log } from '../client/core.ts';

/** While visitors are quick, or a script is, browsers put tasks off: what has piled up must not hold up the page. */
const mostAtOnce = 20;
/** Nor may it fill the memory. */
const mostWaiting = 500;

export interface DeferredCaptures {
  /** Runs it in a task of its own. */
  add(capture: () => void): void;
  /** Runs all that wait, in their order. */
  settle(): void;
}

export function createDeferredCaptures(log: Log): DeferredCaptures {
  const waiting: (() => void)[] = [];

  function run(most: number): void {
    for (const capture of waiting.splice(0, most)) {
      try {
        capture();
      } catch (error) {
        log.error(error);
      }
    }
  }
  function runSoon(): void {
    setTimeout(() => {
      run(mostAtOnce);
      if (waiting.length > 0) runSoon();
    });
  }

  return {
    add(capture) {
      if (waiting.length >= mostWaiting) run(1);
      if (waiting.length === 0) runSoon();
      waiting.push(capture);
    },
    settle: () => run(waiting.length),
  };
}
