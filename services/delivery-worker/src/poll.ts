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
 * and tried again later; what it had claimed is free again when its lease is over. Stopping waits for the current portion.
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
 * For work that looks through tables: does it again at once while there is more, and then not before `intervalMs` have
 * passed. After a failure it is tried as usual.
 */
export function atIntervals(intervalMs: number, work: () => Promise<boolean>): () => Promise<boolean> {
  let notBefore = 0;
  return async () => {
    if (performance.now() < notBefore) return false;
    const hasMore = await work();
    if (!hasMore) notBefore = performance.now() + intervalMs;
    return hasMore;
  };
}

/** Who holds how many slots; for a claim that takes turns between organizations (`claim…` in the stores). */
export interface SlotUsage {
  organizationIds: string[];
  counts: number[];
  /** At most so many slots for one organization. */
  maxEach: number;
  /** The organization that was served last: those behind it come first. */
  last: string;
}

/** Room for things that are done side by side, of which one organization gets no more than a part. */
export interface FairSlots {
  free(): number;
  usage(): SlotUsage;
  /** Does a piece of work beside the others. What it throws is logged. */
  start(organizationId: string, work: () => Promise<void>): void;
  /** Resolves when a slot was given back. */
  released(): Promise<unknown>;
  /** Resolves when nothing is under way. */
  settle(): Promise<void>;
}

const nobody = '00000000-0000-0000-0000-000000000000';

export function createFairSlots(
  task: string,
  { max, maxEach, logger }: { max: number; maxEach: number; logger: Logger },
): FairSlots {
  const taken = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  let last = nobody;

  async function run(organizationId: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      // What it had claimed is free again when its lease is over.
      logger.log(isTransientError(error) ? 'warn' : 'error', 'background task failed', { task, error });
    }
    const left = (taken.get(organizationId) ?? 0) - 1;
    if (left > 0) taken.set(organizationId, left);
    else taken.delete(organizationId);
  }

  return {
    free: () => max - underWay.size,
    usage: () => ({ organizationIds: [...taken.keys()], counts: [...taken.values()], maxEach, last }),
    start(organizationId, work) {
      last = organizationId;
      taken.set(organizationId, (taken.get(organizationId) ?? 0) + 1);
      const running: Promise<void> = run(organizationId, work).finally(() => underWay.delete(running));
      underWay.add(running);
    },
    released: () => Promise.race(underWay),
    async settle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
