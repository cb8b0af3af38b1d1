// Runs background tasks repeatedly, and shares slots for concurrent work fairly among organizations.

import { isTransientError } from '@millrace/db';
import type { Logger, Metrics, Stoppable } from '@millrace/runtime';

export interface Task {
  name: string;
  /**
   * Processes one batch of due work. When `signal` is aborted because the worker stops, long-running work is released.
   * @returns whether more work may be due
   */
  work(signal: AbortSignal): Promise<boolean>;
}

/** Maximum delay after failures, as a multiple of the interval. */
const maxPatience = 16;

/**
 * Runs a task repeatedly: immediately while more work is due, and otherwise after `intervalMs`. If the task fails, logs
 * the error and retries after a delay, when the claims of the failed attempt have expired. Stopping waits for the
 * current run.
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
        // Database outages are usually temporary and reported elsewhere. All other errors are bugs.
        logger.log(isTransientError(error) ? 'warn' : 'error', 'background task failed', { task: task.name, error });
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

type PollMetrics = ReturnType<typeof createPollMetrics>;

export function createPollMetrics(metrics: Metrics) {
  return metrics.counter('millrace_delivery_task_rounds_total', 'Iterations of the background tasks, by result', [
    'task',
    'result',
  ]);
}

/**
 * Limits how often work that scans tables runs. Repeats it immediately while more is due, and otherwise waits at least
 * `intervalMs`. Does not delay retries after failures.
 */
export function runAtIntervals(intervalMs: number, work: () => Promise<boolean>): () => Promise<boolean> {
  let notBefore = 0;
  return async () => {
    if (performance.now() < notBefore) return false;
    const hasMore = await work();
    if (!hasMore) notBefore = performance.now() + intervalMs;
    return hasMore;
  };
}

/**
 * How many slots each organization uses. The `claim…` functions of the stores use this to give each organization its
 * turn.
 */
export interface SlotUsage {
  organizationIds: string[];
  counts: number[];
  maxEach: number;
  /** The organization whose work was started last. Organizations with higher IDs come next. */
  last: string;
}

/** Slots for concurrent work. A single organization can use only some of them. */
export interface FairSlots {
  free(): number;
  usage(): SlotUsage;
  start(organizationId: string, work: () => Promise<void>): void;
  released(): Promise<unknown>;
  settle(): Promise<void>;
}

const noOrganization = '00000000-0000-0000-0000-000000000000';

export function createFairSlots(
  task: string,
  { max, maxEach, logger }: { max: number; maxEach: number; logger: Logger },
): FairSlots {
  const slotsByOrganization = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  let last = noOrganization;

  async function run(organizationId: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      // Another worker can claim the failed work when its lease expires.
      logger.log(isTransientError(error) ? 'warn' : 'error', 'background task failed', { task, error });
    }
    const remaining = (slotsByOrganization.get(organizationId) ?? 0) - 1;
    if (remaining > 0) slotsByOrganization.set(organizationId, remaining);
    else slotsByOrganization.delete(organizationId);
  }

  return {
    free: () => max - underWay.size,
    usage: () => ({
      organizationIds: [...slotsByOrganization.keys()],
      counts: [...slotsByOrganization.values()],
      maxEach,
      last,
    }),
    start(organizationId, work) {
      last = organizationId;
      slotsByOrganization.set(organizationId, (slotsByOrganization.get(organizationId) ?? 0) + 1);
      const running: Promise<void> = run(organizationId, work).finally(() => underWay.delete(running));
      underWay.add(running);
    },
    released: () => Promise.race(underWay),
    async settle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
