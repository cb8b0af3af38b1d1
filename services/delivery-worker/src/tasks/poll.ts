import { isTransientError } from '@millrace/db';
import type { Logger, Metrics, Stoppable } from '@millrace/runtime';

export interface Task {
  name: string;
  /**
   * Does one portion of what is due. A long one gives it back when the signal is aborted, because the worker stops.
   * @returns whether there may be more at once.
   */
  work(signal: AbortSignal): Promise<boolean>;
}

/** After a failure it waits this many times its interval at most. */
const maxPatience = 16;

/**
 * Does a task's work again and again: at once while there is more, else after `intervalMs`. A portion that fails is logged
 * and tried again later; what it had claimed is free again when its lease is over. Stopping waits for the portion in hand.
 */
export function startPolling(
  task: Task,
  { intervalMs, logger, metrics }: { intervalMs: number; logger: Logger; metrics: PollMetrics },
): Stoppable {
  const stopping = new AbortController();
  let wake = () => {};
  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function run(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; ) {
      try {
        const hasMore = await task.work(stopping.signal);
        failures = 0;
        metrics.inc({ task: task.name, result: 'ok' });
        if (!hasMore && !stopping.signal.aborted) await sleep(intervalMs);
      } catch (error) {
        failures += 1;
        metrics.inc({ task: task.name, result: 'failed' });
        // A database that is away reports itself and comes back; anything else is a fault of ours.
        logger.log(isTransientError(error) ? 'warn' : 'error', 'a task failed', { task: task.name, error });
        if (!stopping.signal.aborted) await sleep(intervalMs * Math.min(2 ** failures, maxPatience));
      }
    }
  }

  const running = run();
  return {
    stop() {
      stopping.abort();
      wake();
      return running;
    },
  };
}

export type PollMetrics = ReturnType<typeof createPollMetrics>;

export function createPollMetrics(metrics: Metrics) {
  return metrics.counter('millrace_delivery_task_rounds_total', 'Rounds of the tasks, by outcome.', ['task', 'result']);
}
