import { AppError, type Logger } from '@millrace/runtime';
import { type ByteBudget, type ByteLease, overloadedError } from '../body/byte-budget.ts';
import { type BodyOwner, type BodyThread, type BodyThreads, createBodyThreads } from './body-threads.ts';
import { type BodyJob, type ThreadMessage, type TransferredError, toTransferable } from './messages.ts';

export interface JobContext {
  lease: ByteLease;
  owner: BodyOwner;
  /** Checks the API key in the outermost object before the body is parsed. If this rejects, the request is rejected. */
  checkKey?(key: string): Promise<void>;
}

/** Decodes and parses bodies in worker threads if they would block the main thread for too long. */
export interface LargeBodies<Job extends BodyJob, Result> {
  /**
   * Decodes a body and finds its events. Waits for a free thread. Waiting bodies already count towards the byte budget.
   * @throws AppError from decoding or parsing, or `unavailable` if the thread crashed
   */
  read(job: Job, context: JobContext): Promise<Result>;
  stop(): Promise<void>;
}

/** The time limit for one job in milliseconds. Real bodies take far less time. */
const longestJobMs = 30_000;

export function createLargeBodies<Job extends BodyJob, Result>(options: {
  /**
   * The worker thread's JavaScript file: `capture/body-worker-source.mjs`, or the bundle built from `body-worker.ts`.
   */
  program: URL;
  budget: ByteBudget;
  /** The number of threads for bodies with a known key. The budget must have room for one more thread. */
  threads: number;
  /**
   * The maximum JavaScript heap of each thread in MB. A thread that exceeds it is stopped, and only its request fails.
   */
  heapMb: number;
  logger: Logger;
}): LargeBodies<Job, Result> {
  const { program, budget, heapMb, logger } = options;
  const createThreads = (numbers: readonly number[]) =>
    createBodyThreads<Result>({ program, budget, numbers, heapMb, logger });
  const knownKeys = createThreads(Array.from({ length: options.threads }, (_, index) => index + 1));
  // Bodies without a known key use a separate thread, so that they delay only each other.
  const unknownKeys = createThreads([options.threads + 1]);
  let unknownKeyBytes = 0;

  async function runInThread(thread: BodyThread<Result>, job: Job, { lease, checkKey }: JobContext): Promise<Result> {
    const worker = thread.start();
    const timer = setTimeout(() => void worker.terminate(), longestJobMs).unref();
    const sendKeyCheck = (isPossible: boolean) => worker.postMessage({ type: 'key_check', isPossible });
    try {
      return await new Promise<Result>((resolve, reject) => {
        thread.onLost = reject;
        thread.onMessage = (message: ThreadMessage<Result>) => {
          switch (message.type) {
            case 'key':
              Promise.resolve(checkKey?.(message.key)).then(
                () => sendKeyCheck(true),
                (error) => {
                  sendKeyCheck(false);
                  reject(error);
                },
              );
              return;
            case 'result':
              resolve(message.result);
              return;
            case 'rejected':
              reject(toAppError(message.error));
              return;
            case 'failed':
              reject(new Error(`A body thread failed: ${message.message}`));
          }
        };
        const raw = toTransferable(job.raw);
        worker.postMessage({ ...job, raw }, [raw.buffer]);
      });
    } finally {
      clearTimeout(timer);
      thread.onLost = undefined;
      thread.onMessage = () => {};
      moveShareTo(lease, thread);
    }
  }

  /** Transfers the thread's memory reservation to the request. */
  function moveShareTo(lease: ByteLease, { number }: BodyThread<Result>): void {
    lease.take(Atomics.exchange(budget.threads.heldKiB, number, 0) * 1024);
  }

  async function runIn(threads: BodyThreads<Result>, job: Job, context: JobContext): Promise<Result> {
    const thread = await threads.take(context.owner.id);
    try {
      return await runInThread(thread, job, context);
    } finally {
      threads.release(thread);
    }
  }

  return {
    async read(job, context) {
      if (context.owner.isKnownKey) return runIn(knownKeys, job, context);
      // All bodies without a known key together can use at most half of the memory for bodies.
      const { length } = job.raw;
      if (unknownKeyBytes > 0 && unknownKeyBytes + length > budget.maxBytes / 2) throw overloadedError();
      unknownKeyBytes += length;
      try {
        return await runIn(unknownKeys, job, context);
      } finally {
        unknownKeyBytes -= length;
      }
    },
    async stop() {
      await Promise.all([knownKeys.stop(), unknownKeys.stop()]);
    },
  };
}

function toAppError({ kind, message, code, attr, retryAfterSeconds }: TransferredError): AppError {
  return new AppError(kind, message, { code, attr, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) });
}
