import { Worker } from 'node:worker_threads';
import { AppError } from '@millrace/errors';
import type { Logger } from '@millrace/runtime';
import type { ByteBudget } from '../memory/byte-budget.ts';
import type { ThreadMessage } from './body-job.ts';

export interface BodyThreadsOptions {
  program: URL;
  budget: ByteBudget;
  count: number;
  heapMb: number;
  logger: Logger;
}

export interface BodyThread {
  number: number;
  worker: Worker | undefined;
  /** Ends the job in hand. */
  finish: ((error: Error | null) => void) | undefined;
  answer: (message: ThreadMessage) => void;
  idleTimer: NodeJS.Timeout | undefined;
}

/** Threads that are started when there is work for them, and ended when there was none for a while. */
export interface BodyThreads {
  /** Waits for a free one. The longest idle is taken last, so that few threads are kept alive by little work. */
  take(): Promise<BodyThread>;
  /** Makes a taken one run, if it does not. */
  start(thread: BodyThread): Worker;
  release(thread: BodyThread): void;
  stop(): Promise<void>;
}

/** A thread that has been idle for this time is ended and gives its memory back. */
const idleMs = 30_000;

export function createBodyThreads({ program, budget, count, heapMb, logger }: BodyThreadsOptions): BodyThreads {
  const all: BodyThread[] = Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    worker: undefined,
    finish: undefined,
    answer: () => {},
    idleTimer: undefined,
  }));
  const free = [...all];
  const waiting: ((thread: BodyThread) => void)[] = [];

  function startWorker(thread: BodyThread): Worker {
    const worker = new Worker(program, {
      // Not those of the parent, which load modules for the main thread.
      execArgv: [],
      workerData: { shares: budget.threads, thread: thread.number },
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
      name: 'body',
    });
    const lose = (error: unknown) => {
      if (thread.worker !== worker) return;
      thread.worker = undefined;
      if (thread.finish !== undefined) logger.warn('a thread for large bodies was lost and is replaced', { error });
      thread.finish?.(lostError(error));
    };
    worker.on('message', (message: ThreadMessage) => thread.answer(message));
    worker.on('error', lose);
    worker.on('exit', (code) => lose(new Error(`it ended with code ${code}`)));
    worker.unref();
    return worker;
  }

  return {
    take() {
      const thread = free.pop();
      return thread === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(thread);
    },
    start(thread) {
      clearTimeout(thread.idleTimer);
      thread.worker ??= startWorker(thread);
      return thread.worker;
    },
    release(thread) {
      const next = waiting.shift();
      if (next !== undefined) {
        next(thread);
        return;
      }
      free.push(thread);
      thread.idleTimer = setTimeout(() => void end(thread), idleMs).unref();
    },
    async stop() {
      for (const { idleTimer } of all) clearTimeout(idleTimer);
      await Promise.all(all.map(end));
    },
  };
}

async function end(thread: BodyThread): Promise<void> {
  const { worker, finish } = thread;
  thread.worker = undefined;
  await worker?.terminate();
  finish?.(lostError(null));
}

function lostError(cause: unknown): AppError {
  return new AppError('unavailable', 'The body could not be worked on. Please send it again.', {
    code: 'body_thread_lost',
    retryAfterSeconds: 1,
    cause,
  });
}
