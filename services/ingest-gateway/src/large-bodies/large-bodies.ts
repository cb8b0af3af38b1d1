import type { Worker } from 'node:worker_threads';
import { AppError } from '@millrace/errors';
import type { Logger } from '@millrace/runtime';
import type { ByteBudget, ByteLease } from '../memory/byte-budget.ts';
import {
  type BodyJob,
  type CaptureJob,
  type Found,
  type FoundRequest,
  type FoundV1,
  type PartsJob,
  type Refusal,
  type ThreadMessage,
  toTransferable,
  type V1Job,
} from './body-job.ts';
import { type BodyThread, createBodyThreads } from './body-threads.ts';

export interface LargeBodiesOptions {
  /** The program of a thread, JavaScript: `body-worker-source.mjs`, or what `body-worker.ts` was built to. */
  program: URL;
  budget: ByteBudget;
  /** The number of threads the budget was made for. */
  threads: number;
  /** Memory for the JavaScript objects of one thread. A thread that needs more is ended, and only its request fails. */
  heapMb: number;
  logger: Logger;
}

export interface LargeBody extends Omit<CaptureJob, 'type'> {
  lease: ByteLease;
  /** Told the key of the outermost object before anything is parsed; rejects to refuse the request. */
  checkKey(key: string): Promise<void>;
}

export interface LargePartsBody extends Omit<PartsJob, 'type'> {
  lease: ByteLease;
}

export interface LargeV1Body extends Omit<V1Job, 'type'> {
  lease: ByteLease;
}

/** Bodies that would keep the process too long, worked on in threads beside it. */
export interface LargeBodies {
  /**
   * Decodes a body and finds its events. Waits for a free thread; what waits is in the byte budget already.
   * @throws AppError as the steps do; `unavailable` when the thread was lost.
   */
  find(body: LargeBody): Promise<FoundRequest>;
  /** The same for an event in parts. */
  findInParts(body: LargePartsBody): Promise<FoundRequest>;
  /** The same for a body of Capture v1. */
  findV1(body: LargeV1Body): Promise<FoundV1>;
  stop(): Promise<void>;
}

/** No real body takes as long. */
const longestJobMs = 30_000;

export function createLargeBodies(options: LargeBodiesOptions): LargeBodies {
  const { program, budget, heapMb, logger } = options;
  const threads = createBodyThreads({ program, budget, count: options.threads, heapMb, logger });

  async function run(thread: BodyThread, job: BodyJob, { lease, checkKey }: Asking): Promise<Found> {
    const worker = threads.start(thread);
    const timer = setTimeout(() => void worker.terminate(), longestJobMs).unref();
    try {
      return await new Promise<Found>((resolve, reject) => {
        thread.finish = reject;
        thread.answer = (message) => handleMessage(message, { worker, checkKey, resolve, reject });
        const raw = toTransferable(job.raw);
        worker.postMessage({ ...job, raw } satisfies BodyJob, [raw.buffer]);
      });
    } finally {
      clearTimeout(timer);
      thread.finish = undefined;
      thread.answer = () => {};
      handOver(thread, lease);
    }
  }

  /** From now on the request holds what the thread took from the budget. */
  function handOver({ number }: BodyThread, lease: ByteLease): void {
    lease.take(Atomics.exchange(budget.threads.heldKiB, number, 0) * 1024);
  }

  async function work(job: BodyJob, asking: Asking): Promise<Found> {
    const thread = await threads.take();
    try {
      return await run(thread, job, asking);
    } finally {
      threads.release(thread);
    }
  }

  return {
    async find({ lease, checkKey, ...body }) {
      return asCapture(await work({ type: 'capture', ...body }, { lease, checkKey }));
    },
    async findInParts({ lease, ...body }) {
      return asCapture(await work({ type: 'parts', ...body }, { lease, checkKey: neverAsked }));
    },
    async findV1({ lease, ...body }) {
      const found = await work({ type: 'v1', ...body }, { lease, checkKey: neverAsked });
      if (found.kind !== 'v1') throw new Error('A body thread found something else.');
      return found;
    },
    stop: threads.stop,
  };
}

function asCapture(found: Found): FoundRequest {
  if (found.kind !== 'capture') throw new Error('A body thread found something else.');
  return found;
}

/** Whose key it is was asked before. */
async function neverAsked(): Promise<void> {}

type Asking = Pick<LargeBody, 'lease' | 'checkKey'>;

interface MessageContext extends Pick<Asking, 'checkKey'> {
  worker: Worker;
  resolve(found: Found): void;
  reject(error: Error): void;
}

function handleMessage(message: ThreadMessage, { worker, checkKey, resolve, reject }: MessageContext): void {
  const decide = (isPossible: boolean) => worker.postMessage({ type: 'key_check', isPossible });
  switch (message.type) {
    case 'key':
      checkKey(message.key).then(
        () => decide(true),
        (error) => {
          decide(false);
          reject(error);
        },
      );
      return;
    case 'found':
      resolve(message.request);
      return;
    case 'refused':
      reject(toError(message.refusal));
      return;
    case 'failed':
      reject(new Error(`A body thread failed: ${message.message}`));
  }
}

function toError({ kind, message, code, attr, retryAfterSeconds }: Refusal): AppError {
  return new AppError(kind, message, { code, attr, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) });
}
