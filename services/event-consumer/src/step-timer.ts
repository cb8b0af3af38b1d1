import type { Metrics } from '@millrace/runtime';

/** Runs one named step of a batch and measures it. Names are written where a step of process-batch.ts is, so the label is bounded. */
export type StepTimer = <T>(name: string, work: () => T | Promise<T>) => Promise<T>;

export function createStepTimer(metrics: Metrics): StepTimer {
  const seconds = metrics.histogram(
    'millrace_consumer_step_seconds',
    'Time one step of a batch took',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    ['step'],
  );
  return async (step, work) => {
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      seconds.observe({ step }, (performance.now() - startedAt) / 1000);
    }
  };
}
